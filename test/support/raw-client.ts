import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'

/** A gateway to call. */
export interface Callee {
  url: string
  key: string
}

/** All of a reply that tests compare. */
export interface RawReply {
  status: number
  type: string | undefined
  requestId: string | undefined
  retryAfter: string | undefined
  shouldRetry: string | undefined
  body: string
  /** False where the connection ended before the body was whole. */
  whole: boolean
}

/** A call whose head has arrived and whose body arrives. */
export interface RawCall {
  status: number
  /** Resolves once the body so far has `text` in it. */
  seen(text: string): Promise<void>
  /** Destroys the socket. */
  abandon(): void
  reply: Promise<RawReply>
}

const header = (response: IncomingMessage, name: string): string | undefined => response.headers[name]?.toString()

/** A POST on a connection of its own, of JSON or a form; the body of the answer can be read while it arrives. */
export async function open({ url, key }: Callee, path: string, body: object): Promise<RawCall> {
  const asked = body instanceof FormData ? new Response(body) : Response.json(body)
  const sent = request(url + path, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${key}`, 'content-type': asked.headers.get('content-type')! },
  })
  sent.end(new Uint8Array(await asked.arrayBuffer()))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // On Bun, a connection that breaks later is an error of the request as well.
  sent.on('error', () => undefined)
  const pieces: Buffer[] = []
  const text = (): string => Buffer.concat(pieces).toString()
  let onPiece: (() => void) | undefined
  response.on('data', (piece: Buffer) => {
    pieces.push(piece)
    onPiece?.()
  })
  // Told by `complete`, which is false after an error.
  response.on('error', () => undefined)
  const reply = new Promise<RawReply>((resolve) =>
    response.on('close', () =>
      resolve({
        status: response.statusCode!,
        type: header(response, 'content-type'),
        requestId: header(response, 'x-request-id'),
        retryAfter: header(response, 'retry-after'),
        shouldRetry: header(response, 'x-should-retry'),
        body: text(),
        whole: response.complete,
      }),
    ),
  )
  return {
    status: response.statusCode!,
    seen: (wanted) =>
      new Promise((resolve) => {
        onPiece = () => {
          if (text().includes(wanted)) resolve()
        }
        onPiece()
      }),
    abandon: () => sent.destroy(),
    reply,
  }
}

/** POST /v1/chat/completions. */
export const openChat = (callee: Callee, body: object = {}): Promise<RawCall> =>
  open(callee, '/v1/chat/completions', {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hi' }],
    ...body,
  })

/** The whole reply to a chat request. */
export const chat = async (callee: Callee, body: object = {}): Promise<RawReply> => (await openChat(callee, body)).reply
