import type { OnError, OnResult, Read } from '@turnpike/core/internal'
import { UpstreamError } from '@turnpike/core'
import { Pieces, readerOf } from '@turnpike/core/internal'
import type { StreamDecoder } from './adapter.js'
import type { UpstreamEvent } from './event-parser.js'
import { eventParser } from './event-parser.js'
import { malformed, truncated } from './failures.js'
import { parseJson } from './json.js'

/** How long the rest of a body is read after its last event, in milliseconds, and how many bytes of it, so that the connection can be used again. */
const TAIL_MS = 1_000
const TAIL_BYTES = 64 * 1024

async function discard(rest: AsyncIterator<Uint8Array>): Promise<void> {
  const timer = setTimeout(() => void rest.return?.(), TAIL_MS)
  try {
    for (let left = TAIL_BYTES; left > 0;) {
      const { done, value } = await rest.next()
      if (done) return
      left -= value.length
    }
    await rest.return?.()
  } catch {
    // Whatever befalls the connection now, the answer was whole.
  } finally {
    clearTimeout(timer)
  }
}

const isWhole = (data: string): boolean => data === '[DONE]' || parseJson(data) !== undefined

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Decodes UTF-8 piece by piece, without a byte order mark. A decoder that keeps its place is made only where a piece ends within a character: it costs twice as much. */
function pieceDecoder(): (bytes: Uint8Array) => string {
  let inCharacter: InstanceType<typeof TextDecoder> | undefined
  let begun = false
  const decode = (bytes: Uint8Array): string => {
    const whole = bytes[bytes.length - 1]! < 0x80
    if (!inCharacter && whole) return utf8.decode(bytes)
    inCharacter ??= new TextDecoder('utf-8', { ignoreBOM: true })
    const text = inCharacter.decode(bytes, { stream: !whole })
    if (whole) inCharacter = undefined
    return text
  }
  return (bytes) => {
    const text = decode(bytes)
    if (begun || text === '') return text
    begun = true
    return text.startsWith('\uFEFF') ? text.slice(1) : text
  }
}

/**
 * Decodes a body of server-sent events: what one read brings comes together. Written by hand, because a generator costs more than the rest of a chunk.
 * @returns `events`, and `putBack`, which has a result come once more
 * @throws UpstreamError `malformed` for an event over `limit` characters, `truncated` where the connection broke, and what the decoder throws
 */
export function decodeStream<Item>(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder<Item>,
  provider: string,
  limit: number,
): { events: Pieces<Item[]>; putBack(result: IteratorResult<Item[], undefined>): void } {
  const events: UpstreamEvent[] = []
  let oversized = false
  /** A line without data has come since the decoder was asked. */
  let stray = false
  const parser = eventParser(
    (event) => {
      if (event.data.length > limit) oversized = true
      events.push(event)
    },
    (line) => {
      if (decoder.stray?.(line)) stray = true
    },
  )
  const decode = pieceDecoder()
  const pieces = body[Symbol.asyncIterator]()
  const readPiece = readerOf(pieces)
  /** True while the body may bring more. */
  let open = true
  let ended = false
  /** Tells what comes next, where that is known before it is asked for. */
  let known: Read<Item[]> | undefined
  /** What the end of the body brought, until it is known that the stream is whole. */
  let last: Item[] = []
  let onItems!: OnResult<Item[]>
  let onError!: OnError

  const close = (): void => {
    ended = true
    // What is too large already would only be inflated further.
    if (open) void (oversized ? pieces.return?.() : discard(pieces))
    open = false
  }

  const fail = (thrown: unknown): void => {
    close()
    // Any other error is of a decoder that met what no upstream should send.
    const error = UpstreamError.is(thrown) ? thrown : malformed(provider, 'The answer makes no sense', thrown)
    const rest = [...last, ...decoder.rest()]
    if (rest.length === 0) onError(error)
    else {
      known = (_, toError) => toError(error)
      onItems({ done: false, value: rest })
    }
  }

  /** The items of a piece; undefined where it ends no event. */
  const take = (piece: Uint8Array): Item[] | undefined => {
    parser.feed(decode(piece))
    oversized ||= parser.size() > limit
    if (oversized) throw malformed(provider, `An event is larger than ${limit} characters`)
    if (events.length === 0 && !stray) return undefined
    stray = false
    // Emptied, not replaced: V8 learns in bursts that such an array lives long, makes it old, and what it held then outlives it.
    const items = decoder.push(events.splice(0))
    if (decoder.done()) close()
    return items
  }

  /** What the end of the body leaves: a last event without its blank line counts if it is whole. @returns whether that ends the stream */
  const takeLast = (): boolean => {
    open = false
    ended = true
    parser.feed('\n\n')
    last = decoder.push(events.filter(({ data }) => isWhole(data)))
    return decoder.done()
  }

  const onPiece = ({ done, value }: IteratorResult<Uint8Array, undefined>): void => {
    let items: Item[] | undefined
    try {
      items = done ? (takeLast() ? last : [...last, ...decoder.end()]) : take(value)
    } catch (error) {
      fail(error)
      return
    }
    if (items) onItems({ done: false, value: items })
    else readPiece(onPiece, onBroken)
  }

  const onBroken = (cause: unknown): void => {
    try {
      // It may have been told that it is done, or why it is not, before it broke.
      if (!takeLast()) throw truncated(provider, 'The connection broke during the answer', cause)
    } catch (error) {
      fail(error)
      return
    }
    onItems({ done: false, value: last })
  }

  const read: Read<Item[]> = (toItems, toError) => {
    const tell = known
    known = undefined
    if (tell) tell(toItems, toError)
    else if (ended) toItems({ done: true, value: undefined })
    else {
      onItems = toItems
      onError = toError
      readPiece(onPiece, onBroken)
    }
  }

  return {
    events: new Pieces(read, close),
    putBack(result) {
      const after = known
      known = (toItems) => {
        known = after
        toItems(result)
      }
    },
  }
}
