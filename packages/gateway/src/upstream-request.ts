import type { Hold, KeyHolder, Need, Note, Router, Target, UsageLedger } from '@turnpike/core'
import type { LiveSessions } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'
import { allowedTargets, budgetsOf, overBudget, unpriced } from './admit.js'
import type { Caller } from './caller.js'
import type { RecordHead } from './record.js'
import { estimated, recordOf, tag } from './record.js'
import type { UpstreamWatch, UpstreamWatches } from './upstream-watch.js'

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

/**
 * One request on its way to an upstream: from the choice of a provider to its record. What is done with it is in
 * upstream-answer.ts: methods would be made anew for each request.
 */
export interface UpstreamRequest {
  readonly options: UpstreamOptions
  readonly call: Call
  readonly need: Need
  /** What becomes of fields whoever serves it. */
  readonly ownNotes: Note[]
  readonly head: RecordHead
  readonly targets: Target[]
  /** Whether the caller asked to be told what became of its request. */
  readonly explained: boolean
  readonly hold: Hold | undefined
  readonly watch: UpstreamWatch
  readonly started: number
  /** Whom it was sent to last, and the fields that did not reach it as they were given. */
  target: Target
  notes: Note[]
  attempts: number
  first_token_ms: number | null
}

/** Milliseconds since a time of `performance.now`. */
export const elapsed = (started: number): number => Math.round(performance.now() - started)

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
  const { router, ledger, sessions, watches, now, holds, drainMs } = options
  const started = performance.now()
  const holder = caller as KeyHolder
  const { key, user } = holder
  const { task } = need
  call.log({ task })
  const choice = router.candidates(need)
  // Each wait that is left out is one turn less.
  const { targets: able, considered } = choice instanceof Promise ? await choice : choice
  const targets = allowedTargets(holder, able)
  const target = targets[0]!
  const readying = ledger.ready()
  if (readying) await readying

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

  const budgets = budgetsOf(holder)
  let hold: Hold | undefined
  if (holds || budgets.length > 0) {
    const estimate = recordOf(head, target, estimated(need.expected(target)), {
      attempts: 1,
      outcome: 'server_shutdown',
      latency_ms: elapsed(started),
      first_token_ms: null,
      timestamp: new Date(now()).toISOString(),
    })
    if (budgets.length > 0 && estimate.cost_nano_usd === null) throw unpriced()
    const held = await ledger.hold(estimate, budgets)
    if (!held) throw overBudget()
    hold = held
  }
  return {
    options,
    call,
    need,
    ownNotes,
    head,
    targets,
    explained: call.header('x-gateway-explain') === 'true',
    hold,
    watch: watches.watch(call, drainMs),
    started,
    target,
    notes: ownNotes,
    attempts: 0,
    first_token_ms: null,
  }
}
