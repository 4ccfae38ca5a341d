import { ApiError, UpstreamError } from '@turnpike/core'
import type { RequestLog } from '@turnpike/http'
import { pino } from 'pino'

/** The frames of a stack trace, without the message at its head, which may quote a caller's input. */
const frames = (error: Error): string =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')

/** The fields of an error that may be logged: names and codes, never messages of an upstream or a parser. */
function describe(error: unknown): object {
  if (UpstreamError.is(error)) {
    const { provider, kind, status, code, cause } = error.failure
    return {
      error: error.name,
      provider,
      kind,
      upstream_status: status,
      upstream_code: code,
      cause: (cause as { code?: string })?.code,
    }
  }
  if (ApiError.is(error))
    return { error: error.name, code: error.code, ...(error.cause ? { cause: describe(error.cause) } : {}) }
  return error instanceof Error
    ? { error: error.name, code: (error as { code?: string }).code, stack: frames(error) }
    : { error: typeof error }
}

/** JSON lines on standard output. */
export function createLog(level: string) {
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime })
  return {
    onRequest: (fields: RequestLog) => log.info(fields, 'request'),
    onError: (error: unknown, context: object) => log.error({ ...context, ...describe(error) }, 'error'),
    info: (message: string) => log.info(message),
  }
}
