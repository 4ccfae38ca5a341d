import type { Family } from './families.js'
import { chunksOf, created, done, event } from './wire.js'

const id = 'msg_fault'
const model = 'claude-sonnet-4-5-20250929'

export const seen = chunksOf(id, model)

/** An event as the upstream sends it, with its type twice. */
export const given = (type: string, more: object = {}): string => `event: ${type}\n${event({ type, ...more })}`

const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null }

/** What begins a stream; `more` are fields of the message that differ. */
export const start = (more: object = {}): string =>
  given('message_start', { message: { ...message, usage: { input_tokens: 9, output_tokens: 1 }, ...more } })
export const startSeen = seen({ role: 'assistant', content: '' })

export const ping = given('ping')
export const block = (index: number, content_block: object): string =>
  given('content_block_start', { index, content_block })
export const delta = (index: number, fields: object): string => given('content_block_delta', { index, delta: fields })
export const stop = (index: number): string => given('content_block_stop', { index })
export const text = (content: string): string => delta(0, { type: 'text_delta', text: content })

/** What says why the answer ends. */
export const ending = (stop_reason: string | null, more: object = {}): string =>
  given('message_delta', { delta: { stop_reason, stop_sequence: null, ...more }, usage: { output_tokens: 2 } })
export const messageStop = given('message_stop')

/** A whole answer, not streamed. */
export const whole = (content: object[], more: object): string =>
  JSON.stringify({
    ...message,
    content,
    stop_reason: 'end_turn',
    usage: { input_tokens: 9, output_tokens: 2 },
    ...more,
  })

/** The same as the client is to see it. */
export const wholeSeen = (fields: object, finish_reason: string): string =>
  JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', ...fields }, logprobs: null, finish_reason }],
    usage: {
      prompt_tokens: 9,
      completion_tokens: 2,
      total_tokens: 11,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  })

const types: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** The body of an error of a type, and the data of its event. */
export const errorBody = (type: string, words: string): object => ({
  type: 'error',
  error: { type, message: words },
  request_id: 'req_fault',
})
const errorOf = (status: number, words: string): object => errorBody(types[status] ?? 'api_error', words)

const opening = [start(), block(0, { type: 'text', text: '' }), ping]

export const claude: Family = {
  name: 'Claude',
  model: 'claude-sonnet-4-5',
  dated: false,
  answer: (content) => whole([{ type: 'text', text: content }], {}),
  answerSeen: (content) => wholeSeen({ content, refusal: null }, 'stop'),
  hello: {
    start: [...opening, text('Hello'), text(' world')],
    finish: [stop(0), ending('end_turn')],
    done: [messageStop],
    seen: [startSeen, seen({ content: 'Hello' }), seen({ content: ' world' })].join(''),
    seenEnd: seen({}, 'stop') + done,
  },
  opening: (content) => [...opening, text(content)],
  openingSeen: (content) => startSeen + seen({ content }),
  text,
  textSeen: (content) => seen({ content }),
  refusal: (status, words) => JSON.stringify(errorOf(status, words)),
  error: (status, words) => given('error', errorOf(status, words)),
}
