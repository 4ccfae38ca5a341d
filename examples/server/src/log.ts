import { ApiError, UpstreamError } from '@turnpike/core'
import { scrub } from '@turnpike/core/helpers'
import type { RequestLog } from '@turnpike/http'

/** Characters that are logged of an upstream's error code, which is a few words with underscores. */
const CODE_LENGTH = 100

/** The frames of a stack trace, without the message, which may contain a caller's input. */
const frames = (error: Error): string =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')

/** The loggable fields of an error: names and codes, but no messages of upstreams or parsers, which may contain user data. */
function describe(error: unknown): object {
  if (UpstreamError.is(error)) {
    const { provider, kind, status, code, cause } = error.failure
    return {
      error: error.name,
      provider,
      kind,
      upstream_status: status,
      upstream_code: code === undefined ? undefined : scrub(String(code).slice(0, CODE_LENGTH)),
      cause: (cause as { code?: string })?.code,
    }
  }
  if (ApiError.is(error))
    return { error: error.name, code: error.code, ...(error.cause ? { cause: describe(error.cause) } : {}) }
  return error instanceof Error
    ? { error: error.name, code: (error as { code?: string }).code, stack: frames(error) }
    : { error: typeof error }
}

/** Characters that JSON may contain unescaped, but that control a terminal, end a line for some readers of logs, or are hidden or reorder a line. */
const controls = /[\u007f-\u009f\u2028\u2029]|\p{Cf}/gu

/** The escapes of JSON, one for each half of a surrogate pair. */
const escaped = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')

/** The levels by their names. Lines have the numbers that readers of pino's lines know. */
const LEVELS = { silent: Infinity, error: 50, warn: 40, info: 30, debug: 20 }

/** Creates a logger that writes JSON lines to standard output: those of `level` and of the more severe ones. */
export function createLog(level: keyof typeof LEVELS) {
  let lines = ''
  const flush = (): void => {
    process.stdout.write(lines)
    lines = ''
  }
  const write = (name: keyof typeof LEVELS, fields: object, msg: string): void => {
    if (LEVELS[name] < LEVELS[level]) return
    // One write for the lines of a turn: it costs as much as four of them.
    if (lines === '') setImmediate(flush)
    const line = JSON.stringify({ level: LEVELS[name], time: new Date().toISOString(), ...fields, msg })
    lines += `${line.replace(controls, escaped)}\n`
  }
  process.on('exit', flush)
  // A reader that went away does not end the server.
  process.stdout.on('error', () => undefined)
  return {
    onRequest: (fields: RequestLog) => write('info', fields, 'request'),
    onError: (error: unknown, context: object) => write('error', { ...context, ...describe(error) }, 'error'),
  }
}
