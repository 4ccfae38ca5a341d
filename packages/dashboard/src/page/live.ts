import { signal } from '@preact/signals'
import { readEvents } from '@turnpike/client'
import type { RequestEvent } from './answers.js'
import { send } from './api.js'

/** How many requests are kept. */
const KEEP = 10_000
/** Milliseconds between two updates of the page, however many requests end. */
const UPDATE_MS = 500
const RECONNECT_MS = 2_000

/** The last requests, newest first. */
export const requests = signal<readonly RequestEvent[]>([])
/** Requests that ended and are not among them, as this page was too slow for them. */
export const missed = signal(0)
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting')

/** The last requests, oldest first, and at times a few more. */
let kept: RequestEvent[] = []
let timer: ReturnType<typeof setTimeout> | undefined

const publish = (): void => {
  timer = undefined
  kept = kept.slice(-KEEP)
  requests.value = kept.toReversed()
}

async function follow(leave: AbortSignal): Promise<void> {
  const last = kept.at(-1)?.request_id
  const response = await send('admin/events', {
    signal: leave,
    ...(last !== undefined && { headers: { 'last-event-id': last } }),
  })
  connection.value = 'live'
  for await (const { event, data } of readEvents(response.body!)) {
    if (event === 'dropped') missed.value += (JSON.parse(data) as { dropped: number }).dropped
    else kept.push(JSON.parse(data) as RequestEvent)
    if (kept.length > 2 * KEEP) kept = kept.slice(-KEEP)
    timer ??= setTimeout(publish, UPDATE_MS)
  }
}

/** Follows the requests that the gateway serves. @returns a function that ends it */
export function followRequests(): () => void {
  const leave = new AbortController()
  connection.value = 'connecting'
  const run = async (): Promise<void> => {
    while (!leave.signal.aborted) {
      // The stream ends after a minute, to be authorised again.
      await follow(leave.signal).catch(() => leave.signal.aborted || (connection.value = 'lost'))
      if (!leave.signal.aborted) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
    }
  }
  void run()
  return () => {
    leave.abort()
    clearTimeout(timer)
    publish()
  }
}
