import type {
  BalancePolicy,
  GatewayKeys,
  Hold,
  KV,
  LimitOf,
  Most,
  Need,
  Note,
  RateLimiter,
  Router,
  Target,
  Units,
  UsageLedger,
  UsageRecord,
} from '@turnpike/core'
import { cost } from '@turnpike/core'
import { oneLine } from '@turnpike/core/helpers'
import type { Attribute } from '@turnpike/core/internal'
import { likelyTokens } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'
import { allowedTargets, isServed } from '../limits/allowed-models.js'
import { budgetsOf, creditsOf, overLimit, tokenLimitsOf, unpriced } from '../limits/budgets.js'
import type { callCounter, Caller, giverBack, UserCaller } from '../caller.js'
import { LOGGED_MODEL } from '../conventions.js'
import { callerOfNeed, countEndUser, endUserOf } from '../limits/end-user.js'
import type { GuardOptions } from '../guards/guards.js'
import type { RecordHead, Used } from '../records/record.js'
import { estimated, recordOf, tag } from '../records/record.js'
import { ratesOf } from '../limits/service-tier.js'
import type { SettleTokens } from '../limits/token-limits.js'
import { holdTokens } from '../limits/token-limits.js'
import type { UpstreamWatch, UpstreamWatches } from './upstream-watch.js'

/** The documentation that all operations which call an upstream share. */
export const callsUpstream = {
  errors: [403, 502],
  headers: ['X-Session-ID', 'X-Conversation-ID', 'X-Task-ID', 'X-Project-ID', 'X-Gateway-Explain'],
  answerHeaders: [
    'X-Gateway-Warnings',
    'X-Gateway-Provider',
    'X-Gateway-Attempts',
    'X-Gateway-Considered',
    'X-Gateway-Fallback',
    'X-Gateway-Cost',
    'X-Gateway-Answered-By',
  ],
}

/** Options that all requests to upstreams share. */
export interface UpstreamOptions extends GuardOptions {
  router: Router
  kv: KV
  ledger: UsageLedger
  /** Whether requests of users without credits are refused. */
  balancePolicy: BalancePolicy
  attribute: Attribute
  countCalls: ReturnType<typeof callCounter>
  giveBack: ReturnType<typeof giverBack>
  rateLimiter: RateLimiter
  keys: GatewayKeys
  /** The header that names the end user, before the body's `user`; default none. */
  endUserHeader?: string
  /** Bytes of data that the owner of a key may have; default any number. */
  dataBytes?: number
  watches: UpstreamWatches
  /** Milliseconds until the first event of the upstream's stream. */
  firstEventMs: number
  /** Milliseconds until the upstream's whole answer. */
  wholeAnswerMs: number
  /** Milliseconds without a first event after which the answer begins with a comment; Infinity = never. */
  earlyPingMs: number
  /** Milliseconds between two events. */
  betweenEventsMs: number
  /** What happens to an upstream call whose client has disconnected: see {@link GatewayOptions}. */
  onClientAbort?: 'cancel' | 'drain'
  /** Milliseconds for which a stream continues where it is drained. */
  abandonedMs: number
  /** Whether a hold is placed in the ledger before each upstream call, also without a budget. */
  holds: boolean
  now: () => number
  /** Fields that are sent to upstreams also for callers with limits, though they are not documented; default none. */
  extraFields?: string[]
}

/** What a request needs of a target, and what it asks of one beyond what the price of a model covers. */
export interface PricedNeed extends Need {
  /** Whether the answer is streamed; default no. */
  streamed?: boolean
  /** The most units that a target may bill. */
  most(target: Target): Units
  /** What a call costs under a limit that was given up before it told; default the most. */
  givenUp?(target: Target): Units
  /** How many answers it is for; default one. */
  answers?: number
  /** The service tier that a target is asked for; undefined = the standard one. */
  tier?(target: Target): string | undefined
  /** What a target is asked for whose price is not known, in words; undefined = nothing. */
  unpriced?(target: Target): string | undefined
}

/**
 * The state of one request to an upstream, from the choice of a provider to its usage record. The functions that work on it are in
 * upstream-answer.ts, because methods would be allocated for each request.
 */
export interface AdmittedRequest {
  readonly options: UpstreamOptions
  readonly call: Call
  readonly need: PricedNeed
  /** Notes on fields that apply whichever provider serves the request. */
  readonly ownNotes: Note[]
  readonly head: RecordHead
  readonly targets: Target[]
  /** Whether the caller asked for the `x-gateway-…` headers (`X-Gateway-Explain: true`). */
  readonly explained: boolean
  readonly hold: Hold | undefined
  /** Corrects the tokens a minute by what was used; undefined where they are not limited. */
  readonly settle: SettleTokens | undefined
  readonly watch: UpstreamWatch
  readonly started: number
  /** The target that it was sent to last; `notes` are the fields that did not reach it as they were given. */
  target: Target
  notes: Note[]
  attempts: number
  /** The calls that failed before one was accepted, for the log; '' if there are none. */
  failedCalls: string
  /** When they began and ended; '' if there are none. */
  callsMs: string
  first_token_ms: number | null
  /** What was charged before the last target was called: answers that a content filter withheld, and calls given up at a time-out of their own. */
  before: Pick<UsageRecord, 'tokens' | 'cost_nano_usd'>
}

const NOTHING = { tokens: 0, cost_nano_usd: 0 }

/** Milliseconds since a time of `performance.now`. */
export const elapsed = (started: number): number => Math.round(performance.now() - started)

/** What a request belongs to, so that a router can send it to where the prompt before it is cached: a session, else all of a key, or of a user without one. */
const sessionOf = (call: Call, { request: { prompt_cache_key: cached } }: Need, { key, user }: UserCaller): string =>
  call.header('x-session-id') ||
  call.header('x-conversation-id') ||
  (typeof cached === 'string' && cached) ||
  (key ? key.id : user.id)

/** The use of units: at the standard price or at that of the tier that the request asks for, whichever is higher. */
function dearUse(units: Units, need: PricedNeed, target: Target): Used {
  const calls = need.calls?.(target)
  const standard = estimated(units, undefined, calls)
  const tier = need.tier?.(target)
  if (tier === undefined) return standard
  const costOf = (tier?: string): number => cost(units, ratesOf(target, units, tier, calls)) ?? 0
  return costOf(tier) > costOf() ? estimated(units, tier, calls) : standard
}

/** The time-out of a target: its own, else that of all. */
export const timeOutOf = (
  { options: own }: Target,
  of: 'firstEventMs' | 'betweenEventsMs' | 'wholeAnswerMs',
  options: Pick<UpstreamOptions, typeof of>,
): number => own?.[of] ?? options[of]

/**
 * The most that a request may use: on one of its targets, on one that is called in place of an answer that a filter withheld, which is charged, too, and
 * on all those that are given up before at a time-out of their own.
 */
function mostOf(need: PricedNeed, targets: Target[]): Most {
  const most = { cost_nano_usd: 0, tokens: 0 }
  const inPlace = { cost_nano_usd: 0, tokens: 0 }
  const givenUp = { cost_nano_usd: 0, tokens: 0 }
  for (const target of targets) {
    const units = need.most(target)
    const { usage, tier, calls } = dearUse(units, need, target)
    const fee = target.provider.chat?.refusalFee?.(target.model) ?? 0
    const nano = Math.max(cost(units, ratesOf(target, units, tier, calls)) ?? 0, fee)
    const tokens = usage.prompt_tokens + usage.completion_tokens
    if (target.options?.[need.streamed ? 'firstEventMs' : 'wholeAnswerMs'] === undefined) {
      const largest = target.fallback === 'content' ? inPlace : most
      largest.cost_nano_usd = Math.max(largest.cost_nano_usd, nano)
      largest.tokens = Math.max(largest.tokens, tokens)
    } else {
      givenUp.cost_nano_usd += nano
      givenUp.tokens += tokens
    }
  }
  return {
    cost_nano_usd: most.cost_nano_usd + inPlace.cost_nano_usd + givenUp.cost_nano_usd,
    tokens: most.tokens + inPlace.tokens + givenUp.tokens,
  }
}

/**
 * How long an upstream call goes on after its client has left: it is ended, unless there is a limit to keep, as answers that nobody reads could
 * be had for nothing. What a whole answer costs is only known once it is there.
 */
const drainMsOf = (
  { onClientAbort, abandonedMs }: UpstreamOptions,
  { streamed }: PricedNeed,
  isLimited: boolean,
): number => {
  if ((onClientAbort ?? (isLimited ? 'drain' : 'cancel')) === 'cancel') return 0
  return streamed ? abandonedMs : Infinity
}

/** The targets on which everything that a request asks for has a price. @throws ApiError 403 where there are none, or fallbacks only */
function pricedTargets(targets: Target[], need: PricedNeed): Target[] {
  let missing = 'this model'
  const priced = targets.filter((target) => {
    const units = need.expected(target)
    const what = cost(units, ratesOf(target, units, undefined)) === null ? 'this model' : need.unpriced?.(target)
    if (what) missing = what
    return what === undefined
  })
  if (!isServed(priced, targets)) throw unpriced(missing)
  return priced
}

/** Of several answers, all but one have to fit into a limit as long as they may be: it is exceeded by one at most. */
function withLeast(most: Most, estimate: UsageRecord, answers: number): Most {
  if (answers > 1) {
    const least = (all: number, expected: number): number => Math.ceil((all * (answers - 1) + expected) / answers)
    const cost_nano_usd = least(most.cost_nano_usd ?? 0, estimate.cost_nano_usd ?? 0)
    most.least = { cost_nano_usd, tokens: least(most.tokens, estimate.tokens) }
  }
  return most
}

/** Places a hold of the expected cost. @throws ApiError 403 where a limit has no room for it */
async function placeHold(
  { ledger, now }: UpstreamOptions,
  head: RecordHead,
  need: PricedNeed,
  targets: Target[],
  limits: LimitOf[],
  started: number,
): Promise<Hold> {
  const target = targets[0]!
  const estimate = recordOf(head, target, dearUse(need.expected(target), need, target), {
    attempts: 1,
    outcome: 'server_shutdown',
    latency_ms: elapsed(started),
    first_token_ms: null,
    timestamp: new Date(now()).toISOString(),
  })
  const most = limits.length > 0 ? mostOf(need, targets) : undefined
  const hold = await ledger.hold(estimate, limits, most && withLeast(most, estimate, need.answers ?? 1))
  if (!hold) throw await overLimit(limits, most?.least?.cost_nano_usd ?? estimate.cost_nano_usd ?? 0, ledger)
  return hold
}

/**
 * Finds the targets of a request, checks the key's models, the budgets and the credits, and places a hold where one is needed.
 * @param ownNotes notes on fields that apply whichever provider serves the request
 * @throws ApiError 403 for a model, a budget or the credits, 429 for more calls or tokens than the caller may have in a minute, and what the router or the ledger fail with
 */
export async function upstreamRequest(
  options: UpstreamOptions,
  caller: Caller,
  call: Call,
  need: PricedNeed,
  ownNotes: Note[] = [],
): Promise<AdmittedRequest> {
  const { router, kv, ledger, attribute, watches, holds, balancePolicy } = options
  const started = performance.now()
  const payer = caller as UserCaller
  const { key, user } = payer
  const { task } = need
  // The caller's text, of which a model id needs no more.
  call.log({ task, requested_model: oneLine(need.request.model, LOGGED_MODEL) })
  need.caller = callerOfNeed(options, payer, need, call)
  const choice = router.candidates(need, call.requestId, sessionOf(call, need, payer))
  // Not awaited where it is synchronous: each `await` costs a turn of the event loop.
  const { targets: able, considered } = choice instanceof Promise ? await choice : choice
  const allowed = allowedTargets(router, payer, able)
  const endUser = key?.end_users && (await endUserOf(options, payer, need, call))
  const limits = budgetsOf(payer, endUser)
  const targets = limits.length > 0 ? pricedTargets(allowed, need) : allowed
  const target = targets[0]!
  const calls = need.calls ? Math.max(...targets.map(need.calls)) : 1
  if (calls > 1) await options.countCalls(payer, calls, call.setHeader)
  if (endUser) await countEndUser(options, payer, endUser, calls)
  const readying = ledger.ready()
  if (readying) await readying

  const head: RecordHead = {
    request_id: call.requestId,
    user_id: user.id,
    key_id: key ? key.id : '',
    session_id: tag(call, 'x-session-id'),
    conversation_id: tag(call, 'x-conversation-id'),
    task_id: tag(call, 'x-task-id'),
    project_id: tag(call, 'x-project-id'),
    in_session: false,
    task,
  }
  if (considered) head.considered = considered
  if (endUser) head.end_user = { key: endUser.key_id, id: endUser.id }
  const attributing = attribute(head)
  if (attributing) await attributing
  if (head.project_id) call.log({ project_id: head.project_id })

  if (balancePolicy === 'enforce') limits.push(await creditsOf(payer, kv))
  const minute = tokenLimitsOf(payer)
  const settle =
    minute && (await holdTokens(options.rateLimiter, minute, likelyTokens(need, target), call.setHeader, options.now))
  let hold: Hold | undefined
  try {
    if (holds || limits.length > 0) hold = await placeHold(options, head, need, targets, limits, started)
    const keeping = endUser && options.keys.endUsers.keep(key!, endUser, options.dataBytes)
    if (keeping) await keeping
  } catch (error) {
    settle?.(0)
    if (hold) await ledger.drop(hold).catch(() => undefined)
    else if (endUser) await options.giveBack(payer, calls)
    throw error
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
    settle,
    watch: watches.watch(call, drainMsOf(options, need, limits.length > 0)),
    started,
    target,
    notes: ownNotes,
    attempts: 0,
    failedCalls: '',
    callsMs: '',
    first_token_ms: null,
    before: NOTHING,
  }
}
