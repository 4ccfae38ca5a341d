import type { Step } from '../support/raw-upstream.js'

// What upstreams send, to the byte, whatever their family, and the words in which the gateway tells of what went wrong.

/** An answer with a declared length. */
export const answer = (status: number, body: string, headers: string[] = ['content-type: application/json']): string =>
  [`HTTP/1.1 ${status} Status`, ...headers, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')

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

/** Every character of more than one byte in as many writes, each alone on its way. */
export function inCharacters(text: string): Step[] {
  const bytes = Buffer.from(text)
  const cuts = [0, ...[...bytes.keys()].filter((at) => bytes[at]! >> 6 === 0b10), bytes.length]
  return cuts.slice(1).flatMap((cut, i) => [bytes.subarray(cuts[i], cut), 10])
}

export const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`
export const done = 'data: [DONE]\n\n'

/** When the answers of all tests were made. */
export const created = 1_770_933_892

/** What makes the chunks of one answer, as clients are to see them. */
export const chunksOf =
  (id: string, model: string) =>
  (delta: object, finish_reason: string | null = null): string =>
    event({ id, created, model, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })

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
  unrecorded: error('server_error', 'ledger_unavailable', 'Usage cannot be recorded at the moment'),
  shutdown: error('server_error', 'internal_error', 'The server is shutting down'),
}

/** An error body as the last event of a stream. */
export const errorEvent = (body: string): string => `data: ${body}\n\n`
