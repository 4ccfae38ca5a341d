import { readerOf } from '@turnpike/core/helpers'
import type { Call, EventStream } from '@turnpike/http'
import { sse, sseEvent, whole } from '@turnpike/http'
import * as v from 'valibot'
import { EVENTS_MS, EVENTS_WAITING } from '../../conventions.js'
import type { RequestEvents } from '../../records/request-events.js'
import { RequestEvent } from '../../records/request-events.js'
import { operation } from '../../operation.js'

/** Sent at once, so that readers know that the stream is open; `retry` is the reconnection delay of browsers, in milliseconds. */
const OPENING = 'retry: 2000\n\n'

/** The data of the event `dropped`: how many events were dropped before the next. */
const Dropped = v.object({ dropped: v.number() })

const Query = v.object({ replay: v.optional(whole(0, 1_000_000)) })

/** Serialises events. @param dropped how many were dropped before them */
const textOf = (events: RequestEvent[], dropped = 0): string =>
  (dropped > 0 ? `event: dropped\n${sseEvent(JSON.stringify({ dropped }))}` : '') +
  events.map((event) => `id: ${event.request_id}\n${sseEvent(JSON.stringify(event))}`).join('')

/** The kept events after the one with the id `lastId`, at most the last `replay`. */
function unseen(kept: RequestEvent[], lastId: string | undefined, replay = kept.length): RequestEvent[] {
  const seen = lastId === undefined ? -1 : kept.findIndex(({ request_id }) => request_id === lastId)
  return kept.slice(Math.max(seen + 1, kept.length - replay))
}

/** A stream of events until the reader disconnects, {@link EVENTS_MS} have passed or `stopping` is aborted. It subscribes at the first read. */
function follow(
  events: RequestEvents,
  { header, onDisconnect }: Pick<Call, 'header' | 'onDisconnect'>,
  replay: number | undefined,
  stopping: AbortSignal,
): EventStream<string> {
  let waiting: RequestEvent[] = []
  let dropped = 0
  let opened = false
  let ended = stopping.aborted
  let wake: (() => void) | undefined
  let unsubscribe: (() => void) | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const end = (): void => {
    ended = true
    clearTimeout(timer)
    unsubscribe?.()
    stopping.removeEventListener('abort', end)
    wake?.()
  }
  const add = (event: RequestEvent): void => {
    waiting.push(event)
    if (waiting.length > EVENTS_WAITING) {
      waiting.shift()
      dropped++
    }
    wake?.()
  }
  const open = (): string => {
    opened = true
    onDisconnect(end)
    if (!ended) {
      stopping.addEventListener('abort', end)
      unsubscribe = events.subscribe(add)
      timer = setTimeout(end, EVENTS_MS)
    }
    return OPENING + textOf(unseen(events.recent(), header('last-event-id'), replay))
  }

  return {
    read: readerOf({
      async next() {
        if (!opened) return { done: false, value: open() }
        if (waiting.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve))
        if (waiting.length === 0) return { done: true, value: undefined }
        const value = textOf(waiting, dropped)
        waiting = []
        dropped = 0
        return { done: false, value }
      },
    }),
    encode: (text) => text,
    complete: async () => '',
    end: ': end\n\n',
    async fail(error) {
      end()
      return error
    },
    async disconnect() {
      end()
    },
  }
}

/** GET /admin/events: an event per finished request, for `EventSource`; the kept events come first. */
export const adminEvents = (events: RequestEvents, stopping: AbortSignal) =>
  operation({
    id: 'admin.events',
    summary: 'Tells of requests as they end, without what they said.',
    access: 'admin',
    query: Query,
    events: v.union([RequestEvent, Dropped]),
    headers: ['Last-Event-ID'],
    run: (_, { query: { replay } }, call) => sse(follow(events, call, replay, stopping)),
  })
