import { describe, expect, it } from 'vitest'
import { openai } from './openai/index.js'
import { fetchTransport } from './transport.js'

const { signal } = new AbortController()
const chat = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }

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
