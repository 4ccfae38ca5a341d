import type {
  Considered,
  Hold,
  KeyHolder,
  Need,
  Note,
  Outcome,
  Router,
  Target,
  UpstreamCall,
  Usage,
  UsageLedger,
  UsageRecord,
} from '@turnpike/core'
import type { LiveSessions } from '@turnpike/core/internal'
import { toUsd, UpstreamError } from '@turnpike/core'
import type { Call } from '@turnpike/http'
import { allowedTargets, budgetsOf, overBudget, unpriced } from './admit.js'
import type { Caller } from './caller.js'
import { metered } from './meter.js'
import { outcomeOf } from './outcome.js'
import type { RecordHead, Used } from './record.js'
import { estimated, recordOf, sentOf, tag } from './record.js'
import type { UpstreamWatch, UpstreamWatches } from './upstream-watch.js'
import { warnings } from './warnings.js'

/** What every operation that calls an upstream documents alike. */
export const callsUpstream = {
  errors: [403, 502],
  headers: ['X-Session-ID', 'X-Conversation-ID', 'X-Task-ID', 'X-Project-ID', 'X-Gateway-Explain'],
  answerHeaders: [
    'X-Gateway-Warnings',
    'X-Gateway-Provider',
    'X-Gateway-Attempts',
    'X-Gateway-Considered',
    'X-Gateway-Cost',
  ],
}

/** What all requests to upstreams share. */
export interface UpstreamOptions {
  router: Router
  ledger: UsageLedger
  sessions: LiveSessions
  watches: UpstreamWatches
  /** Milliseconds until the upstream's first event or whole answer. */
  firstEventMs: number
  /** Milliseconds between two events. */
  betweenEventsMs: number
  /** Milliseconds for which an upstream goes on that a client has left; 0 = it is left too. */
  drainMs: number
  /** Whether each request is held in the ledger before its upstream is called, also without a budget. */
  holds: boolean
  now: () => number
}

/** What a request cost, as callers are told if they ask: US dollars, 0 with `priced: false` where the price is not known. */
export type Cost = { cost: number; priced: boolean }

/** One request on its way to an upstream: from the choice of a provider to its record. */
export interface UpstreamRequest {
  readonly watch: UpstreamWatch
  /** Whether the caller asked to be told what became of its request. */
  readonly explained: boolean
  /** Asks for a whole answer, and books it. */
  whole<T, U extends Used>(
    run: (target: Target, call: UpstreamCall) => Promise<T>,
    meter: (answer: T) => U,
  ): Promise<{ answer: T; used: U; cost: Cost }>
  /** Asks for an answer that comes in pieces, and resolves with its beginning; to be followed by `close`. */
  begin<T>(run: (target: Target, call: UpstreamCall) => Promise<T>): Promise<T>
  /** Books what was begun, and ends it. `error` = what it failed of. */
  close(outcome: Outcome, used: Used, error?: unknown): Promise<Cost>
  /** What went wrong, told by whoever stopped the call rather than by the connection that broke of it. */
  reasonOf(error: unknown): unknown
}

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

/**
 * Finds who serves a request and makes sure that it may be made and can be booked.
 * @param ownNotes what becomes of fields whoever serves it
 */
export async function upstreamRequest(
  options: UpstreamOptions,
  caller: Caller,
  call: Call,
  need: Need,
  ownNotes: Note[] = [],
): Promise<UpstreamRequest> {
  const { router, ledger, sessions, watches, firstEventMs, now, holds, drainMs } = options
  const started = performance.now()
  const holder = caller as KeyHolder
  const { key, user } = holder
  const { task } = need
  call.log({ task })
  const { targets: able, considered } = await router.candidates(need)
  const targets = allowedTargets(holder, able)
  await ledger.ready()
  const explained = call.header('x-gateway-explain') === 'true'

  const session_id = tag(call, 'x-session-id')
  const head: RecordHead = {
    request_id: call.requestId,
    user_id: user.id,
    key_id: key.id,
    session_id,
    conversation_id: tag(call, 'x-conversation-id'),
    task_id: tag(call, 'x-task-id'),
    project_id: tag(call, 'x-project-id'),
    in_session: session_id !== '' && (await sessions.has(session_id, user.id)),
    task,
  }
  if (considered) head.considered = considered

  let target = targets[0]!
  let attempts = 0
  let first_token_ms: number | null = null
  const elapsed = (): number => Math.round(performance.now() - started)
  const record = (used: Used, outcome: Outcome): UsageRecord =>
    recordOf(head, target, used, {
      attempts: Math.max(attempts, 1),
      outcome,
      latency_ms: elapsed(),
      first_token_ms,
      timestamp: new Date(now()).toISOString(),
    })

  const budgets = budgetsOf(holder)
  let hold: Hold | undefined
  if (holds || budgets.length > 0) {
    const estimate = record(estimated(need.expected(target)), 'server_shutdown')
    if (budgets.length > 0 && estimate.cost_nano_usd === null) throw unpriced()
    const held = await ledger.hold(estimate, budgets)
    if (!held) throw overBudget()
    hold = held
  }
  const watch = watches.watch(call, drainMs)

  const reasonOf = (error: unknown): unknown => watch.stop()?.error ?? error

  const ask = async <T>(run: (target: Target, call: UpstreamCall) => Promise<T>): Promise<T> => {
    let notes = ownNotes
    const attempted = await router.attempt(targets, watch.signal, (candidate) => {
      watch.expect(firstEventMs)
      call.log({ provider: candidate.provider.id, model: candidate.model })
      notes = ownNotes
      attempts++
      target = candidate
      const onNotes = (more: Note[]): void => void (notes = [...ownNotes, ...more])
      // Between two attempts nobody is waited for who could be late.
      return run(candidate, { signal: watch.signal, onNotes }).then(
        (value) => (watch.relax(), value),
        (error: unknown) => {
          watch.relax()
          const reason = reasonOf(error)
          const kind = kindOf(reason)
          // What it has spent is booked, and counts by its outcome.
          if (kind && !spentOf(reason))
            ledger.failed({ provider: candidate.provider.id, kind, timestamp: new Date(now()).toISOString() })
          throw error
        },
      )
    })
    target = attempted.target
    if (notes.length > 0) call.setHeader('x-gateway-warnings', warnings(notes))
    if (explained) {
      call.setHeader('x-gateway-provider', target.provider.id)
      call.setHeader('x-gateway-attempts', String(attempts))
      if (considered) call.setHeader('x-gateway-considered', comparison(considered))
    }
    return attempted.value
  }

  const book = async (used: Used, outcome: Outcome): Promise<Cost> => {
    const made = record(used, outcome)
    const { prompt_tokens, completion_tokens, cost_nano_usd: nano } = made
    call.log({ outcome, attempts, prompt_tokens, completion_tokens, cost_usd: toUsd(nano ?? 0) })
    if (first_token_ms !== null) call.log({ first_token_ms })
    await ledger.append(made, hold)
    return { cost: toUsd(nano ?? 0), priced: nano !== null }
  }

  /** Books what a request has cost that came to nothing, as far as that is known. */
  const bookFailed = async (error: unknown): Promise<void> => {
    const spent = spentOf(error)
    if (spent) await book(metered(spent, 'partial'), outcomeOf(error))
    else if (watch.left() && attempts > 0) await book(estimated(sentOf(need.expected(target))), 'client_abort')
    // If it cannot be dropped now, it ends as one that a crash cut off.
    else if (hold) await ledger.drop(hold).catch(() => undefined)
  }

  return {
    watch,
    explained,
    reasonOf,
    async whole(run, meter) {
      let booked = false
      try {
        const answer = await ask(run)
        router.report(target)
        const used = meter(answer)
        booked = true
        const cost = await book(used, watch.left() ? 'client_abort' : 'complete')
        if (explained) call.setHeader('x-gateway-cost', decimal(cost.cost))
        return { answer, used, cost }
      } catch (error) {
        const reason = reasonOf(error)
        if (!booked) await bookFailed(reason)
        throw reason
      } finally {
        watch.end()
      }
    },
    async begin(run) {
      try {
        const begun = await ask(run)
        first_token_ms = elapsed()
        return begun
      } catch (error) {
        const reason = reasonOf(error)
        try {
          await bookFailed(reason)
        } finally {
          watch.end()
        }
        throw reason
      }
    },
    async close(outcome, used, error) {
      if (outcome !== 'complete') watch.abort()
      // A client that left is no success either.
      router.report(target, outcome === 'complete' ? undefined : (error ?? watch.stop()?.error))
      // Nobody waits for the upstream while it is booked.
      watch.relax()
      try {
        return await book(used, outcome)
      } finally {
        watch.end()
      }
    },
  }
}
