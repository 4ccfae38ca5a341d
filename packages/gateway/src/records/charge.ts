import type { Outcome, Units, UpstreamFailure, UsageRecord } from '@turnpike/core'
import { toUsd, UpstreamError } from '@turnpike/core'
import { EndedCalls } from '@turnpike/core/helpers'
import { servedTier } from '../limits/service-tier.js'
import type { AdmittedRequest } from '../upstream/upstream-request.js'
import { elapsed } from '../upstream/upstream-request.js'
import { metered, reported } from './meter.js'
import { isBilled, outcomeOf } from './outcome.js'
import type { Used } from './record.js'
import { estimated, recordOf, sentOf, sumUnits } from './record.js'

/** The cost of a request in US dollars; 0 with `priced: false` where the price is not known. */
export type Cost = { cost: number; priced: boolean }

/** The cause of a failure: where the gateway stopped the call, the reason for that and not the broken connection that followed. */
export const reasonOf = ({ watch }: AdmittedRequest, error: unknown): unknown =>
  watch.stop?.error ?? (EndedCalls.is(error) ? error.cause : error)

/** The usage that a failed call reported, if any, or several calls. */
function spentOf(error: unknown): Pick<UpstreamFailure, 'usage' | 'calls' | 'feeNanoUsd'> {
  if (EndedCalls.is(error)) return error.spent
  return UpstreamError.is(error) ? error.failure : {}
}

/**
 * Whether a call that failed before its first event is charged: its upstream bills it, or may bill it though it reported nothing, because the
 * call was stopped, for a client that left or under a limit. Other such failures cost nothing.
 */
export const isCharged = ({ watch, attempts, hold }: AdmittedRequest, error: unknown): boolean =>
  isBilled(error) || (attempts > 0 && watch.stop !== undefined && (watch.disconnected || hold !== undefined))

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
export async function recordBefore(upstream: AdmittedRequest, used: Used, outcome: Outcome): Promise<void> {
  const { options, hold, before } = upstream
  const made = usageRecord(upstream, used, outcome)
  await options.ledger.append(made, hold, { goesOn: true })
  upstream.before = {
    tokens: before.tokens + made.tokens,
    cost_nano_usd: sumOf(before.cost_nano_usd, made.cost_nano_usd),
  }
}

/** What a call that was given up may have used, as far as that can be known. */
const unitsGivenUp = ({ need, target }: AdmittedRequest): Units => need.givenUp?.(target) ?? need.most(target)

/** What is charged for a call that was given up at its provider's time-out. */
export function usedOverdue(upstream: AdmittedRequest): Used {
  const { need, target } = upstream
  return estimated(unitsGivenUp(upstream), servedTier(need.tier?.(target), undefined, undefined), need.calls?.(target))
}

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
export function record(upstream: AdmittedRequest, used: Used, outcome: Outcome): Promise<Cost> {
  const { options, call, hold, attempts, first_token_ms, before, watch } = upstream
  const made = usageRecord(upstream, used, outcome)
  const { prompt_tokens, completion_tokens } = made
  const nano = sumOf(before.cost_nano_usd, made.cost_nano_usd)
  call.log({ outcome, attempts, prompt_tokens, completion_tokens, cost_usd: toUsd(nano ?? 0) })
  if (nano === null) call.log({ unpriced: true })
  // What a provider counts of an answer of which its client saw nothing is not known: then nothing is given back.
  const isUnknown = watch.disconnected && used.accuracy === 'estimated' && first_token_ms === null
  if (!isUnknown) upstream.settle?.(made.tokens + before.tokens)
  if (first_token_ms !== null) call.log({ first_token_ms })
  return options.ledger.append(made, hold).then(() => ({ cost: toUsd(nano ?? 0), priced: nano !== null }))
}

/**
 * What a failed call is charged whose upstream reported nothing. What a caller can cause at will, by leaving or by asking for more than comes in
 * time, costs under a limit the most that may be billed, and without one what was sent; what others cause, what was expected.
 */
function unitsOfFailure(upstream: AdmittedRequest, outcome: Outcome): Units {
  const { need, target, hold, watch } = upstream
  const expected = need.expected(target)
  if (!watch.stop || outcome === 'server_shutdown') return expected
  return hold ? unitsGivenUp(upstream) : sentOf(expected)
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
export async function recordFailure(upstream: AdmittedRequest, error: unknown): Promise<void> {
  const { options, need, target, hold, watch } = upstream
  const { usage, calls = ONE_CALL, feeNanoUsd: fee } = spentOf(error)
  const spent = reported(usage)
  const tier = servedTier(need.tier?.(target), undefined, spent)
  const outcome = watch.stop?.outcome ?? outcomeOf(error)
  if (spent) {
    const told = metered(spent, 'partial', tier, calls.reported)
    const others = calls.unreported + (watch.stop ? calls.open : 0)
    await record(upstream, others === 0 ? told : withOthers(upstream, told, others, outcome), outcome)
  } else if (isCharged(upstream, reasonOf(upstream, error)))
    await record(
      upstream,
      { ...estimated(unitsOfFailure(upstream, outcome), tier, need.calls?.(target)), fee },
      outcome,
    )
  else {
    upstream.settle?.(upstream.before.tokens)
    // A hold that cannot be dropped now is settled later, like that of a crashed process.
    if (hold) await options.ledger.drop(hold).catch(() => undefined)
  }
}
