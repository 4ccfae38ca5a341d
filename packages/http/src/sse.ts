import type { OnResult, Read } from '@turnpike/core/internal'
import { Pieces } from '@turnpike/core/internal'

/** The content type and the headers that keep proxies from holding a stream back. */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const DONE = 'data: [DONE]\n\n'
const PING = ': ping\n\n'

/** What stands before and after an event's line of JSON, for who writes many events. */
export const EVENT_START = 'data: '
/** What stands after an event's line of JSON. */
export const EVENT_END = '\n\n'

/** One event as it goes over the wire; `json` is a line of JSON. */
export const sseEvent = (json: string): string => EVENT_START + json + EVENT_END

/** A stream of events as an operation makes it. Exactly one of `complete`, `fail` and `leave` is called, once. */
export interface EventStream<Batch = unknown> {
  /** Asks for the next batch, while the client reads. */
  read: Read<Batch>
  /** The events of a batch, each as {@link sseEvent} makes it, which leave in one write; '' for none. */
  encode(batch: Batch): string
  /** The batches are done. Resolves with the last events, which `[DONE]` follows; rejects with what the client is told in its place. */
  complete(): Promise<string>
  /** What is written in place of `[DONE]`; default `[DONE]`. */
  readonly end?: string
  /** `read` or `encode` failed. Resolves with what the client is told. */
  fail(error: unknown): Promise<unknown>
  /** The client left before the end. */
  leave(): Promise<void>
}

/**
 * A stream's body: a piece per batch, then `[DONE]`, or an error event in place of it (ruling 12: without an `event:` line);
 * and a comment whenever `heartbeatMs` passed while the next piece was waited for.
 * Written by hand, because each generator in the way of a chunk, and each race against a timer, costs as much as the chunk.
 */
export function sseBody(
  events: EventStream,
  options: { errorEvent: (error: unknown) => object; heartbeatMs: number; onEnd: () => void },
): Pieces<string> {
  /** A batch, or the end of the stream, is on its way. */
  let pending = false
  /** Told when it is there; set once the client has left. */
  let onArrival: (() => void) | undefined
  /** The last piece has been made, or the client has left. */
  let closed = false
  let ended = false
  /** A piece that came while a comment was on its way. */
  let arrived: string | undefined
  /** Who waits for the next piece. */
  let onPiece: OnResult<string> | undefined
  /** Set when the reading begins: a body may never be read. */
  let timer: ReturnType<typeof setInterval> | undefined

  /** Hands a piece to the reader. @returns whether one was waiting */
  const deliver = (value: string): boolean => {
    if (!onPiece) return false
    const tell = onPiece
    onPiece = undefined
    tell({ done: false, value })
    return true
  }
  const end = (): void => {
    if (ended) return
    ended = true
    clearInterval(timer)
    options.onEnd()
  }
  const arrive = (piece: string): void => {
    pending = false
    if (!deliver(piece)) arrived = piece
    onArrival?.()
  }
  const arriveError = (error: unknown): void => arrive(sseEvent(JSON.stringify(options.errorEvent(error))))

  const onBatch = ({ done, value }: IteratorResult<unknown, undefined>): void => {
    if (done) {
      closed = true
      void events.complete().then((last) => arrive(last + (events.end ?? DONE)), arriveError)
      return
    }
    let piece: string
    try {
      piece = events.encode(value)
    } catch (error) {
      onError(error)
      return
    }
    if (piece === '') pull()
    else arrive(piece)
  }
  const onError = (error: unknown): void => {
    closed = true
    void events.fail(error).then(arriveError, arriveError)
  }
  const pull = (): void => {
    pending = true
    events.read(onBatch, onError)
  }

  const read: Read<string> = (tell) => {
    if (arrived !== undefined) {
      const value = arrived
      arrived = undefined
      tell({ done: false, value })
    } else if (pending || !closed) {
      timer ??= setInterval(() => deliver(PING), options.heartbeatMs)
      onPiece = tell
      if (!pending) pull()
    } else {
      end()
      tell({ done: true, value: undefined })
    }
  }
  const stop = async (): Promise<void> => {
    end()
    if (pending) await new Promise<void>((arrival) => (onArrival = arrival))
    if (!closed) {
      closed = true
      await events.leave()
    }
  }
  return new Pieces(read, stop)
}
