import type { OnResult, Read } from '@turnpike/core/helpers'
import { Pieces } from '@turnpike/core/helpers'
import { LARGE_ANSWER } from '../conventions.js'

/** The content type, and headers that keep proxies from buffering the stream. */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'private, no-store, no-transform',
  'x-accel-buffering': 'no',
}

const DONE = 'data: [DONE]\n\n'
const PING = ': ping\n\n'

/** What stands before an event's line of JSON. */
export const EVENT_START = 'data: '
/** What stands after an event's line of JSON. */
export const EVENT_END = '\n\n'

/**
 * One event as it goes over the wire; `json` is a line of JSON.
 * @example sseEvent('{"a":1}') // 'data: {"a":1}\n\n'
 */
export const sseEvent = (json: string): string => EVENT_START + json + EVENT_END

/** A stream of events, as an operation makes it. Exactly one of `complete`, `fail` and `disconnect` is called, once. */
export interface EventStream<Batch = unknown> {
  /** Requests the next batch; called only while the client reads. */
  read: Read<Batch>
  /** The events of a batch, each as {@link sseEvent} makes it, sent in one write; '' for none. */
  encode(batch: Batch): string
  /** All batches have been read. Resolves with the last events, which `[DONE]` follows; rejects with the error that is sent instead of it. */
  complete(): Promise<string>
  /** What ends the stream; default `[DONE]`. */
  readonly end?: string
  /** `read` or `encode` failed. Resolves with the error that the client is sent. */
  fail(error: unknown): Promise<unknown>
  /** The client disconnected before the end. */
  disconnect(): Promise<void>
}

/**
 * The body of a stream: a chunk per batch, then `[DONE]` or an error event instead of it (without an `event:` line), and a
 * comment line after each `heartbeatMs` without a chunk.
 * Written without generators and without a race against a timer, because each of them costs as much per chunk as everything else.
 */
export function sseBody(
  events: EventStream,
  options: {
    errorEvent: (error: unknown) => object
    heartbeatMs: number
    onEnd: () => void
    /** Takes memory for a large chunk, as text and as bytes; what it throws ends the stream. */
    hold: (bytes: number) => void
  },
): Pieces<string> {
  /** A batch, or the end of the stream, was requested and has not arrived. */
  let pending = false
  /** Called when it arrives; set once the client has disconnected. */
  let onArrival: (() => void) | undefined
  /** The last chunk has been made, or the client has disconnected. */
  let closed = false
  /** The client has disconnected; the stream ends once the upstream has been left. */
  let left = false
  let ended = false
  /** A chunk that arrived while a comment was being sent. */
  let arrived: string | undefined
  /** The reader that waits for the next chunk. */
  let onChunk: OnResult<string> | undefined
  /** Started by the first read: a body may never be read. */
  let timer: ReturnType<typeof setInterval> | undefined

  /** Hands a chunk to the reader. @returns whether one was waiting */
  const deliver = (value: string): boolean => {
    if (!onChunk) return false
    const tell = onChunk
    onChunk = undefined
    tell({ done: false, value })
    return true
  }
  const end = (): void => {
    if (ended) return
    ended = true
    clearInterval(timer)
    options.onEnd()
  }
  const arrive = (chunk: string): void => {
    pending = false
    if (!deliver(chunk)) arrived = chunk
    onArrival?.()
  }
  const arriveError = (error: unknown): void => arrive(sseEvent(JSON.stringify(options.errorEvent(error))))

  const onBatch = ({ done, value }: IteratorResult<unknown, undefined>): void => {
    if (done) {
      closed = true
      void events.complete().then((last) => arrive(last + (events.end ?? DONE)), arriveError)
      return
    }
    let chunk: string
    try {
      chunk = events.encode(value)
      if (chunk.length > LARGE_ANSWER) options.hold(2 * chunk.length)
    } catch (error) {
      onError(error)
      return
    }
    if (chunk === '') pull()
    else arrive(chunk)
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
      onChunk = tell
      if (!pending) pull()
    } else {
      if (!left) end()
      tell({ done: true, value: undefined })
    }
  }
  const stop = async (): Promise<void> => {
    clearInterval(timer)
    left = true
    try {
      if (pending) await new Promise<void>((arrival) => (onArrival = arrival))
      if (!closed) {
        closed = true
        await events.disconnect()
      }
    } finally {
      end()
    }
  }
  return new Pieces(read, stop)
}
