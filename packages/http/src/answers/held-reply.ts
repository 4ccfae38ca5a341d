import type { ApiError } from '@turnpike/core'
import { begunWith } from '@turnpike/core/helpers'
import { unanswered } from '../body/body-memory.js'
import { LARGE_ANSWER } from '../conventions.js'
import type { Reply } from '../shells/exchange.js'
import type { Stay } from '../body/stay.js'
import { watched } from '../body/watched.js'

/** Whether a body comes chunk by chunk. */
export const isStream = (body: Reply['body']): body is AsyncIterable<string | Uint8Array> =>
  typeof body === 'object' && !(body instanceof Uint8Array)

/** Whether a body fits into the kernel's buffers. */
const isSmall = (body: Reply['body']): boolean => body === undefined || (!isStream(body) && body.length <= LARGE_ANSWER)

async function* once<T>(body: T): AsyncGenerator<T> {
  yield body
}

/** Told of an error that breaks a body off. */
type Report = (error: unknown, stay: Stay) => void

/** A reply whose body ends the request, and has memory until then. */
async function begun(reply: Reply, method: string, stay: Stay, report: Report): Promise<Reply> {
  const { status, headers } = reply
  const body = reply.body!
  const pieces = isStream(body) ? body[Symbol.asyncIterator]() : once(body)
  const first = await pieces.next()
  try {
    if (!first.done) stay.hold(first.value.length)
  } catch (error) {
    await pieces.return?.()
    throw method === 'GET' ? error : unanswered(error as ApiError)
  }
  if (!isStream(body)) {
    // It is made, and needs no place any more.
    stay.leave()
    reply.headers = { ...headers, 'content-length': String(body.length) }
  }
  reply.body = watched(begunWith(first, pieces), {
    onPiece: ({ length }) => stay.hold(length),
    onError: (error) => report(error, stay),
    onEnd: () => stay.end(status),
  })
  return reply
}

/**
 * A reply that holds memory until the client has taken it (docs/decisions/037): a whole one that does not fit into the kernel's buffers its length,
 * a stream that of its largest piece. The first piece of a stream is read before the reply begins, so that what fails until then is answered.
 * @throws ApiError 503 where there is no memory
 */
export const held = (reply: Reply, method: string, stay: Stay, report: Report): Reply | Promise<Reply> =>
  method === 'HEAD' || isSmall(reply.body) ? reply : begun(reply, method, stay, report)
