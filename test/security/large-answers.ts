import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { replied } from '../endpoints/endpoints.js'

/** A stream of these events. */
export const events = (...data: object[]): FakeAnswer =>
  replied(200, data.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('') + 'data: [DONE]\n\n', 'text/event-stream')

export const usage = { prompt_tokens: 9, completion_tokens: 20_000, total_tokens: 20_009 }
export const head = { id: 'chatcmpl-1', created: 5, model: 'gpt-5' }

/** OpenAI's answer of 20,000 tokens, with `fields` in it; in a stream, in the first chunk or in the last one. */
export const openai =
  (fields: object, late = false, used: unknown = usage) =>
  ({ body }: FakeRequest): FakeAnswer => {
    const message = { role: 'assistant', content: 'Hello' }
    if (!(body as { stream?: boolean }).stream)
      return replied(200, { ...head, ...fields, choices: [{ index: 0, message, finish_reason: 'stop' }], usage: used })
    const first = { ...head, ...(!late && fields), choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }
    return events(first, { ...head, ...fields, choices: [], usage: used })
  }

/** Claude's answer of 20,000 tokens, with `fields` in its usage. */
export const claude =
  (fields: object) =>
  ({ body }: FakeRequest): FakeAnswer => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6' }
    const text = { type: 'text', text: 'Hello' }
    const used = { input_tokens: 9, output_tokens: 20_000, ...fields }
    if (!(body as { stream?: boolean }).stream)
      return replied(200, { ...message, content: [text], stop_reason: 'end_turn', usage: used })
    return events(
      { type: 'message_start', message: { ...message, content: [], usage: { ...used, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: text },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 20_000 } },
      { type: 'message_stop' },
    )
  }
