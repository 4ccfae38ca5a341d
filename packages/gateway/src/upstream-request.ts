import type {
  Considered,
  Need,
  Note,
  Outcome,
  Router,
  Target,
  UpstreamCall,
  Usage,
  UsageLedger,
  UsageRecord,
  Units,
} from '@turnpike/core'
import { cost, isUuid, ratesFor, toUsd } from '@turnpike/core'
import type { Call } from '@turnpike/http'
import type { Caller } from './caller.js'
import type { UpstreamWatch, UpstreamWatches } from './upstream-watch.js'
import { warnings } from './warnings.js'

/** What all requests to upstreams share. */
export interface UpstreamOptions {
  router: Router
  ledger: UsageLedger
  watches: UpstreamWatches
  /** Milliseconds until the upstream's first event or whole answer. */
  firstEventMs: number
  /** Milliseconds between two events. */
  betweenEventsMs: number
  now: () => number
}

/** What a request used. */
export interface Used {
  usage: Pick<Usage, 'prompt_tokens' | 'completion_tokens'>
  units: Units
  accuracy: UsageRecord['accuracy']
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

/** A tag header that is fit to be stored: a UUID, else ''. */
const tag = (call: Call, name: string): string => {
  const value = call.header(name)
  return value !== undefined && isUuid(value) ? value.toLowerCase() : ''
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

/**
 * Finds who serves a request and makes sure that it can be booked.
 * @param ownNotes what becomes of fields whoever serves it
 */
export async function upstreamRequest(
  { router, ledger, watches, firstEventMs, now }: UpstreamOptions,
  caller: Caller,
  call: Call,
  need: Need,
  ownNotes: Note[] = [],
): Promise<UpstreamRequest> {
  const { key, user } = caller!
  call.log({ key_id: key.id, user_id: user.id })
  const { targets, considered } = await router.candidates(need)
  await ledger.ready()
  const { task } = need
  const watch = watches.watch(call)
  const explained = call.header('x-gateway-explain') === 'true'
  let target: Target
  let attempts: number

  const reasonOf = (error: unknown): unknown => watch.stop()?.error ?? error

  const ask = async <T>(run: (target: Target, call: UpstreamCall) => Promise<T>): Promise<T> => {
    let notes = ownNotes
    const attempted = await router.attempt(targets, watch.signal, (candidate) => {
      watch.expect(firstEventMs)
      call.log({ provider: candidate.provider.id, model: candidate.model })
      notes = ownNotes
      const onNotes = (more: Note[]): void => void (notes = [...ownNotes, ...more])
      // Between two attempts nobody is waited for who could be late.
      return run(candidate, { signal: watch.signal, onNotes }).finally(watch.relax)
    })
    target = attempted.target
    attempts = attempted.attempts
    if (notes.length > 0) call.setHeader('x-gateway-warnings', warnings(notes))
    if (explained) {
      call.setHeader('x-gateway-provider', target.provider.id)
      call.setHeader('x-gateway-attempts', String(attempts))
      if (considered) call.setHeader('x-gateway-considered', comparison(considered))
    }
    return attempted.value
  }

  const book = async ({ usage, units, accuracy }: Used, outcome: Outcome): Promise<Cost> => {
    const { prompt_tokens, completion_tokens } = usage
    const { provider, model, price, catalogue } = target
    const rates = price ? ratesFor(price, units) : {}
    const nano = price ? cost(units, rates) : null
    call.log({ outcome, prompt_tokens, completion_tokens })
    await ledger.append({
      request_id: call.requestId,
      user_id: user.id,
      key_id: key.id,
      session_id: tag(call, 'x-session-id'),
      conversation_id: tag(call, 'x-conversation-id'),
      task_id: tag(call, 'x-task-id'),
      project_id: tag(call, 'x-project-id'),
      task,
      model,
      provider: provider.id,
      attempts,
      ...(considered && { considered }),
      prompt_tokens,
      completion_tokens,
      tokens: prompt_tokens + completion_tokens,
      accuracy,
      units,
      rates,
      catalogue,
      cost_nano_usd: nano,
      outcome,
      timestamp: new Date(now()).toISOString(),
    })
    return { cost: toUsd(nano ?? 0), priced: nano !== null }
  }

  return {
    watch,
    explained,
    reasonOf,
    async whole(run, meter) {
      try {
        const answer = await ask(run)
        router.report(target)
        const used = meter(answer)
        const booked = await book(used, 'complete')
        if (explained) call.setHeader('x-gateway-cost', decimal(booked.cost))
        return { answer, used, cost: booked }
      } catch (error) {
        throw reasonOf(error)
      } finally {
        await watch.end()
      }
    },
    async begin(run) {
      try {
        return await ask(run)
      } catch (error) {
        await watch.end()
        throw reasonOf(error)
      }
    },
    async close(outcome, used, error) {
      if (outcome !== 'complete') watch.abort()
      // A client that left is no success either.
      router.report(target, outcome === 'complete' ? undefined : (error ?? watch.stop()?.error))
      const booking = book(used, outcome)
      await watch.end(booking.then(() => undefined))
      return booking
    },
  }
}
