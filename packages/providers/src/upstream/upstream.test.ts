import type { UpstreamError } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { describe, expect, it, vi } from 'vitest'
import { scriptedUpstream } from '../../../../test/support/upstream.js'
import { openai } from '../openai/index.js'
import { fetchTransport } from './transport.js'

const { signal } = new AbortController()
const chat = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }

describe('threat 49: the bytes of a whole answer', () => {
  const ask = async (length: number, left = Infinity) => {
    const taken: number[] = []
    const take = (bytes: number): void => {
      left -= bytes
      if (left < 0) throw new ApiError(503, 'server_error', 'No memory', { code: 'overloaded' })
      taken.push(bytes)
    }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(length) }, finish_reason: 'stop' }]
    const text = JSON.stringify({ id: 'c', created: 1, model: 'gpt-4o', choices })
    const pieces = Array.from({ length: Math.ceil(text.length / 50_000) }, (_, at) =>
      new TextEncoder().encode(text.slice(at * 50_000, (at + 1) * 50_000)),
    )
    const { transport, state } = scriptedUpstream({ body: pieces })
    const answer = openai({ apiKey: 'x', transport }).chat.complete(chat, { signal, memory: { take } })
    await answer.catch(() => undefined)
    return { answer, taken, size: text.length, state }
  }

  it('are taken as they arrive', async () => {
    const { taken, size } = await ask(120_000)
    // Each piece but the first with 256 bytes more.
    expect(taken).toEqual([100_256, size - 100_000 + 256])
  })

  it('are not, where they are few', async () => expect((await ask(60_000)).taken).toEqual([]))

  it('end the answer where there is no memory for them, which is billed', async () => {
    const { answer, taken, state } = await ask(10_000_000, 1_000_000)
    const failure = { kind: 'malformed', code: 'too_large', unreported: true, accepted: true }
    await expect(answer).rejects.toMatchObject({ failure: { ...failure, cause: { status: 503 } } })
    expect([taken.length, state.left]).toEqual([18, 1])
  })
})

describe('threat 40: an answer of far more values than vendors send', () => {
  const arrays = `[${'[[[[]]]],'.repeat(1_000_000)}1]`
  const fields = `[${'{"a":1,"b":1,"c":1,"d":1},'.repeat(400_000)}1]`
  const failure = { kind: 'malformed', code: 'too_large' }

  it.each([
    ['arrays', arrays, '500000 values', '3000000 values', '50000 values'],
    ['objects', fields, '250000 fields', '1500000 fields', '25000 fields'],
  ])('is not parsed: %s', async (_, x, ofAnswer, ofLogprobs, ofEvent) => {
    const parse = vi.spyOn(JSON, 'parse')
    const askFor = (fields: object): Promise<unknown> => {
      const { transport } = scriptedUpstream({ body: `{"x":${x}}` })
      return openai({ apiKey: 'x', transport }).chat.complete({ ...chat, ...fields }, { signal })
    }
    for (const [asked, most] of [
      [{}, ofAnswer],
      [{ logprobs: true }, ofLogprobs],
      [{ prompt_logprobs: 1 }, ofLogprobs],
      [{ n_probs: 5 }, ofLogprobs],
    ] as const)
      await expect(askFor(asked)).rejects.toMatchObject({
        message: `The answer has more than ${most}`,
        failure: { ...failure, unreported: true },
      })
    const streamed = scriptedUpstream({ type: 'text/event-stream', body: `data: {"x":${x}}\n\n` })
    const stream = openai({ apiKey: 'x', transport: streamed.transport }).chat.stream(chat, { signal })
    await expect(stream).rejects.toMatchObject({ message: `An event has more than ${ofEvent}`, failure })
    expect(parse.mock.calls.filter(([text]) => text.length > 1_000_000)).toEqual([])
    parse.mockRestore()
  })

  it('threat 41: is charged as one where it is long, though numbers of Python make it no JSON', async () => {
    for (const [length, unreported] of [
      [100_000, undefined],
      [4_000_000, true],
    ] as const) {
      const { transport } = scriptedUpstream({ body: `{"x":"${'a'.repeat(length)}","y":NaN,}` })
      const answer = openai({ apiKey: 'x', transport }).chat.complete(chat, { signal })
      const { failure } = (await answer.catch((error: unknown) => error)) as UpstreamError
      expect([failure.kind, failure.unreported]).toEqual(['malformed', unreported])
    }
  })

  it('is no event of as many lines either', async () => {
    const { transport } = scriptedUpstream({ type: 'text/event-stream', body: 'data:\n'.repeat(1_000_000) })
    const stream = openai({ apiKey: 'x', transport }).chat.stream(chat, { signal })
    await expect(stream).rejects.toMatchObject({
      message: expect.stringContaining('is larger than') as string,
      failure,
    })
  })

  it('is parsed up to ten million, where it has vectors', async () => {
    const vectors = Array.from({ length: 1_000 }, () => `{"embedding":[${'1,'.repeat(3_999)}1]}`).join()
    const ask = async (data: string) => {
      const { transport } = scriptedUpstream({ body: `{"data":[${data}]}` })
      const input = Array<string>(1_000).fill('a')
      const embeddings = openai({ apiKey: 'x', transport }).embeddings!({ model: 'e', input }, { signal })
      return embeddings.then(
        ({ data }) => data.length,
        (error: Error) => error.message,
      )
    }
    expect(await ask(vectors)).toBe(1_000)
    expect(await ask(`${'1,'.repeat(10_000_000)}1`)).toBe('The answer has more than 10000000 values')
    // Arrays, objects and texts take more memory than numbers.
    for (const part of ['{}', '[]', '""'])
      expect(await ask(Array<string>(400_000).fill(part).join())).toBe(
        'The answer has more than 400000 arrays, objects and texts',
      )
  })
})

describe('threat 27: an error answer in an encoding that the runtime decodes', () => {
  it('is read up to the limit, whatever length it announces', async () => {
    let pulled = 0
    const body = new ReadableStream({
      pull(controller) {
        if (++pulled > 1_000) controller.close()
        else controller.enqueue(new Uint8Array(16_384))
      },
    })
    const headers = { 'content-encoding': 'zstd', 'content-length': '30526' }
    const transport = fetchTransport({ fetch: async () => new Response(body, { status: 400, headers }) })
    await expect(openai({ apiKey: 'x', transport }).chat.complete(chat, { signal })).rejects.toMatchObject({
      failure: { status: 400 },
    })
    // 64 kB, and what is read ahead.
    expect(pulled).toBeLessThan(10)
  })
})
