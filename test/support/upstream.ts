import type { FileInput, Note, UpstreamCall } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'

/** A request as it reached an upstream. */
export interface Asked {
  url: string
  headers: Record<string, string>
  /** JSON; of a form its bytes, a character for each. */
  body: unknown
}

/** An answer: what is no text, bytes or pieces is sent as JSON; an error among the pieces breaks the connection. */
export interface Given {
  /** Default 200. */
  status?: number
  /** Default JSON's. */
  type?: string | undefined
  headers?: Record<string, string>
  body?: unknown
}

const utf8 = new TextEncoder()

/** The pieces of a body. */
function piecesOf(body: unknown): Iterable<string | Uint8Array | Error> {
  if (typeof body === 'string' || body instanceof Uint8Array) return [body]
  return Array.isArray(body) && body.some((piece) => piece instanceof Uint8Array || piece instanceof Error)
    ? (body as (Uint8Array | Error)[])
    : [JSON.stringify(body)]
}

/** An upstream without a socket that gives one answer, or one for each request, or cannot be reached. */
export function scriptedUpstream(answer: Given | Error | ((asked: Asked) => Given)) {
  const asked: Asked[] = []
  const notes: Note[] = []
  const state = { left: 0 }
  const transport: Transport = async ({ url, headers, body, signal }) => {
    if (signal.aborted) throw signal.reason
    const text = typeof body === 'string' ? body : undefined
    const bytes =
      text === undefined ? Buffer.from(await new Response(body).arrayBuffer()).toString('latin1') : undefined
    const request: Asked = { url, headers, body: text === undefined ? bytes : JSON.parse(text) }
    asked.push(request)
    if (answer instanceof Error) throw answer
    const given = typeof answer === 'function' ? answer(request) : answer
    const head: Record<string, string | undefined> = {
      'content-type': 'type' in given ? given.type : 'application/json',
      ...given.headers,
    }
    return {
      status: given.status ?? 200,
      header: (name) => head[name],
      body: (async function* () {
        try {
          for (const piece of piecesOf(given.body)) {
            if (signal.aborted) throw new Error('The connection was closed')
            if (piece instanceof Error) throw piece
            yield typeof piece === 'string' ? utf8.encode(piece) : piece
          }
        } finally {
          state.left++
        }
      })(),
    }
  }
  const controller = new AbortController()
  const call: UpstreamCall = { signal: controller.signal, onNotes: (more) => void notes.push(...more) }
  return {
    transport,
    asked,
    /** What callers were told of their fields. */
    notes,
    /** How often a body was done or left. */
    state,
    abort: (reason: Error): void => controller.abort(reason),
    call,
  }
}

/** A file as the gateway hands it on, in pieces of one byte, and how often it was read. */
export function fileOf(text: string, name = 'talk.mp3', type = 'audio/mpeg') {
  const bytes = utf8.encode(text)
  const file: FileInput & { reads: number } = {
    name,
    type,
    size: bytes.length,
    reads: 0,
    async *read() {
      file.reads++
      for (const byte of bytes) yield Uint8Array.of(byte)
    },
  }
  return file
}

/** All pieces as one, a character for each byte. */
export async function latin1(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString('latin1')
}

/** An UpstreamError with these in its failure. */
export const failure = (fields: object, provider = 'openai') => ({
  name: 'UpstreamError',
  failure: { provider, ...fields },
})

/** That of an answer that makes no sense. */
export const senseless = (provider = 'openai') => failure({ kind: 'malformed', accepted: true }, provider)
