import { UpstreamError } from '@turnpike/core'
import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'
import type { StreamDecoder } from './adapter.js'

/** One server-sent event of an upstream. */
export type UpstreamEvent = EventSourceMessage

/** How long the rest of a body is read after its last event, in milliseconds, so that the connection can be used again. */
const TAIL_MS = 1_000

async function discard(rest: AsyncIterator<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void rest.return?.(), TAIL_MS)
  try {
    while (!(await rest.next()).done);
  } catch {
    // Whatever befalls the connection now, the answer was whole.
  } finally {
    clearTimeout(timer)
  }
}

const isWhole = (data: string): boolean => {
  if (data === '[DONE]') return true
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}

/**
 * Decodes a body of server-sent events: what one read brings comes together.
 * A last event without its blank line counts if it is whole.
 * @throws UpstreamError `malformed` for an event over `limit` characters, `truncated` where the connection broke, and what the decoder throws
 */
export async function* decodeStream<Chunk>(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder<Chunk>,
  provider: string,
  limit: number,
): AsyncGenerator<Chunk[]> {
  let events: UpstreamEvent[] = []
  let oversized = false
  const parser = createParser({
    onEvent: (event) => {
      if (event.data.length > limit) oversized = true
      events.push(event)
    },
    onError: ({ type }) => {
      if (type === 'max-buffer-size-exceeded') oversized = true
    },
    maxBufferSize: limit,
  })
  const utf8 = new TextDecoder()
  const pieces = body[Symbol.asyncIterator]()
  let open = true

  const broken = (cause: unknown): never => {
    open = false
    const message = 'The connection broke during the stream'
    throw new UpstreamError(message, { provider, kind: 'truncated', accepted: true, cause })
  }

  try {
    for (;;) {
      const { done, value } = await pieces.next().catch(broken)
      if (done) {
        open = false
        parser.feed(`${utf8.decode()}\n\n`)
        const last = decoder.push(events.filter(({ data }) => isWhole(data)))
        yield decoder.done ? last : [...last, ...decoder.end()]
        return
      }
      parser.feed(utf8.decode(value, { stream: true }))
      if (oversized) {
        const message = `An event is larger than ${limit} characters`
        throw new UpstreamError(message, { provider, kind: 'malformed', accepted: true })
      }
      if (events.length === 0) continue
      const batch = events
      events = []
      yield decoder.push(batch)
      if (decoder.done) return
    }
  } catch (error) {
    const rest = decoder.rest()
    if (rest.length > 0) yield rest
    throw error
  } finally {
    if (open) void discard(pieces)
  }
}
