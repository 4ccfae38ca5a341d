import type { Considered, Note, Outcome, Target, UpstreamCall } from '@turnpike/core'
import { toUsd, UpstreamError } from '@turnpike/core'
import { follow } from '@turnpike/core/helpers'
import type { Cost } from '../records/charge.js'
import { isCharged, reasonOf, record, recordBefore, recordFailure, usedOverdue } from '../records/charge.js'
import { kindOf } from '../records/outcome.js'
import type { Used } from '../records/record.js'
import type { AdmittedRequest } from './upstream-request.js'
import { elapsed, timeOutOf } from './upstream-request.js'
import type { UpstreamWatch } from './upstream-watch.js'
import { warnings } from './warnings.js'

/** Calls one target. */
type Run<T> = (target: Target, call: UpstreamCall) => Promise<T>

/** The name of a target, without characters that separate it from others. */
const nameOf = (provider: string, model: string): string => `${provider}/${model.replace(/[^\w./:@-]/g, '_')}`

/** The compared candidates that the caller may use, as the header `x-gateway-considered`: `openai/gpt-4o-mini=0.00001; google/gemini-2.5-pro=0.002(unhealthy)`. */
const comparison = (considered: Considered[]): string =>
  considered
    .filter(({ excluded }) => excluded !== 'forbidden')
    .map(({ provider, model, expected_nano_usd: nano, excluded, behind }) => {
      const expected = nano === null ? 'unpriced' : decimal(toUsd(nano))
      return `${nameOf(provider, model)}=${expected}${excluded || behind ? `(${excluded ?? behind})` : ''}`
    })
    .join('; ')

/** US dollars without an exponent. */
const decimal = (usd: number): string => usd.toFixed(9).replace(/\.?0+$/, '')

/**
 * Adds a failed call to the log: `google/gemini-2.5-pro: rate_limited 429, openai/gpt-4o: timeout`, and its times: `0-120, 121-600`.
 * @param begun milliseconds from the start of the request
 */
function logFailure(
  upstream: AdmittedRequest,
  { provider, model }: Target,
  begun: number,
  kind: string,
  status?: number,
): void {
  const failed = `${nameOf(provider.id, model)}: ${kind}${status === undefined ? '' : ` ${status}`}`
  const comma = upstream.failedCalls === '' ? '' : ', '
  upstream.failedCalls += comma + failed
  upstream.callsMs += `${comma}${begun}-${elapsed(upstream.started)}`
  upstream.call.log({ failed_calls: upstream.failedCalls, calls_ms: upstream.callsMs })
}

/** The signal of a call that ends at a time-out of its provider's own, while the request goes on to the next target. */
function timed(watch: UpstreamWatch, { provider, options }: Target, of: 'firstEventMs' | 'wholeAnswerMs') {
  const ms = options?.[of]
  if (ms === undefined) return undefined
  const { controller, dispose } = follow(watch)
  const overdue = { provider: provider.id, kind: 'timeout', accepted: true, overdue: true } as const
  const timer = setTimeout(() => {
    // Nobody waits for the next one.
    if (watch.disconnected) watch.abort()
    else controller.abort(new UpstreamError('The upstream did not answer in time', overdue))
  }, ms)
  return { signal: controller.signal, answered: () => clearTimeout(timer), end: dispose }
}

/** Sends the request to one target after the other until one accepts it. @param of the time-out of a target */
function attempt<T>(
  upstream: AdmittedRequest,
  run: Run<T>,
  of: 'firstEventMs' | 'wholeAnswerMs',
): Promise<{ value: T }> {
  const { options, call, ownNotes, targets, watch, hold } = upstream
  const { router, ledger, now } = options
  return router.attempt(targets, watch, (target) => {
    if (watch.aborted) return Promise.reject(watch.reason!)
    const own = timed(watch, target, of)
    watch.begin(own ? Infinity : options[of])
    call.log({ provider: target.provider.id, model: target.model })
    upstream.target = target
    upstream.notes = ownNotes
    upstream.attempts++
    const begun = elapsed(upstream.started)
    const onNotes = (notes: Note[]): void => void (upstream.notes = [...ownNotes, ...notes])
    const onRepeat = (): void => void upstream.attempts++
    // No time-out runs between two attempts.
    return run(target, { signal: own?.signal ?? watch, memory: call.memory, onNotes, onRepeat }).then(
      (value) => {
        watch.answered()
        own?.answered()
        if (upstream.callsMs !== '') call.log({ calls_ms: `${upstream.callsMs}, ${begun}` })
        return value
      },
      (error: unknown) => {
        watch.relax()
        own?.answered()
        own?.end()
        const reason = reasonOf(upstream, error)
        if (UpstreamError.is(reason) && reason.failure.code === 'context_length_exceeded')
          reason.failure.context ??= target.limits?.()?.context
        const kind = kindOf(reason)
        if (kind) logFailure(upstream, target, begun, kind, (reason as UpstreamError).failure.status)
        if (hold && UpstreamError.is(reason) && reason.failure.overdue)
          return recordBefore(upstream, usedOverdue(upstream), 'idle_timeout').then(() => {
            throw error
          })
        // A failure that is billed gets a usage record, and is counted by its outcome.
        if (kind && !isCharged(upstream, reason) && !(reason as UpstreamError).failure.withheld)
          ledger.failed({ provider: target.provider.id, kind, timestamp: new Date(now()).toISOString() })
        throw error
      },
    )
  })
}

/** Sets the headers that describe how the request was served, once a target has accepted it or its answer begins. */
export function explain({ call, head, target, notes, attempts, explained }: AdmittedRequest): void {
  if (notes.length > 0) call.setHeader('x-gateway-warnings', warnings(notes))
  if (target.fallback) call.setHeader('x-gateway-fallback', target.fallback)
  if (!explained) return
  call.setHeader('x-gateway-provider', target.provider.id)
  call.setHeader('x-gateway-attempts', String(attempts))
  if (head.considered) call.setHeader('x-gateway-considered', comparison(head.considered))
}

/** Reads an answer, which its upstream bills. @throws UpstreamError if that fails, whatever was thrown */
function reading<T, R>({ options, target }: AdmittedRequest, read: (answer: T) => R, answer: T): R {
  try {
    return read(answer)
  } catch (cause) {
    const failure = {
      provider: target.provider.id,
      kind: 'malformed',
      accepted: true,
      unreported: true,
      cause,
    } as const
    const error = new UpstreamError('The answer cannot be read', failure)
    options.router.report(target, error)
    throw error
  }
}

/** Requests a whole answer and writes its usage record. */
export async function whole<T, U extends Used>(
  upstream: AdmittedRequest,
  run: Run<T>,
  meter: (answer: T) => U,
): Promise<{ answer: T; used: U; cost: Cost }> {
  const { options, call, watch, explained } = upstream
  let recorded = false
  try {
    const { value: answer } = await attempt(upstream, run, 'wholeAnswerMs')
    explain(upstream)
    const used = reading(upstream, meter, answer)
    options.router.report(upstream.target, undefined, used.usage)
    recorded = true
    const cost = await record(upstream, used, watch.disconnected ? 'client_abort' : 'complete')
    if (explained) call.setHeader('x-gateway-cost', decimal(cost.cost))
    return { answer, used, cost }
  } catch (error) {
    const reason = reasonOf(upstream, error)
    if (!recorded) await recordFailure(upstream, error)
    throw reason
  } finally {
    watch.end()
  }
}

/**
 * Requests a streamed answer and resolves with what `open` makes of its beginning; `close` must follow. If either fails, the usage record is
 * written and the connection to the upstream closed.
 */
export async function begin<T, R>(upstream: AdmittedRequest, run: Run<T>, open: (begun: T) => R): Promise<R> {
  try {
    const { value } = await attempt(upstream, run, 'firstEventMs')
    explain(upstream)
    return reading(upstream, open, value)
  } catch (error) {
    const reason = reasonOf(upstream, error)
    try {
      await recordFailure(upstream, error)
    } finally {
      upstream.watch.abort()
      upstream.watch.end()
    }
    throw reason
  }
}

/**
 * Reads a streamed answer to its end without its client, so that what it used is known.
 * @param count called with each piece
 * @returns whether it is complete
 */
export async function drain<T>(
  { watch, target, options }: AdmittedRequest,
  iterator: AsyncIterator<T, unknown>,
  count: (piece: T) => void,
): Promise<boolean> {
  try {
    for (;;) {
      watch.expect(timeOutOf(target, 'betweenEventsMs', options))
      const { done, value } = await iterator.next()
      watch.relax()
      if (done) return true
      count(value)
    }
  } catch {
    return false
  }
}

/** Notes that the first of what was asked for has come. */
export const firstToken = (upstream: AdmittedRequest): void =>
  void (upstream.first_token_ms ??= elapsed(upstream.started))

/** Ends a streamed answer and writes its usage record. @param error why it failed, if it did */
export async function close(upstream: AdmittedRequest, outcome: Outcome, used: Used, error?: unknown): Promise<Cost> {
  const { options, target, watch } = upstream
  if (outcome !== 'complete') watch.abort()
  // A client that disconnected does not count as a success of the provider.
  options.router.report(target, outcome === 'complete' ? undefined : (error ?? watch.stop?.error), used.usage)
  // No time-out runs while the usage record is written.
  watch.relax()
  try {
    return await record(upstream, used, outcome)
  } finally {
    watch.end()
  }
}
