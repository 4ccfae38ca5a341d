import { callHook, extend } from '@turnpike/core/helpers'
import type { Exchange } from './shells/exchange.js'

/**
 * The log record of one request, made when its reply is complete. Failed requests have `error_type` and `error_code`; the caller's
 * `traceparent` is included where it sent a valid one. Bodies, keys and paths as sent are never included.
 */
export interface RequestLog {
  request_id: string
  method: string
  /** Path pattern of the matched route; '' where none matched. */
  route: string
  status: number
  duration_ms: number
  ip: string
  [field: string]: string | number | boolean
}

/** Collects the fields of a {@link RequestLog} while the request runs. */
export interface LogLine {
  add(fields: Record<string, string | number | boolean>): void
  end(status: number): void
}

/** W3C Trace Context: version, id of the trace, id of the caller's span, flags. */
const TRACEPARENT = /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

/** Starts the log record of a request; its `end` passes the record to `onRequest`. */
export function openLog(
  onRequest: (log: RequestLog) => void,
  exchange: Exchange,
  route: string,
  requestId: string,
): LogLine {
  const started = performance.now()
  const { method } = exchange
  // Read now: a socket that was closed has no address.
  const ip = exchange.ip()
  const fields: Record<string, string | number | boolean> = {}
  const traceparent = exchange.header('traceparent')
  if (traceparent !== undefined && TRACEPARENT.test(traceparent)) fields['traceparent'] = traceparent
  return {
    add: (more) => void Object.assign(fields, more),
    end(status) {
      const duration_ms = Math.round(performance.now() - started)
      callHook(() => onRequest(extend(fields, { request_id: requestId, method, route, status, duration_ms, ip })))
    },
  }
}
