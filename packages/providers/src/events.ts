import type { OnError, OnResult, Read } from '@turnpike/core/internal'
import { UpstreamError } from '@turnpike/core'
import { Pieces, readerOf } from '@turnpike/core/internal'
import type { StreamDecoder } from './adapter.js'
import type { UpstreamEvent } from './event-parser.js'
import { eventParser } from './event-parser.js'
import { malformed, tooLarge, truncated } from './failures.js'
import { EVENT_VALUES, excessOf, parseJson } from './json.js'

/** How long, and how many bytes of, a body is read after its last event, so that the connection can be reused. */
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
    // The answer is complete, so errors of the connection do not matter any more.
  } finally {
    clearTimeout(timer)
  }
}

const isWhole = (data: string): boolean => data === '[DONE]' || parseJson(data) !== undefined

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Decodes UTF-8 in pieces and removes a byte order mark. A streaming decoder, which costs twice as much, is used only if a piece ends within a character. */
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
 * Decodes a body of server-sent events; the items of one read are yielded together. Not a generator, which would cost more than the rest of a chunk.
 * @returns `events`, and `putBack`, which makes `events` yield a result again
 * @throws UpstreamError `malformed` for an event over `limit` characters or of more than three million values, `truncated` for a broken connection, and errors of the decoder
 */
export function decodeStream<Item>(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder<Item>,
  provider: string,
  limit: number,
): { events: Pieces<Item[]>; putBack(result: IteratorResult<Item[], undefined>): void } {
  const events: UpstreamEvent[] = []
  /** What is too much in an event. */
  let tooMuch: string | undefined
  const tooLong = `is larger than ${limit} characters`
  /** Whether a relevant line without data has arrived since the last `push`. */
  let stray = false
  const parser = eventParser(
    (event) => {
      tooMuch ??= event.data.length > limit ? tooLong : excessOf(event.data, EVENT_VALUES)
      events.push(event)
    },
    (line) => {
      if (decoder.stray?.(line)) stray = true
    },
  )
  const decode = pieceDecoder()
  const pieces = body[Symbol.asyncIterator]()
  const readPiece = readerOf(pieces)
  /** True until the body has ended or was closed. */
  let open = true
  let ended = false
  /** Delivers the next result if it is known in advance. */
  let known: Read<Item[]> | undefined
  /** Items from the end of the body, held until the stream is known to be complete. */
  let last: Item[] = []
  let onItems!: OnResult<Item[]>
  let onError!: OnError

  const close = (): void => {
    ended = true
    // Such a body is not drained: that would only decompress more of it.
    if (open) void (tooMuch ? pieces.return?.() : discard(pieces))
    open = false
  }

  const fail = (thrown: unknown): void => {
    close()
    // Any other error comes from a decoder that met an unexpected value.
    const error = UpstreamError.is(thrown) ? thrown : malformed(provider, 'The answer is invalid', thrown)
    const rest = [...last, ...decoder.rest()]
    if (rest.length === 0) onError(error)
    else {
      known = (_, toError) => toError(error)
      onItems({ done: false, value: rest })
    }
  }

  /** The items of a piece; undefined if it completes no event. */
  const take = (piece: Uint8Array): Item[] | undefined => {
    parser.feed(decode(piece))
    if (parser.size() > limit) tooMuch ??= tooLong
    if (tooMuch) throw tooLarge(provider, `An event ${tooMuch}`)
    if (events.length === 0 && !stray) return undefined
    stray = false
    // Emptied and not replaced: V8 may come to allocate new arrays in the old generation, where they keep their events alive.
    const items = decoder.push(events.splice(0))
    if (decoder.done()) close()
    return items
  }

  /** Decodes the end of the body: a last event without a blank line counts if it is complete. @returns whether the stream is done */
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
      // The end marker or an error may have arrived before the connection broke.
      if (!takeLast()) throw truncated(provider, 'The connection broke during the answer', cause)
    } catch (error) {
      fail(error)
      return
    }
    onItems({ done: false, value: last })
  }

  const read: Read<Item[]> = (toItems, toError) => {
    const deliver = known
    known = undefined
    if (deliver) deliver(toItems, toError)
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
