import { afterEach, describe, expect, it } from 'vitest'
import { fetchTransport } from '../upstream/transport.js'
import type { FakeAnswer, FakeUpstream } from './fake-upstream.js'
import { fakeUpstream } from './fake-upstream.js'

const bytes = Uint8Array.of(0, 255, 128, 10)
const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** The two ways to call a fake upstream. */
const ways: [
  name: string,
  open: (fake: FakeUpstream) => Promise<[url: string, transport: FakeUpstream['transport']]>,
][] = [
  ['in process', async (fake) => ['http://fake', fake.transport]],
  [
    'over HTTP',
    async (fake) => {
      const { url, close } = await fake.listen()
      closing.push(close)
      return [url, fetchTransport()]
    },
  ],
]

async function* pieces(...given: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* given
}

describe.each(ways)('a fake %s', (_, open) => {
  const call = async (fake: FakeUpstream, body: string | ReadableStream<Uint8Array>) => {
    const [url, transport] = await open(fake)
    const { signal } = new AbortController()
    const answer = await transport({ url: `${url}/x?y=1`, method: 'POST', headers: { 'x-a': 'b' }, body, signal })
    const got: number[] = []
    for await (const piece of answer.body) got.push(...piece)
    return { status: answer.status, got }
  }

  it('receives raw bytes, and JSON where they are JSON', async () => {
    const fake = fakeUpstream(() => ({ status: 200, headers: {}, body: '' }))
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(bytes.slice(0, 1))
        controller.enqueue(bytes.slice(1))
        controller.close()
      },
    })
    await call(fake, stream)
    await call(fake, '{"é":1}')
    const [raw, json] = fake.requests
    expect(raw).toMatchObject({ method: 'POST', path: '/x?y=1', headers: { 'x-a': 'b' }, body: undefined })
    expect([...raw!.bytes]).toEqual([0, 255, 128, 10])
    expect(json!.body).toEqual({ é: 1 })
    expect([...json!.bytes]).toEqual([123, 34, 195, 169, 34, 58, 49, 125])
  })

  it.each<[string, FakeAnswer['body']]>([
    ['a text', 'é'],
    ['bytes', Uint8Array.of(195, 169)],
    ['pieces of both', pieces(Uint8Array.of(195), Uint8Array.of(169))],
  ])('answers %s', async (_, body) => {
    const fake = fakeUpstream(async () => ({ status: 201, headers: {}, body }))
    expect(await call(fake, '')).toEqual({ status: 201, got: [195, 169] })
  })
})

describe('a fake in process', () => {
  it('stops reading a body when the signal aborts, and cancels its source', async () => {
    const fake = fakeUpstream(() => ({ status: 200, headers: {}, body: '' }))
    const controller = new AbortController()
    let released = 0
    const hanging = new ReadableStream<Uint8Array>({
      pull: () => new Promise<never>(() => undefined),
      cancel: () => void released++,
    })
    const { signal } = controller
    const asked = fake.transport({ url: 'http://fake/', method: 'POST', headers: {}, body: hanging, signal })
    controller.abort(new Error('enough'))
    await expect(asked).rejects.toThrow('enough')
    expect(released).toBe(1)
    expect(fake.requests).toEqual([])
  })

  it('does not answer a client that disconnected meanwhile', async () => {
    let answer!: (given: FakeAnswer) => void
    const fake = fakeUpstream(() => new Promise((resolve) => (answer = resolve)))
    const controller = new AbortController()
    const { signal } = controller
    const asked = fake.transport({ url: 'http://fake/', method: 'POST', headers: {}, body: '', signal })
    await expect.poll(() => fake.requests.length).toBe(1)
    controller.abort(new Error('left'))
    answer({ status: 200, headers: {}, body: '' })
    await expect(asked).rejects.toThrow('left')
  })
})
