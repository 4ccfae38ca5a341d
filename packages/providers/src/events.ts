import { UpstreamError } from '@turnpike/core'
import { createParser } from 'eventsource-parser'
import type { EventSourceMessage } from 'eventsource-parser'

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
 * The events of a body, those of one read together.
 * A last event without its blank line counts if it is whole.
 * @throws UpstreamError `malformed` for an event over `limit` characters, `truncated` where the connection broke
 */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
  provider: string,
  limit: number,
): AsyncGenerator<UpstreamEvent[]> {
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
  const decoder = new TextDecoder()
  const pieces = body[Symbol.asyncIterator]()
  let open = true
  try {
    for (;;) {
      let piece: IteratorResult<Uint8Array>
      try {
        piece = await pieces.next()
      } catch (cause) {
        open = false
        throw new UpstreamError('The connection broke during the stream', {
          provider,
          kind: 'truncated',
          accepted: true,
          cause,
        })
      }
      if (piece.done) {
        open = false
        parser.feed(`${decoder.decode()}\n\n`)
        yield events.filter(({ data }) => isWhole(data))
        return
      }
      parser.feed(decoder.decode(piece.value, { stream: true }))
      if (oversized)
        throw new UpstreamError(`An event is larger than ${limit} characters`, {
          provider,
          kind: 'malformed',
          accepted: true,
        })
      if (events.length === 0) continue
      const batch = events
      events = []
      yield batch
    }
  } finally {
    if (open) void discard(pieces)
  }
}
