import type { Step } from '../support/raw-upstream.js'

// What upstreams send, to the byte, and what the gateway is to make of it.

/** An answer with a declared length. */
export const answer = (status: number, body: string, headers: string[] = ['content-type: application/json']): string =>
  [`HTTP/1.1 ${status} Status`, ...headers, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')

/** An OpenAI-style refusal. */
export const refused = (status: number, message: string, headers: string[] = [], code: string | null = null): string =>
  answer(status, JSON.stringify({ error: { message, type: 'upstream_type', param: null, code } }), [
    'content-type: application/json',
    ...headers,
  ])

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n'
/** The head of a stream in chunks. */
export const chunkedHead = `${head}transfer-encoding: chunked\r\n\r\n`
/** The head of a stream that the end of the connection ends. */
export const closingHead = `${head}connection: close\r\n\r\n`

/** One piece of a chunked body; none ends it. */
export const piece = (text = ''): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** A whole chunked stream, one piece and one write per text. */
export const stream = (...texts: string[]): Step[] => [chunkedHead, ...texts.map(piece), piece()]

/** A chunked stream that goes on with `rest` in place of its end. */
export const begun = (texts: string[], ...rest: Step[]): Step[] => [chunkedHead, ...texts.map(piece), ...rest]

/** Every byte in a write of its own. */
export const bytewise = (text: string): Step[] => [...Buffer.from(text)].map((byte) => Uint8Array.of(byte))

export const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
export const done = 'data: [DONE]\n\n'

const id = 'chatcmpl-fault'
const created = 1_770_933_892
const model = 'gpt-4o-mini'
const object = 'chat.completion.chunk'

/** A chunk as the upstream sends it. */
export const given = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  event({ id, object, created, model, choices: [{ index: 0, delta, finish_reason }], ...more })

/** The same chunk as the client is to see it. */
export const seen = (delta: object, finish_reason: string | null = null): string =>
  event({ id, created, model, object, choices: [{ index: 0, delta, finish_reason }] })

export const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
export const usageGiven = event({ id, object, created, model, choices: [], usage })

/** An answer of two words, as events. */
export const hello = {
  start: [given({ role: 'assistant', content: '' }), given({ content: 'Hello' }), given({ content: ' world' })],
  finish: given({}, 'stop'),
  seen: [seen({ role: 'assistant', content: '' }), seen({ content: 'Hello' }), seen({ content: ' world' })].join(''),
  seenEnd: seen({}, 'stop') + done,
}
export const helloStream = [...hello.start, hello.finish, done]
export const helloSeen = hello.seen + hello.seenEnd

/** A whole answer, not streamed. */
export const completion = (message: object, finish_reason = 'stop'): string =>
  JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
    usage,
  })

export const error = (type: string, code: string, message: string): string =>
  JSON.stringify({ error: { type, message, code } })

const upstream = (code: string, message: string): string => error('upstream_error', code, message)

/** The fixed words for what is not the caller's fault. */
export const errors = {
  failed: upstream('upstream_error', 'The upstream provider failed'),
  senseless: upstream('upstream_error', 'The upstream provider sent an answer that makes no sense'),
  unreachable: upstream('upstream_unavailable', 'The upstream provider could not be reached'),
  truncated: upstream('upstream_truncated', 'The upstream provider ended its answer before it was whole'),
  late: upstream('upstream_timeout', 'The upstream provider did not answer in time'),
  limited: error('rate_limit_error', 'rate_limit_exceeded', 'The upstream provider is rate limiting; try again later'),
  unbooked: error('server_error', 'ledger_unavailable', 'Usage cannot be recorded at the moment'),
  shutdown: error('server_error', 'internal_error', 'The server is shutting down'),
}

/** An error body as the last event of a stream. */
export const errorEvent = (body: string): string => `data: ${body}\n\n`
