/** The content type and the headers that keep proxies from holding a stream back. */
export const sseHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

export const DONE = 'data: [DONE]\n\n'
const PING = ': ping\n\n'

/** One event as it goes over the wire. */
export const encodeEvent = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/** The text of a stream: a piece per batch, then `[DONE]`, or an error event in place of it (ruling 12: without an `event:` line). */
async function* encode(
  events: AsyncIterable<object[]>,
  errorEvent: (error: unknown) => object,
): AsyncGenerator<string> {
  try {
    for await (const batch of events) {
      let text = ''
      for (const event of batch) text += encodeEvent(event)
      if (text !== '') yield text
    }
  } catch (error) {
    yield encodeEvent(errorEvent(error))
    return
  }
  yield DONE
}

/**
 * A stream's body, with a comment whenever `heartbeatMs` passed while the next piece was waited for.
 * One interval per stream and one promise per piece: a race per piece would cost more and pile up its losers.
 */
export function sseBody(
  events: AsyncIterable<object[]>,
  options: { errorEvent: (error: unknown) => object; heartbeatMs: number; onEnd: () => void },
): AsyncIterable<string> {
  return {
    [Symbol.asyncIterator]() {
      const source = encode(events, options.errorEvent)
      let started = false
      let pending = false
      let arrived: IteratorResult<string> | undefined
      let deliver: ((result: IteratorResult<string>) => void) | undefined
      const timer = setInterval(() => deliver?.({ done: false, value: PING }), options.heartbeatMs)
      let ended = false
      const end = (): void => {
        if (ended) return
        ended = true
        clearInterval(timer)
        options.onEnd()
      }
      const arrive = (result: IteratorResult<string>): void => {
        pending = false
        if (result.done) end()
        if (deliver) deliver(result)
        else arrived = result
      }
      return {
        next: () =>
          new Promise((resolve) => {
            if (arrived) {
              resolve(arrived)
              arrived = undefined
              return
            }
            deliver = (result) => {
              deliver = undefined
              resolve(result)
            }
            if (pending) return
            started = pending = true
            void source.next().then(arrive)
          }),
        async return() {
          end()
          // A generator that never ran has no `finally` to run; one step lets it see that the client is gone.
          if (!started) await source.next()
          await source.return(undefined)
          return { done: true, value: undefined }
        },
      }
    },
  }
}
