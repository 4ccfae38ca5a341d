import type { ApiError, Identified, KV, RateLimiter, Role, User } from '@turnpike/core'
import { addressOf, sha256 } from '@turnpike/core/helpers'
import { unauthenticated, userOf } from '@turnpike/core/internal'
import type { Authenticator, Call, Head, SameOriginOptions } from '@turnpike/http'
import { identify, isByOtherPage } from '@turnpike/http'
import { LISTS_LEAVE, USER_TURNS } from './conventions.js'
import type { Turn } from './turns.js'
import { turns } from './turns.js'
import { forbidden, tooMany } from './errors.js'
import type { Access } from './operation.js'
import { isEnding } from './ending-operations.js'
import { partOf } from './tokens/scopes.js'

/** Who calls the platform; null on open routes. */
export type Caller = { user: User; who: Identified } | null

/** Counts the requests of a user or a sign-in, or of an address where there is no user. Both throw ApiError 429 where there are too many. */
export interface RequestCount {
  /** @param minutes how many of as many requests as a user has a minute; default 1 */
  user(id: string, minutes?: number): Promise<void>
  address(head: Head): Promise<void>
  /** Counts what a request of a user has read or is answered with, in requests, so that the next {@link turn} is refused where it is too much. */
  more(id: string, requests: number): Promise<void> | void
  /** Throws where what a user has read has used up their minute. */
  check(id: string): void
  /** Does what is to be done for a further page of a list that has begun: of each user, one at a time. */
  page: Turn
  /** Resolves once half of a user's minute is left for what they read. */
  room(id: string): Promise<void>
  /** Does a request of a user when it is its turn, or the next part of one that has begun, which is not refused any more. */
  turn<T>(id: string, work: (hasWaited: boolean) => Promise<T>, hasBegun?: boolean): Promise<T>
}

/** How many sign-ins of a user may use up minutes of their own by what ends them: more than a thief has, and fewer than somebody can make. */
const SIGN_INS_COUNTED = 4

/** Milliseconds between two looks whether there is room. */
const ROOM_MS = 100

/** Counts requests for {@link callerOf}, by hashes of addresses. Those of unknown address are not counted. */
export function requestCount(
  limiter: RateLimiter,
  { user, address }: { user: number; address: number },
  now: () => number,
): RequestCount {
  const inTurn = turns(USER_TURNS)
  /** What is left of the minutes of users for what they read, and when these end, in milliseconds. */
  const minutes = new Map<string, { left: number; isOver: boolean; end: number }>()
  let cleanAt = 0
  const refuse = (perMinute: number, retryAfter: number): ApiError =>
    tooMany(`You are limited to ${perMinute} requests per minute`, retryAfter)
  const minuteOf = (id: string) => {
    const minute = minutes.get(id)
    return minute && minute.end > now() ? minute : undefined
  }
  /** Counts what a user has read apart from their requests, as others may have made it: with a minute that is used up, all else can be done. */
  const read = async (id: string): Promise<void> => {
    const { ok, retryAfter, remaining = user } = await limiter.consume(`api-read ${id}`, user)
    const end = now() + retryAfter * 1_000
    if (cleanAt <= now()) {
      for (const [other, minute] of minutes) if (minute.end <= now()) minutes.delete(other)
      cleanAt = end
    }
    const { isOver = false } = minuteOf(id) ?? {}
    minutes.set(id, { left: ok ? remaining : 0, isOver: isOver || !ok, end })
  }
  const check = (id: string): void => {
    const { isOver, end } = minuteOf(id) ?? { isOver: false, end: 0 }
    if (isOver) throw refuse(user, Math.ceil((end - now()) / 1_000))
  }
  return {
    async user(id, minutes = 1) {
      const { ok, retryAfter } = await limiter.consume(`api ${id}`, minutes * user)
      if (!ok) throw refuse(minutes * user, retryAfter)
    },
    async address(head) {
      const ip = head.ip()
      if (ip === '') return
      // Pages of others must not use up what people at an address have, nor what those have who come from there.
      const dest = head.header('sec-fetch-dest') === 'document' ? 'links' : 'pages'
      const sender = `${addressOf(ip)}${isByOtherPage(head) ? ` by other ${dest}` : ''}`
      const { ok, retryAfter } = await limiter.consume(`api-address ${await sha256(sender)}`, address)
      if (!ok) throw refuse(address, retryAfter)
    },
    more(id, requests) {
      if (requests < 1) return
      return Promise.all(Array.from({ length: Math.floor(requests) }, () => read(id))).then(() => undefined)
    },
    check,
    page: turns(1),
    async room(id) {
      while ((minuteOf(id)?.left ?? user) < user * LISTS_LEAVE)
        await new Promise((resolve) => setTimeout(resolve, ROOM_MS))
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
      await counting?.address(head)
      return null
    }
    const who = await identify(identity, head, { ...sameOrigin, part: partOf(id), waited })
    const counted = async ({ userId, signInId }: Identified): Promise<void> => {
      if (!isEnding(id) || signInId === undefined) return counting?.user(userId)
      await counting?.user(signInId)
      await counting?.user(`${userId} of all sign-ins`, SIGN_INS_COUNTED)
    }
    const [user] = who ? await Promise.all([userOf(kv, who, { now: now(), log }), counted(who)]) : [null]
    if (!who || !user) throw unauthenticated()
    log?.({ user_id: user.id })
    if (access !== 'user' && !needed[access].roles.includes(user.role)) throw forbidden(needed[access].message)
    return { user, who }
  }
}
