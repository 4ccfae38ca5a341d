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
export const EVENT_END = '\n\n'

/** One event as it goes over the wire; `json` is a line of JSON. */
export const sseEvent = (json: string): string => EVENT_START + json + EVENT_END

/** A stream of events as an operation makes it. Exactly one of `complete`, `fail` and `leave` is called, once. */
export interface EventStream<Batch = unknown> {
  /** The next batch; asked for only while the client reads. */
  next(): Promise<IteratorResult<Batch, unknown>>
  /** The events of a batch, each as {@link sseEvent} makes it, which leave in one write; '' for none. */
  encode(batch: Batch): string
  /** `next` is done. Resolves with the last events, which `[DONE]` follows; rejects with what the client is told in its place. */
  complete(): Promise<string>
  /** What is written in place of `[DONE]`; default `[DONE]`. */
  readonly end?: string
  /** `next` or `encode` failed. Resolves with what the client is told. */
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
): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      /** A batch, or the end of the stream, is on its way. */
      let pending = false
      /** Told when it is there; set once the client has left. */
      let onArrival: (() => void) | undefined
      /** The last piece has been made, or the client has left. */
      let closed = false
      let ended = false
      /** A piece that came while a comment was on its way. */
      let arrived: string | undefined
      let resolve: ((result: IteratorResult<string>) => void) | undefined
      const timer = setInterval(() => deliver(PING), options.heartbeatMs)

      /** Hands a piece to the reader. @returns whether one was waiting */
      const deliver = (value: string): boolean => {
        if (!resolve) return false
        const waiting = resolve
        resolve = undefined
        waiting({ done: false, value })
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

      const onBatch = ({ done, value }: IteratorResult<unknown, unknown>): void => {
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
        void events.next().then(onBatch, onError)
      }
      const wait = (waiting: (result: IteratorResult<string>) => void): void => {
        resolve = waiting
        if (!pending) pull()
      }

      return {
        next() {
          if (arrived !== undefined) {
            const value = arrived
            arrived = undefined
            return Promise.resolve({ done: false, value })
          }
          if (pending || !closed) return new Promise(wait)
          end()
          return Promise.resolve({ done: true, value: undefined })
        },
        async return() {
          end()
          if (pending) await new Promise<void>((arrival) => (onArrival = arrival))
          if (!closed) {
            closed = true
            await events.leave()
          }
          return { done: true, value: undefined }
        },
      }
    },
  }
}
