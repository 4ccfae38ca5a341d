import type { Considered, Note, Outcome, Target, UpstreamCall, Usage } from '@turnpike/core'
import { toUsd, UpstreamError } from '@turnpike/core'
import { metered } from './meter.js'
import { outcomeOf } from './outcome.js'
import type { Used } from './record.js'
import { estimated, recordOf, sentOf } from './record.js'
import type { UpstreamRequest } from './upstream-request.js'
import { elapsed } from './upstream-request.js'
import { warnings } from './warnings.js'

/** What a request cost, as callers are told if they ask: US dollars, 0 with `priced: false` where the price is not known. */
export type Cost = { cost: number; priced: boolean }

/** What calls a target. */
type Run<T> = (target: Target, call: UpstreamCall) => Promise<T>

/** Who was compared, as a header: `openai/gpt-4o-mini=0.00001; google/gemini-2.5-pro=0.002(unhealthy)`. */
const comparison = (considered: Considered[]): string =>
  considered
    .map(({ provider, model, expected_nano_usd: nano, excluded, behind }) => {
      const expected = nano === null ? 'unpriced' : decimal(toUsd(nano))
      return `${provider}/${model.replace(/[^\w./:@-]/g, '_')}=${expected}${excluded || behind ? `(${excluded ?? behind})` : ''}`
    })
    .join('; ')

/** US dollars without an exponent. */
const decimal = (usd: number): string => usd.toFixed(9).replace(/\.?0+$/, '')

/** What a failed call has used, as far as its upstream told. */
const spentOf = (error: unknown): Usage | undefined => (UpstreamError.is(error) ? error.failure.usage : undefined)

/** How a call failed, in one word for the metrics; undefined where the provider has no part in it. */
const kindOf = (error: unknown): string | undefined => {
  if (!UpstreamError.is(error)) return undefined
  const { kind, status, caller, credential } = error.failure
  return status === 429 ? 'rate_limited' : credential ? 'credential' : caller ? 'refused' : kind
}

/** What went wrong, told by whoever stopped the call rather than by the connection that broke of it. */
export const reasonOf = ({ watch }: UpstreamRequest, error: unknown): unknown => watch.stop?.error ?? error

/** Sends it to one target after the other until one accepts. */
function attempt<T>(upstream: UpstreamRequest, run: Run<T>): Promise<{ value: T }> {
  const { options, call, ownNotes, targets, watch } = upstream
  const { router, ledger, firstEventMs, now } = options
  return router.attempt(targets, watch, (target) => {
    watch.expect(firstEventMs)
    call.log({ provider: target.provider.id, model: target.model })
    upstream.target = target
    upstream.notes = ownNotes
    upstream.attempts++
    const onNotes = (notes: Note[]): void => void (upstream.notes = [...ownNotes, ...notes])
    // Between two attempts nobody is waited for who could be late.
    return run(target, { signal: watch, onNotes }).then(
      (value) => (watch.relax(), value),
      (error: unknown) => {
        watch.relax()
        const reason = reasonOf(upstream, error)
        const kind = kindOf(reason)
        // What it has spent is booked, and counts by its outcome.
        if (kind && !spentOf(reason))
          ledger.failed({ provider: target.provider.id, kind, timestamp: new Date(now()).toISOString() })
        throw error
      },
    )
  })
}

/** Tells the caller what became of its request once a target has accepted it. */
function explain({ call, head, target, notes, attempts, explained }: UpstreamRequest): void {
  if (notes.length > 0) call.setHeader('x-gateway-warnings', warnings(notes))
  if (!explained) return
  call.setHeader('x-gateway-provider', target.provider.id)
  call.setHeader('x-gateway-attempts', String(attempts))
  if (head.considered) call.setHeader('x-gateway-considered', comparison(head.considered))
}

function book(upstream: UpstreamRequest, used: Used, outcome: Outcome): Promise<Cost> {
  const { options, call, head, target, hold, started, attempts, first_token_ms } = upstream
  const made = recordOf(head, target, used, {
    attempts: Math.max(attempts, 1),
    outcome,
    latency_ms: elapsed(started),
    first_token_ms,
    timestamp: new Date(options.now()).toISOString(),
  })
  const { prompt_tokens, completion_tokens, cost_nano_usd: nano } = made
  call.log({ outcome, attempts, prompt_tokens, completion_tokens, cost_usd: toUsd(nano ?? 0) })
  if (first_token_ms !== null) call.log({ first_token_ms })
  return options.ledger.append(made, hold).then(() => ({ cost: toUsd(nano ?? 0), priced: nano !== null }))
}

/** Books what a request has cost that came to nothing, as far as that is known. */
async function bookFailed(upstream: UpstreamRequest, error: unknown): Promise<void> {
  const { options, need, target, hold, watch, attempts } = upstream
  const spent = spentOf(error)
  if (spent) await book(upstream, metered(spent, 'partial'), outcomeOf(error))
  else if (watch.left && attempts > 0) await book(upstream, estimated(sentOf(need.expected(target))), 'client_abort')
  // If it cannot be dropped now, it ends as one that a crash cut off.
  else if (hold) await options.ledger.drop(hold).catch(() => undefined)
}

/** Asks for a whole answer, and books it. */
export async function whole<T, U extends Used>(
  upstream: UpstreamRequest,
  run: Run<T>,
  meter: (answer: T) => U,
): Promise<{ answer: T; used: U; cost: Cost }> {
  const { options, call, watch, explained } = upstream
  let booked = false
  try {
    const { value: answer } = await attempt(upstream, run)
    explain(upstream)
    options.router.report(upstream.target)
    const used = meter(answer)
    booked = true
    const cost = await book(upstream, used, watch.left ? 'client_abort' : 'complete')
    if (explained) call.setHeader('x-gateway-cost', decimal(cost.cost))
    return { answer, used, cost }
  } catch (error) {
    const reason = reasonOf(upstream, error)
    if (!booked) await bookFailed(upstream, reason)
    throw reason
  } finally {
    watch.end()
  }
}

/** Asks for an answer that comes in pieces, and resolves with its beginning; to be followed by `close`. */
export async function begin<T>(upstream: UpstreamRequest, run: Run<T>): Promise<T> {
  try {
    const { value } = await attempt(upstream, run)
    explain(upstream)
    upstream.first_token_ms = elapsed(upstream.started)
    return value
  } catch (error) {
    const reason = reasonOf(upstream, error)
    try {
      await bookFailed(upstream, reason)
    } finally {
      upstream.watch.end()
    }
    throw reason
  }
}

/** Books what was begun, and ends it. @param error what it failed of */
export async function close(upstream: UpstreamRequest, outcome: Outcome, used: Used, error?: unknown): Promise<Cost> {
  const { options, target, watch } = upstream
  if (outcome !== 'complete') watch.abort()
  // A client that left is no success either.
  options.router.report(target, outcome === 'complete' ? undefined : (error ?? watch.stop?.error))
  // There is no time-out while it is booked.
  watch.relax()
  try {
    return await book(upstream, used, outcome)
  } finally {
    watch.end()
  }
}
