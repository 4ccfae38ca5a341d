import type { OnError, OnResult, Read } from '@turnpike/core/helpers'
import type { Memory } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { inTurns, Pieces, readerOf } from '@turnpike/core/helpers'
import { createParser } from 'eventsource-parser'
import type { StreamDecoder, UpstreamEvent } from '../adapter.js'
import { malformed, tooLarge, truncated } from '../refusals/failures.js'
import { EVENT, excessOf, parseJson } from './json.js'
import { keptOf } from './kept.js'

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

/** The end marker of OpenAI's streams. Some servers send it in the other forms as well. */
export const DONE = '[DONE]'

const isWhole = (data: string): boolean => data === DONE || parseJson(data) !== undefined

/** Characters that a line is reckoned with, besides those in it: it costs as much work and memory as so many. */
const LINE_COST = 64
/** Most characters of bare JSON that is parsed before the body has ended: an error, after which some upstreams keep the connection open. */
const ERROR_LENGTH = 64 * 1024

const linesIn = (text: string): number => {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

/**
 * Parses a text in pieces into its events. Events without data are none. Bare JSON, on lines that are no events, is an event, and a list of
 * values is one for each: so Gemini tells an error after its events, and so answer servers that do not stream.
 * @param limit most characters of an event
 */
function eventParser(limit: number) {
  const events: UpstreamEvent[] = []
  /** What is too much in an event. */
  let tooMuch: string | undefined
  /** Size of the incomplete event in characters, with what its lines cost. */
  let size = 0
  /** What the lines outside of events have cost. */
  let outside = 0
  /** Bare JSON so far. */
  let bare = ''
  let endedByReturn = false

  const add = (data: string): void => {
    if (data.length > limit) tooMuch ??= `is larger than ${limit} characters`
    tooMuch ??= excessOf(data, EVENT)
    events.push({ data })
  }
  const addBare = (): void => {
    tooMuch ??= excessOf(bare)
    const value = tooMuch ? undefined : parseJson(bare)
    if (typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) for (const one of value) add(JSON.stringify(one))
    else events.push({ data: bare })
    bare = ''
  }

  const parser = createParser({
    onEvent(event) {
      const data = event.data.trim()
      if (data !== '') add(data)
    },
    onError({ line = '' }) {
      outside += LINE_COST
      if (bare !== '') bare += `\n${line}`
      else if (/^\s*[{[]/.test(line)) bare = line
    },
  })

  /** The parser makes an error of each line that is no field. An upstream may send many, and a stack trace costs ten times as much as the rest. */
  const parse = (text: string): void => {
    const { stackTraceLimit } = Error
    Reflect.set(Error, 'stackTraceLimit', 0)
    try {
      parser.feed(text)
    } finally {
      Reflect.set(Error, 'stackTraceLimit', stackTraceLimit)
    }
  }

  return {
    /** The events that are complete; to be emptied. */
    events,
    /** What is too much, if anything is: the parser must then not be used any more. */
    excess: () => tooMuch,
    /** Characters of what is incomplete. */
    size: () => size + bare.length,
    feed(piece: string): void {
      if (piece === '') return
      // Line ends become LF, because the parser would look for the next CR from every line anew.
      let text = endedByReturn && piece.startsWith('\n') ? piece.slice(1) : piece
      endedByReturn = piece.endsWith('\r')
      if (text.includes('\r')) text = text.replaceAll(/\r\n?/g, '\n')
      parse(text)
      size = events.length > 0 || text.endsWith('\n\n') ? 0 : size + text.length + linesIn(text) * LINE_COST
      if (size > limit + LINE_COST || outside > limit || bare.length > limit)
        tooMuch ??= `is larger than ${limit} characters`
      if (bare !== '' && bare.length <= ERROR_LENGTH && /[}\]]/.test(bare.at(-1)!)) addBare()
    },
    /** Ends the text: an event without its blank line counts if it is complete. @returns whether bare JSON was cut */
    end(): boolean {
      const complete = events.length
      parse('\n\n')
      const last = events.splice(complete)
      if (!tooMuch) events.push(...last.filter(({ data }) => isWhole(data)))
      if (bare !== '') addBare()
      return bare !== ''
    },
  }
}

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

/** What an error in a stream is: one of the memory of the request is not the provider's fault, and any other is of a decoder that met an unexpected value. */
function failureOf(provider: string, thrown: unknown): UpstreamError {
  if (UpstreamError.is(thrown)) return thrown
  if (ApiError.is(thrown)) return tooLarge(provider, thrown.message, thrown)
  return malformed(provider, 'The answer is invalid', thrown)
}

/**
 * Decodes a body of server-sent events; the items of one read are yielded together. Not a generator, which would cost more than the rest of a chunk.
 * @returns `events`, and `putBack`, which makes `events` yield a result again
 * @param limit most characters of an event, and of what the decoder keeps
 * @param memory what the characters are taken from that are kept: of events that have not ended, and by the decoder
 * @throws UpstreamError `malformed` for an event over `limit` characters or of more than 50,000 values, or more that is kept, `truncated` for a broken connection, and errors of the decoder
 */
export function decodeStream<Item>(
  body: AsyncIterable<Uint8Array>,
  decoder: StreamDecoder<Item>,
  provider: string,
  limit: number,
  memory?: Memory,
): { events: Pieces<Item[]>; putBack(result: IteratorResult<Item[], undefined>): void } {
  const parser = eventParser(limit)
  const decode = pieceDecoder()
  const pieces = body[Symbol.asyncIterator]()
  const readPiece = inTurns(readerOf(pieces))
  /** True until the body has ended or was closed. */
  let open = true
  let ended = false
  /** Whether more is kept than may be. */
  let isFull = false
  const keep = keptOf(memory)
  /** Delivers the next result if it is known in advance. */
  let known: Read<Item[]> | undefined
  /** Items from the end of the body, held until the stream is known to be complete. */
  let last: Item[] = []
  let onItems!: OnResult<Item[]>
  let onError!: OnError

  const close = (): void => {
    ended = true
    // Such a body is not drained: that would only decompress more of it.
    if (open) void (parser.excess() || isFull ? pieces.return?.() : discard(pieces))
    open = false
  }

  const fail = (thrown: unknown): void => {
    close()
    const error = failureOf(provider, thrown)
    const rest = [...last, ...decoder.rest()]
    if (rest.length === 0) onError(error)
    else {
      known = (_, toError) => toError(error)
      onItems({ done: false, value: rest })
    }
  }

  /** Counts what is kept. */
  const count = (): void => {
    const kept = decoder.kept?.() ?? 0
    isFull = kept > limit
    if (isFull) throw tooLarge(provider, `An answer has more than ${limit} characters of arguments and thoughts`)
    keep(kept + parser.size())
  }

  /** The items of a piece; undefined if it completes no event. */
  const take = (piece: Uint8Array): Item[] | undefined => {
    parser.feed(decode(piece))
    if (parser.excess()) throw tooLarge(provider, `An event ${parser.excess()}`)
    if (parser.events.length === 0) {
      count()
      return undefined
    }
    // Emptied and not replaced: V8 may come to allocate new arrays in the old generation, where they keep their events alive.
    const items = decoder.push(parser.events.splice(0))
    if (decoder.done()) close()
    else count()
    return items
  }

  /** Decodes the end of the body. @returns whether the stream is done */
  const takeLast = (): boolean => {
    open = false
    ended = true
    const cut = parser.end()
    if (parser.excess()) throw tooLarge(provider, `An event ${parser.excess()}`)
    last = decoder.push(parser.events)
    if (cut && !decoder.done()) throw truncated(provider, 'The answer ended within its JSON')
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
      if (!takeLast())
        throw ApiError.is(cause) ? cause : truncated(provider, 'The connection broke during the answer', cause)
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
