import type { ApiError, Identified, KV, RateLimiter, Role, User } from '@turnpike/core'
import { addressOf, sha256 } from '@turnpike/core/helpers'
import { unauthenticated, userOf } from '@turnpike/core/internal'
import type { Authenticator, Call, Head, SameOriginOptions } from '@turnpike/http'
import { identify } from '@turnpike/http'
import { USER_TURNS } from './conventions.js'
import { turns } from './turns.js'
import { forbidden, tooMany } from './errors.js'
import type { Access } from './operation.js'
import { isEnding } from './ending-operations.js'
import { partOf } from './tokens/scopes.js'

/** Who calls the platform; null on open routes. */
export type Caller = { user: User; who: Identified } | null

/** Counts the requests of a user or a sign-in, or of an address where there is no user. Both throw ApiError 429 where there are too many. */
export interface RequestCount {
  user(id: string): Promise<void>
  address(ip: string): Promise<void>
  /** Counts further requests of a user, for what one has read or is answered with, so that the next {@link turn} is refused where they are too many. */
  more(id: string, requests: number): Promise<void> | void
  /** Throws where what a user has read has used up their minute. */
  check(id: string): void
  /** Resolves once what a user has read leaves room in their minute. */
  room(id: string): Promise<void>
  /** Does a request of a user when it is its turn, or the next part of one that has begun, which is not refused any more. */
  turn<T>(id: string, work: (hasWaited: boolean) => Promise<T>, hasBegun?: boolean): Promise<T>
}

/** Milliseconds between two looks whether there is room. */
const ROOM_MS = 100

/** Counts requests for {@link callerOf}, by hashes of addresses. Those of unknown address are not counted. */
export function requestCount(
  limiter: RateLimiter,
  { user, address }: { user: number; address: number },
  now: () => number,
): RequestCount {
  const inTurn = turns(USER_TURNS)
  /** Users whom what they have read has used up their minute, and when it ends, in milliseconds: their requests that wait were counted before. */
  const ends = new Map<string, number>()
  const refuse = (perMinute: number, retryAfter: number): ApiError =>
    tooMany(`You are limited to ${perMinute} requests per minute`, retryAfter)
  const count = async (key: string, perMinute: number): Promise<void> => {
    const { ok, retryAfter } = await limiter.consume(key, perMinute)
    if (!ok) throw refuse(perMinute, retryAfter)
  }
  const check = (id: string): void => {
    const left = (ends.get(id) ?? 0) - now()
    if (left > 0) throw refuse(user, Math.ceil(left / 1_000))
  }
  return {
    user: (id) => count(`api ${id}`, user),
    address: async (ip) => {
      if (ip !== '') await count(`api-address ${await sha256(addressOf(ip))}`, address)
    },
    more(id, requests) {
      if (requests < 1) return
      const all = Array.from({ length: Math.floor(requests) }, async () => limiter.consume(`api ${id}`, user))
      return Promise.all(all).then((counted) => {
        const over = counted.find(({ ok }) => !ok)
        if (!over) return
        for (const [other, end] of ends) if (end <= now()) ends.delete(other)
        ends.set(id, now() + over.retryAfter * 1_000)
      })
    },
    check,
    async room(id) {
      while ((ends.get(id) ?? 0) > now()) await new Promise((resolve) => setTimeout(resolve, ROOM_MS))
    },
    turn: (id, work, hasBegun = false) =>
      inTurn(id, async (hasWaited) => {
        if (!hasBegun) check(id)
        return work(hasWaited)
      }),
  }
}

const needed: Record<'developer' | 'admin', { roles: Role[]; message: string }> = {
  developer: { roles: ['developer', 'admin'], message: 'This is for developers and administrators' },
  admin: { roles: ['admin'], message: 'This is for administrators' },
}

/**
 * Finds the caller of a request by the platform's identity. The user is read from the store each time, so that a deletion or another role
 * counts at once in all processes.
 * @param options.count counts the requests; absent = they are not counted
 * @throws ApiError 401 without a valid credential, 403 for another role or a request of another site, 429 where there are too many
 */
export function callerOf(
  kv: KV,
  {
    identity,
    count,
    now,
    ...sameOrigin
  }: SameOriginOptions & { identity: Authenticator; count?: RequestCount; now: () => number },
): (
  head: Head,
  operation: { id?: string; access: Access },
  log?: Call['log'],
  setHeader?: Call['setHeader'],
  before?: { waitedMs: number },
) => Promise<Caller> {
  return async (head, { id, access }, log, _, before) => {
    const waited = before?.waitedMs
    const counting = waited === undefined ? count : undefined
    if (access === 'open') {
      await counting?.address(head.ip())
      return null
    }
    const who = await identify(identity, head, { ...sameOrigin, part: partOf(id), waited })
    const counted = isEnding(id) ? (who?.signInId ?? who?.userId) : who?.userId
    const [user] = who ? await Promise.all([userOf(kv, who, { now: now(), log }), counting?.user(counted!)]) : [null]
    if (!who || !user) throw unauthenticated()
    log?.({ user_id: user.id })
    if (access !== 'user' && !needed[access].roles.includes(user.role)) throw forbidden(needed[access].message)
    return { user, who }
  }
}
