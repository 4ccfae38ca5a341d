import { readerOf } from '@turnpike/core/helpers'
import type { EventStream } from '@turnpike/http'
import { sseEvent } from '@turnpike/http'

/** A stream of the values given, one to a batch; an error among them is where it fails. */
export function eventsOf(...values: (object | Error)[]): EventStream<object> {
  const rest = values.values()
  return {
    read: readerOf({
      async next() {
        const { done, value } = rest.next()
        if (value instanceof Error) throw value
        return done ? { done, value: undefined } : { done: false, value: value! }
      },
    }),
    encode: (value) => sseEvent(JSON.stringify(value)),
    complete: async () => '',
    fail: async (error) => error,
    disconnect: async () => undefined,
  }
}
