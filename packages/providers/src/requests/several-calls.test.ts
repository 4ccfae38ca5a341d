import type { ChatCompletionRequest } from '@turnpike/core'
import { expect, it, vi } from 'vitest'
import type { ChatAdapter } from '../adapter.js'
import { anthropicChat } from '../anthropic/index.js'
import { createProvider } from '../provider.js'
import type { TransportRequest } from '../upstream/transport.js'

const { signal } = new AbortController()
const adapter = anthropicChat('p')
const request: ChatCompletionRequest = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hi' }] }

/** A provider of one choice per call, how often its adapter translates and its requests are serialised, and what it sent. */
function setUp() {
  const serialised = vi.fn()
  const translate = vi.fn<ChatAdapter['request']>((given) => {
    const { path, body, notes } = adapter.request(given)
    const toJSON = () => (serialised(), body)
    return { path, body: { toJSON }, notes: [...notes, { field: 'user', action: 'dropped' }] }
  })
  const sent: TransportRequest[] = []
  const answer = {
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const { chat } = createProvider({
    id: 'p',
    baseURL: 'https://up.example',
    headers: {},
    chat: { ...adapter, request: translate },
    models: [],
    owns: () => false,
    async transport(call) {
      sent.push(call)
      const bytes = new TextEncoder().encode(JSON.stringify(answer))
      return {
        status: 200,
        header: () => undefined,
        body: (async function* () {
          yield bytes
        })(),
      }
    },
  })
  return { chat: chat!, translate, serialised, sent }
}

it('a request that is prepared is translated and serialised once, for any number of calls', async () => {
  const { chat, translate, serialised, sent } = setUp()
  const one = await chat.prepare!(request, { signal })
  const onNotes = vi.fn()
  for (let i = 0; i < 5; i++) await chat.complete(one, { signal, onNotes })
  expect([translate.mock.calls.length, serialised.mock.calls.length]).toEqual([1, 1])
  expect(onNotes.mock.calls).toEqual(Array.from({ length: 5 }, () => [[{ field: 'user', action: 'dropped' }]]))
  expect(sent.map(({ body }) => JSON.parse(body as string) as unknown)).toEqual(
    Array.from(
      { length: 5 },
      () => expect.objectContaining({ model: request.model, messages: [expect.anything()] }) as unknown,
    ),
  )
})

it('any other is translated for each call', async () => {
  const { chat, translate } = setUp()
  for (let i = 0; i < 2; i++) await chat.complete(request, { signal })
  expect(translate).toHaveBeenCalledTimes(2)
})

it('what is not supported is refused when it is prepared', async () => {
  const { chat } = setUp()
  const wrong: ChatCompletionRequest = { ...request, messages: [{ role: 'tool', tool_call_id: 'x', content: 'y' }] }
  await expect(chat.prepare!(wrong, { signal })).rejects.toThrow('No tool call "x" waits for a result')
})
