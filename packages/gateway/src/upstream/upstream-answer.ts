import type {
  Considered,
  Note,
  Outcome,
  Target,
  Units,
  UpstreamCall,
  UpstreamFailure,
  UsageRecord,
} from '@turnpike/core'
import { toUsd, UpstreamError } from '@turnpike/core'
import { follow } from '@turnpike/core/helpers'
import { metered, reported } from '../records/meter.js'
import { isBilled, kindOf, outcomeOf } from '../records/outcome.js'
import type { Used } from '../records/record.js'
import { estimated, recordOf, sentOf, sumUnits } from '../records/record.js'
import { servedTier } from '../limits/service-tier.js'
import type { AdmittedRequest } from './upstream-request.js'
import { elapsed } from './upstream-request.js'
import type { UpstreamWatch } from './upstream-watch.js'
import { warnings } from './warnings.js'

/** The cost of a request in US dollars; 0 with `priced: false` where the price is not known. */
export type Cost = { cost: number; priced: boolean }

/** Calls one target. */
type Run<T> = (target: Target, call: UpstreamCall) => Promise<T>

/** The name of a target, without characters that separate it from others. */
const nameOf = (provider: string, model: string): string => `${provider}/${model.replace(/[^\w./:@-]/g, '_')}`

/** The compared candidates, as the header `x-gateway-considered`: `openai/gpt-4o-mini=0.00001; google/gemini-2.5-pro=0.002(unhealthy)`. */
const comparison = (considered: Considered[]): string =>
  considered
    .map(({ provider, model, expected_nano_usd: nano, excluded, behind }) => {
      const expected = nano === null ? 'unpriced' : decimal(toUsd(nano))
      return `${nameOf(provider, model)}=${expected}${excluded || behind ? `(${excluded ?? behind})` : ''}`
    })
    .join('; ')

/** US dollars without an exponent. */
const decimal = (usd: number): string => usd.toFixed(9).replace(/\.?0+$/, '')

/** The usage that a failed call reported, if any, or several calls. */
const spentOf = (error: unknown): Pick<UpstreamFailure, 'usage' | 'calls'> =>
  UpstreamError.is(error) ? error.failure : {}

/**
 * Whether a call that failed before its first event is charged: its upstream bills it, or may bill it though it reported nothing, because the
 * call was stopped, for a client that left or under a limit. Other such failures cost nothing.
 */
const isCharged = ({ watch, attempts, hold }: AdmittedRequest, error: unknown): boolean =>
  isBilled(error) || (attempts > 0 && watch.stop !== undefined && (watch.disconnected || hold !== undefined))

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

/** The cause of a failure: where the gateway stopped the call, the reason for that and not the broken connection that followed. */
export const reasonOf = ({ watch }: AdmittedRequest, error: unknown): unknown => watch.stop?.error ?? error

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
    watch.expect(own ? Infinity : options[of])
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
        watch.relax()
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

/** The usage record of a call. */
function usageRecord(upstream: AdmittedRequest, used: Used, outcome: Outcome): UsageRecord {
  const { options, head, target, started, attempts, first_token_ms } = upstream
  return recordOf(head, target, used, {
    attempts: Math.max(attempts, 1),
    outcome,
    latency_ms: elapsed(started),
    first_token_ms,
    timestamp: new Date(options.now()).toISOString(),
  })
}

const sumOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one + other

/** Writes the usage record of a call after which the request goes on to another target, and so does its hold. */
async function recordBefore(upstream: AdmittedRequest, used: Used, outcome: Outcome): Promise<void> {
  const { options, hold, before } = upstream
  const made = usageRecord(upstream, used, outcome)
  await options.ledger.append(made, hold, { goesOn: true })
  upstream.before = {
    tokens: before.tokens + made.tokens,
    cost_nano_usd: sumOf(before.cost_nano_usd, made.cost_nano_usd),
  }
}

/** What a call that was given up at its provider's time-out may cost, as far as that can be known. */
const usedOverdue = ({ need, target }: AdmittedRequest): Used =>
  estimated(need.most(target), servedTier(need.tier?.(target), undefined, undefined), need.calls?.(target))

/** Charges an answer of which a content filter left nothing, beside what is charged for that of the fallback. @returns the error after which that is called */
export async function charged(upstream: AdmittedRequest, used: Used): Promise<UpstreamError> {
  await recordBefore(upstream, used, 'refused')
  return new UpstreamError('A content filter withheld the answer', {
    provider: upstream.target.provider.id,
    kind: 'status',
    caller: true,
    accepted: true,
    refused: 'content',
    withheld: true,
  })
}

/** Writes the usage record. */
function record(upstream: AdmittedRequest, used: Used, outcome: Outcome): Promise<Cost> {
  const { options, call, hold, attempts, first_token_ms, before } = upstream
  const made = usageRecord(upstream, used, outcome)
  const { prompt_tokens, completion_tokens } = made
  const nano = sumOf(before.cost_nano_usd, made.cost_nano_usd)
  call.log({ outcome, attempts, prompt_tokens, completion_tokens, cost_usd: toUsd(nano ?? 0) })
  if (nano === null) call.log({ unpriced: true })
  upstream.settle?.(made.tokens + before.tokens)
  if (first_token_ms !== null) call.log({ first_token_ms })
  return options.ledger.append(made, hold).then(() => ({ cost: toUsd(nano ?? 0), priced: nano !== null }))
}

/**
 * What a failed call is charged whose upstream reported nothing. What a caller can cause at will, by leaving or by asking for more than comes in
 * time, costs under a limit the most that may be billed, and without one what was sent; what others cause, what was expected.
 */
function unitsOfFailure({ need, target, hold, watch }: AdmittedRequest, outcome: Outcome): Units {
  const expected = need.expected(target)
  if (!watch.stop || outcome === 'server_shutdown') return expected
  return hold ? need.most(target) : sentOf(expected)
}

const ONE_CALL = { reported: 1, unreported: 0, open: 0 }

/** What calls of a request have reported, with an estimate of others. @param others how many may be billed without a report */
function withOthers(upstream: AdmittedRequest, told: Used, others: number, outcome: Outcome): Used {
  const { need, target } = upstream
  const calls = told.calls! + others
  const share = others / (need.calls?.(target) ?? calls)
  const units = Object.entries(unitsOfFailure(upstream, outcome)).map(([name, count]) => [
    name,
    Math.ceil(count * share),
  ])
  const guess = estimated(Object.fromEntries(units) as Units)
  const usage = {
    prompt_tokens: told.usage.prompt_tokens + guess.usage.prompt_tokens,
    completion_tokens: told.usage.completion_tokens + guess.usage.completion_tokens,
  }
  return { ...told, usage, units: sumUnits(told.units, guess.units), calls }
}

/**
 * Writes the usage record of a failed request, if it is known to have used anything; drops its hold otherwise.
 * @param error as it came, also where the gateway stopped the call: some of several calls may have reported their usage
 */
async function recordFailure(upstream: AdmittedRequest, error: unknown): Promise<void> {
  const { options, need, target, hold, watch } = upstream
  const { usage, calls = ONE_CALL } = spentOf(error)
  const spent = reported(usage)
  const tier = servedTier(need.tier?.(target), undefined, spent)
  const outcome = watch.stop?.outcome ?? outcomeOf(error)
  if (spent) {
    const told = metered(spent, 'partial', tier, calls.reported)
    const others = calls.unreported + (watch.stop ? calls.open : 0)
    await record(upstream, others === 0 ? told : withOthers(upstream, told, others, outcome), outcome)
  } else if (isCharged(upstream, reasonOf(upstream, error)))
    await record(upstream, estimated(unitsOfFailure(upstream, outcome), tier, need.calls?.(target)), outcome)
  else {
    upstream.settle?.(upstream.before.tokens)
    // A hold that cannot be dropped now is settled later, like that of a crashed process.
    if (hold) await options.ledger.drop(hold).catch(() => undefined)
  }
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
