import { afterEach, describe, expect, it, vi } from 'vitest'
import { familiesGateway, generated } from '../../../../test/support/families.js'
import { chunk, streamed, testGateway } from '../../../../test/support/gateway.js'
import { parseStream } from '../../../../test/support/sse.js'

/** A gateway whose upstream streams these pieces. */
const streaming = (...pieces: Parameters<typeof streamed>) => testGateway({ upstream: () => streamed(...pieces) })

afterEach(() => vi.useRealTimers())

describe('a client that disconnects', () => {
  it('between two chunks aborts the upstream and is recorded', async () => {
    const { chat, records, signals, logs } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const reader = (await chat({ stream: true })).body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(signals[0]!.aborted).toBe(true)
    expect(await records()).toMatchObject([{ completion_tokens: 2, accuracy: 'estimated', outcome: 'client_abort' }])
    expect(logs).toHaveLength(1)
  })

  it('before the upstream has answered aborts it too', async () => {
    const { chat, records, signals } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const client = new AbortController()
    const reader = (await chat({ stream: true }, { signal: client.signal })).body!.getReader()
    await reader.read()
    const waiting = reader.read()
    client.abort()
    await waiting
    expect(signals[0]!.aborted).toBe(true)
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort' }])
  })

  it('before the first chunk is recorded', async () => {
    const { chat, records, signals } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const response = await chat({ stream: true })
    await response.body!.cancel()
    expect(signals[0]!.aborted).toBe(true)
    expect(await records()).toMatchObject([{ outcome: 'client_abort' }])
  })
})

it('threat 166: a client that leaves several calls is charged for those that have answered, and for what was sent of the others', async () => {
  let calls = 0
  const usage = { promptTokenCount: 50_000, candidatesTokenCount: 60_000, totalTokenCount: 110_000 }
  async function* silent(): AsyncGenerator<string> {
    yield await new Promise<string>(() => undefined)
  }
  const { chat, records, google } = await familiesGateway({
    answers: {
      google: () => (++calls < 4 ? generated({ text: 'Hi' }, usage) : { status: 200, headers: {}, body: silent() }),
    },
  })
  const client = new AbortController()
  const response = chat({ model: 'gemini-2.5-flash', n: 4 }, { signal: client.signal })
  await expect.poll(() => calls).toBe(4)
  await expect.poll(() => google.active).toBe(1)
  client.abort()
  await response.catch(() => undefined)
  await expect.poll(records).toMatchObject([{ outcome: 'client_abort', completion_tokens: 180_000 }])
  expect((await records())[0]!.prompt_tokens).toBeGreaterThan(150_000)
})

describe('a shutdown', () => {
  it('lets streams finish', async () => {
    let open = (): void => undefined
    const more = new Promise<void>((resolve) => (open = resolve))
    const { chat, gateway, records } = await streaming(chunk('a'), more, chunk('b', 'stop'))
    const text = (await chat({ stream: true })).text()
    let drained = false
    const drain = gateway.drain().then(() => (drained = true))
    await new Promise(setImmediate)
    expect(drained).toBe(false)
    open()
    expect(parseStream(await text).at(-1)).toEqual({ type: 'done' })
    await drain
    expect(await records()).toMatchObject([{ outcome: 'complete' }])
  })

  it('ends streams that take too long with an error event, and records them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { chat, gateway, records } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const text = (await chat({ stream: true })).text()
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    const drain = gateway.drain(3_000)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(parseStream(await text).at(-1)).toEqual({
      type: 'error',
      error: { type: 'server_error', message: 'The server is shutting down', code: 'internal_error' },
    })
    await drain
    expect(await records()).toMatchObject([{ outcome: 'server_shutdown' }])
  })
})
