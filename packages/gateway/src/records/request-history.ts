import type { KV } from '@turnpike/core'
import { callHook } from '@turnpike/core/helpers'
import { hourOf } from '@turnpike/core/internal'
import type { RequestLog } from '@turnpike/http'
import { FAILED_HOURLY, FAILED_MS, HISTORY_MS } from '../conventions.js'
import type { OnRequest } from './on-request.js'
import type { RequestEvent } from './request-events.js'
import { eventOf, isToModel } from './request-events.js'

/** Keeps failed requests in the store, and counts all by hour. */
export interface RequestHistory {
  /** For `onRequest` of the gateway. */
  onRequest: OnRequest
  /** Writes what waits. Call it before the store is closed. */
  flush(): Promise<void>
}

/**
 * How a request failed: `refused` = with a status from 400 to 499; `left` = its client went before the end; `failed` = in another way, also in the
 * middle of a stream. Undefined where it did not.
 */
function failureOf(log: RequestLog): 'refused' | 'failed' | 'left' | undefined {
  const { status, outcome } = log as RequestLog & Pick<RequestEvent, 'outcome'>
  if (outcome === 'client_abort') return 'left'
  if (status >= 500 || (status < 400 && outcome !== undefined && outcome !== 'complete')) return 'failed'
  return status >= 400 ? 'refused' : undefined
}

/** The key of a failed request. */
export const failedKey = (id: string): string[] => ['failed-request', id]

/** What is greater than the ids of all requests that began before a time, in ISO 8601. */
export function idAt(time: string): string {
  const digits = Date.parse(time).toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7000-8000-000000000000`
}

/** The longest text of an event that callers or upstreams have a part in. */
const LONGEST = 1_000

const cut = (text: string | undefined): string | undefined => text?.slice(0, LONGEST)

const HOUR_MS = 3_600_000
/** Codes of errors that are counted in an hour, and characters of one; what is beyond counts as `other`. */
const CODES = 200
const CODE_LENGTH = 100

/** The requests that ended in an hour. */
export interface EndedHour {
  hour: string
  /** `requests`, those that were `refused`, `failed` or `left`, and `code_…` of each error. */
  fields: Readonly<Record<string, number>>
}

/** Reads how many requests ended in each hour since `from`, oldest first, at most 720. */
export async function endedHours(kv: KV, from: Date): Promise<EndedHour[]> {
  const hours: EndedHour[] = []
  const prefix = ['request-hour']
  for (
    let after: readonly string[] | undefined = [...prefix, hourOf(new Date(from.getTime() - HOUR_MS).toISOString())];
    after;
  ) {
    const page: Awaited<ReturnType<typeof kv.list<Record<string, number>>>> = await kv.list(prefix, {
      after,
      limit: 500,
    })
    for (const { key, value } of page.items) hours.push({ hour: key[1]!, fields: value })
    after = page.next
  }
  return hours
}

/**
 * Keeps failed requests in the store for seven days, so that `GET /admin/failed-requests` finds them after a restart: the fields of their events, and never a body. A process
 * keeps 100 an hour of each user, 100 of all callers without a valid key, and 1,000 in all, so that nobody fills the store; those beyond are counted.
 * What is to be kept is written once a second.
 * @param options.onError called where it could not be written; it is lost then. Default none
 * @example
 * const history = requestHistory(kv)
 * createGateway({ router, kv, onRequest: history.onRequest, routes: [conventionRoutes] })
 */
export function requestHistory(
  kv: KV,
  { now = Date.now, onError }: { now?: () => number; onError?: (error: unknown) => void } = {},
): RequestHistory {
  let waiting: RequestEvent[] = []
  let counts = new Map<string, Record<string, number>>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let hour = ''
  let hourEnd = 0
  /** How many were kept in this hour, of each user and in all. */
  let kept = new Map<string, number>()
  let all = 0
  /** The codes of errors in this hour: those of upstreams may be any. */
  let codes = new Set<string>()

  const countedAs = (code: string): string => {
    if (code.length > CODE_LENGTH || (codes.size >= CODES && !codes.has(code))) return 'other'
    codes.add(code)
    return code
  }
  const mayKeep = (user: string): boolean => {
    const count = kept.get(user) ?? 0
    if (count >= FAILED_HOURLY.each || all >= FAILED_HOURLY.all) return false
    kept.set(user, count + 1)
    all++
    return true
  }
  const flush = async (): Promise<void> => {
    clearTimeout(timer)
    timer = undefined
    if (counts.size === 0) return
    const [events, hours] = [waiting, counts]
    waiting = []
    counts = new Map()
    const expiresAt = now() + FAILED_MS
    try {
      await kv.commit({
        set: events.map((event) => ({ key: failedKey(event.request_id), value: event, expiresAt })),
        sum: [...hours].map(([hour, add]) => ({ key: ['request-hour', hour], add })),
      })
    } catch (error) {
      callHook(() => onError?.(error))
    }
  }

  return {
    onRequest(log: RequestLog) {
      if (!isToModel(log)) return
      const time = now()
      if (time >= hourEnd) {
        hour = hourOf(new Date(time).toISOString())
        hourEnd = (Math.floor(time / HOUR_MS) + 1) * HOUR_MS
        kept = new Map()
        codes = new Set()
        all = 0
      }
      const failure = failureOf(log)
      let fields = counts.get(hour)
      if (!fields) counts.set(hour, (fields = {}))
      const count = (name: string): void => void (fields[name] = (fields[name] ?? 0) + 1)
      count('requests')
      if (failure) {
        const event = eventOf(log, time)!
        count(failure)
        count(`code_${countedAs(String(event.error_code ?? event.outcome ?? event.status))}`)
        if (mayKeep(event.user_id ?? ''))
          waiting.push({
            ...event,
            failed_calls: cut(event.failed_calls),
            calls_ms: cut(event.calls_ms),
            error_field: cut(event.error_field),
          })
      }
      if (!timer) {
        timer = setTimeout(() => void flush(), HISTORY_MS)
        // The process may end before: it flushes then.
        if (typeof timer === 'object') timer.unref()
      }
    },
    flush,
  }
}
