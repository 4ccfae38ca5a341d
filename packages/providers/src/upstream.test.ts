import { ApiError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { scriptedUpstream } from '../../../test/support/upstream.js'
import { openai } from './openai/index.js'
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
    const answer = openai({ apiKey: 'x', transport }).chat!.complete(chat, { signal, memory: { take } })
    await answer.catch(() => undefined)
    return { answer, taken, size: text.length, state }
  }

  it('are taken as they arrive', async () => {
    const { taken, size } = await ask(120_000)
    expect(taken).toEqual([100_000, size - 100_000])
  })

  it('are not, where they are few', async () => expect((await ask(60_000)).taken).toEqual([]))

  it('end the answer where there is no memory for them, which is billed', async () => {
    const { answer, taken, state } = await ask(10_000_000, 1_000_000)
    const failure = { kind: 'malformed', code: 'too_large', unreported: true, accepted: true }
    await expect(answer).rejects.toMatchObject({ failure: { ...failure, cause: { status: 503 } } })
    expect([taken.length, state.left]).toEqual([19, 1])
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
    await expect(openai({ apiKey: 'x', transport }).chat!.complete(chat, { signal })).rejects.toMatchObject({
      failure: { status: 400 },
    })
    // 64 kB, and what is read ahead.
    expect(pulled).toBeLessThan(10)
  })
})
