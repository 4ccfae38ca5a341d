import type { ChatCompletionRequest } from '@turnpike/core'
import { fakeAnthropic, fakeGoogle } from '@turnpike/providers/testing'
import { describe, expect, it, vi } from 'vitest'
import { anthropic } from './anthropic/index.js'
import { google } from './google/index.js'

const request: ChatCompletionRequest = {
  model: 'claude-sonnet-4-5',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
}

describe.each([
  ['claude', 'claude-sonnet-4-5', fakeAnthropic(), anthropic],
  ['gemini', 'gemini-2.5-flash', fakeGoogle(), google],
] as const)('a request that is prepared for several calls of %s', (_, model, fake, family) => {
  it.each([false, true])('is translated and serialised once, streamed %s', async (stream) => {
    const { chat } = family({ apiKey: 'none', transport: fake.transport })
    const controller = new AbortController()
    const one = await chat!.prepare!({ ...request, model, stream }, controller.signal)
    const serialised = vi.spyOn(JSON, 'stringify')
    const read = vi.spyOn(request.messages, Symbol.iterator)
    const onNotes = vi.fn()
    const { signal } = controller
    for (let i = 0; i < 5; i++)
      if (stream) for await (const _ of (await chat!.stream(one, { signal, onNotes })).batches);
      else await chat!.complete(one, { signal, onNotes })
    const isBody = (value: unknown) => typeof value === 'object' && ('contents' in value! || 'messages' in value!)
    const bodies = serialised.mock.calls.filter(([value]) => isBody(value))
    expect([read.mock.calls.length, bodies.length]).toEqual([0, 0])
    vi.restoreAllMocks()
    expect(fake.requests.length).toBeGreaterThanOrEqual(5)
    expect(new Set(fake.requests.slice(-5).map(({ body }) => JSON.stringify(body))).size).toBe(1)
  })

  it('is refused before the calls', async () => {
    const { chat } = family({ apiKey: 'none', transport: fake.transport })
    const wrong: ChatCompletionRequest = { model, messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }
    await expect(chat!.prepare!(wrong, new AbortController().signal)).rejects.toThrow('No tool call "x" waits')
  })
})
