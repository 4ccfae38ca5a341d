/** The content type and the headers that keep proxies from holding a stream back. */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

const DONE = 'data: [DONE]\n\n'
const PING = ': ping\n\n'

/** One event as it goes over the wire. */
const encodeEvent = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/**
 * A stream's body: a piece per batch, then `[DONE]`, or an error event in place of it (ruling 12: without an `event:` line);
 * and a comment whenever `heartbeatMs` passed while the next piece was waited for.
 * Written by hand, because each generator in the way of a chunk, and each race against a timer, costs as much as the chunk.
 */
export function sseBody(
  events: AsyncIterable<object[]>,
  options: { errorEvent: (error: unknown) => object; heartbeatMs: number; onEnd: () => void },
): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const source = events[Symbol.asyncIterator]()
      let started = false
      let pending = false
      /** The last piece has been made. */
      let complete = false
      let ended = false
      /** A piece that came while a comment was on its way. */
      let arrived: string | undefined
      let deliver: ((piece: string) => void) | undefined
      const timer = setInterval(() => deliver?.(PING), options.heartbeatMs)

      const end = (): void => {
        if (ended) return
        ended = true
        clearInterval(timer)
        options.onEnd()
      }
      const arrive = (piece: string): void => {
        pending = false
        if (deliver) deliver(piece)
        else arrived = piece
      }
      const pull = (): void => {
        started = pending = true
        source.next().then(
          ({ done, value }) => {
            if (done) {
              complete = true
              arrive(DONE)
            } else if (value.length === 0) pull()
            else {
              let text = ''
              for (const event of value) text += encodeEvent(event)
              arrive(text)
            }
          },
          (error: unknown) => {
            complete = true
            arrive(encodeEvent(options.errorEvent(error)))
          },
        )
      }

      return {
        next: () =>
          new Promise((resolve) => {
            if (arrived !== undefined) {
              resolve({ done: false, value: arrived })
              arrived = undefined
            } else if (complete) {
              end()
              resolve({ done: true, value: undefined })
            } else {
              deliver = (value) => {
                deliver = undefined
                resolve({ done: false, value })
              }
              if (!pending) pull()
            }
          }),
        async return() {
          end()
          // A generator that never ran has no `finally` to run; one step lets it see that the client is gone.
          if (!started) await source.next().catch(() => undefined)
          await source.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
