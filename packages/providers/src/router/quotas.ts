import type { Need, Provider, RateLimiter, Target } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { likelyTokens } from '@turnpike/core/internal'
import type { Deployment } from './deployments.js'

const MINUTE_MS = 60_000

/** No limit: with it, a limiter counts whatever comes. */
const ANY = Number.MAX_SAFE_INTEGER

/** The limits of a deployment. */
interface Quota {
  /** Names it in the store of all processes: its provider and its place among those with the same id. */
  name: string
  requests: number | undefined
  tokens: number | undefined
}

/** What was counted for a call that has not ended, of what has a limit. */
interface Counted {
  minute: number
  requests?: { key: string; count: number }
  tokens?: { key: string; count: number }
}

/**
 * The requests and tokens of deployments in a minute of the clock, which processes share by a rate limiter. A minute has counters of its own, so that a
 * correction never counts in the next one.
 */
export class Quotas {
  readonly #of = new Map<Provider, Quota>()
  readonly #counted = new WeakMap<Target, Counted>()
  readonly #limiter: RateLimiter
  readonly #now: () => number

  constructor(deployments: Deployment[], limiter: RateLimiter, now: () => number) {
    this.#limiter = limiter
    this.#now = now
    const seen = new Map<string, number>()
    for (const { provider, requestsPerMinute: requests, tokensPerMinute: tokens } of deployments) {
      const index = seen.get(provider.id) ?? 0
      seen.set(provider.id, index + 1)
      if (requests === undefined && tokens === undefined) continue
      this.#of.set(provider, { name: `deployment ${provider.id}#${index}`, requests, tokens })
    }
  }

  /** Whether any deployment has a limit. */
  get isUsed(): boolean {
    return this.#of.size > 0
  }

  /**
   * Counts a call, with the tokens that it is likely to use. {@link settle} must follow.
   * @returns 0 if there was room; else nothing is counted, and it is the seconds until the minute ends, or Infinity for a call that no minute has room for
   */
  async take(target: Target, need: Need): Promise<number> {
    const quota = this.#of.get(target.provider)
    if (!quota) return 0
    const now = this.#now()
    const minute = Math.floor(now / MINUTE_MS)
    const parts = [
      { what: 'requests', limit: quota.requests, count: need.calls?.(target) ?? 1 },
      { what: 'tokens', limit: quota.tokens, count: quota.tokens === undefined ? 0 : likelyTokens(need, target) },
    ] as const
    const taken = await Promise.all(
      parts.map(async ({ what, limit, count }) => {
        const key = `${quota.name} ${what} ${minute}`
        const isLimited = limit !== undefined
        return { what, key, count, isLimited, ok: !isLimited || (await this.#limiter.consume(key, limit, count)).ok }
      }),
    )
    const counted: Counted = { minute }
    for (const { what, key, count, isLimited, ok } of taken) if (ok && isLimited) counted[what] = { key, count }
    if (taken.every(({ ok }) => ok)) {
      this.#counted.set(target, counted)
      return 0
    }
    for (const { key, count } of [counted.requests, counted.tokens].filter((one) => one !== undefined))
      this.#add(key, -count)
    return parts.some(({ limit = ANY, count }) => count > limit)
      ? Infinity
      : Math.ceil((MINUTE_MS - (now % MINUTE_MS)) / 1_000)
  }

  /**
   * Corrects what was counted for a call that has ended.
   * @param used the tokens that it used; undefined where that is not known: the expected ones stay
   * @param isSent whether it was sent, and therefore is one of the requests
   */
  settle(target: Target, used: number | undefined, isSent = true): void {
    const { minute, requests, tokens } = this.#counted.get(target) ?? {}
    this.#counted.delete(target)
    if (minute !== Math.floor(this.#now() / MINUTE_MS)) return
    if (requests && !isSent) this.#add(requests.key, -requests.count)
    const more = tokens && used !== undefined ? Math.ceil(used) - tokens.count : 0
    if (tokens && more !== 0) this.#add(tokens.key, more)
  }

  /** Adds to what was counted, or takes from it. What a store does not take stays as it is for the rest of the minute. */
  #add(key: string, units: number): void {
    void (async () => this.#limiter.adjust(key, ANY, units))().catch(() => undefined)
  }
}

/** The error where every target is at its limits. @param seconds until the first has room again; Infinity where none ever has */
export const atLimits = (seconds: number): ApiError =>
  seconds === Infinity
    ? new ApiError(
        429,
        'rate_limit_error',
        'This request is larger than what a deployment of the model may use in a minute',
        {
          code: 'rate_limit_exceeded',
          retryAfter: MINUTE_MS / 1_000,
          shouldRetry: false,
        },
      )
    : new ApiError(
        429,
        'rate_limit_error',
        'All deployments of the model are at their limits a minute; try again later',
        {
          code: 'rate_limit_exceeded',
          retryAfter: seconds,
        },
      )
