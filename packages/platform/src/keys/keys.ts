import type {
  Act,
  EndUserChange,
  GatewayKey as StoredKey,
  KeyChange,
  KeyInput,
  PageOptions,
  Role,
  UsageTotals,
  User,
} from '@turnpike/core'
import { DEFAULT_RATE_LIMIT, getUser } from '@turnpike/core'
import { afterTurn, isUuid } from '@turnpike/core/helpers'
import {
  budgetUsed,
  CALLS_AT_ONCE,
  endUserBudget,
  endUserId,
  hourOf,
  invalid,
  keyBudget,
  unauthenticated,
} from '@turnpike/core/internal'
import { ENTRY_CHARACTERS } from '../conventions.js'
import { forbidden } from '../errors.js'
import type { Parts } from '../parts.js'
import { none, sum } from '../usage/usage-view.js'

/** The hours from that of `from` to that of `to`, both included; default all. */
export interface Period {
  from?: Date | undefined
  to?: Date | undefined
}

/** What users can do with their gateway keys, without HTTP. */
export function keyOperations({ kv, keys, ledger, keyLimits, dataBytes, countRead, logged, now }: Parts) {
  const limits = (role: Role) => (role === 'user' ? { keys: 0, rateLimit: 0 } : keyLimits[role])

  /** The sums of keys of a user in the hours of a period, which count as what is read. */
  const within = async (userId: string, ids: string[], { from = new Date(0), to }: Period): Promise<UsageTotals[]> => {
    const last = to && hourOf(to.toISOString())
    const read = await Promise.all(ids.map((id) => ledger.hours('key', id, from)))
    await countRead(userId, read.reduce((entries, { length }) => entries + length, 0) * ENTRY_CHARACTERS)
    return read.map((hours) =>
      hours.filter(({ hour }) => last === undefined || hour <= last).reduce((all, hour) => sum(all, hour.totals), none),
    )
  }

  /** @throws ApiError 400 for a time that is over */
  const checkEnd = ({ expiresAt }: KeyChange): void => {
    if (expiresAt && expiresAt.getTime() <= now()) throw invalid('expiresAt must be a time in the future')
  }

  /** A key of the user; null if the user has none with this id. */
  const ownKey = async (userId: string, id: string): Promise<StoredKey | null> => {
    const key = isUuid(id) ? await keys.get(id) : null
    return key?.user_id === userId ? key : null
  }

  /** Makes a change that its user makes with an entry in the audit log, if the log takes one. */
  const acting = <T>(action: string, userId: string, { by }: Act, change: (by?: string) => Promise<T>): Promise<T> =>
    by === undefined ? change() : logged(action, userId, change)

  return {
    /** What users of a role may have. */
    limits,
    /** @throws ApiError 400 for a key that has expired already; 403 where the role of the user has no more keys, or none with this rate limit */
    async create(userId: string, input: KeyInput, act: Act = {}) {
      checkEnd(input)
      const user = await getUser(kv, userId)
      // Deleted since the request was authenticated.
      if (!user) throw unauthenticated()
      const { keys: atMost, rateLimit: fastest } = limits(user.role)
      const { rateLimit = Math.min(DEFAULT_RATE_LIMIT, fastest) } = input
      if (rateLimit > fastest) throw forbidden(`Your keys may have ${fastest} requests per minute at most`)
      const fields = { atMost, bytesAtMost: dataBytes, ...input, rateLimit }
      try {
        return await acting('key.create', userId, act, (by) => keys.create(userId, fields, { ...act, by }))
      } catch (error) {
        // Deleted since it was read.
        throw (await getUser(kv, userId)) ? error : unauthenticated()
      }
    },
    /** A page of a user's keys, newest first, with the last use of each and what was spent of the budget. */
    async list(userId: string, page?: PageOptions) {
      const { items, next } = await keys.list(userId, page)
      const used = await budgetUsed(ledger, items.map(keyBudget))
      return { items: items.map((key, i) => ({ ...key, ...used[i] })), next }
    },
    /** A page of the end users of a key of the user, with what each has used; null where the user has no such key. */
    async endUsers(userId: string, id: string, page?: PageOptions) {
      const key = await ownKey(userId, id)
      if (!key) return null
      const { items, next } = await keys.endUsers.list(key, page)
      const [totals, used] = await Promise.all([
        ledger.totalsOfMany('end_user', items.map(endUserId)),
        budgetUsed(
          ledger,
          items.map((endUser) => endUserBudget(endUser, key)),
        ),
      ])
      return { items: items.map((endUser, i) => ({ endUser, totals: totals[i]!, used: used[i]! })), next }
    },
    /** Changes the limits of an end user of a key of the user; null where there is none. */
    async updateEndUser(userId: string, id: string, endUser: string, change: EndUserChange) {
      const key = await ownKey(userId, id)
      const update = (by?: string) => keys.endUsers.update(key!, endUser, change, { by, now: now() })
      const isChange = Object.keys(change).length > 0
      const changed = key && (await (isChange ? logged('end-user.update', userId, update) : update()))
      return changed && { endUser: changed, totals: await ledger.totals('end_user', endUserId(changed)) }
    },
    /** Removes an end user of a key of the user, with the sums; usage records stay. False where there is none. */
    async removeEndUser(userId: string, id: string, endUser: string): Promise<boolean> {
      const key = await ownKey(userId, id)
      const remove = (by?: string) => keys.endUsers.remove(key!, endUser, { by, now: now() })
      return key !== null && logged('end-user.delete', userId, remove)
    },
    /** Revokes a key of the user; also one that is revoked already. False if the user has no key with this id. */
    revoke: async (userId: string, id: string, act: Act = {}): Promise<boolean> =>
      (await ownKey(userId, id)) !== null && acting('key.revoke', userId, act, (by) => keys.revoke(id, { ...act, by })),
    /**
     * Changes the given fields of a key of the user, or for an administrator of anybody's.
     * @returns null where there is no such key
     * @throws ApiError 400 for a key that is revoked, an end that is over, or a later one of a rotated key; 403 for a rate limit beyond the user's role
     */
    async update(
      { id: userId, role }: User,
      id: string,
      change: KeyChange,
      again?: Act['again'],
    ): Promise<StoredKey | null> {
      const own = await ownKey(userId, id)
      const key = own ?? (role === 'admin' && isUuid(id) ? await keys.get(id) : null)
      if (!key || Object.keys(change).length === 0) return key
      checkEnd(change)
      const { rateLimit: fastest } = limits(role)
      // An operator may have made a faster one, whose other fields can be changed by a body that has them all.
      if (change.rateLimit !== key.rate_limit && (change.rateLimit ?? 0) > fastest)
        throw forbidden(`The key may have ${fastest} requests per minute at most`)
      const update = async (by?: string): Promise<StoredKey | null> => {
        const changed = await keys.update(id, change, { by, now: now(), again }, { bytesAtMost: dataBytes })
        if (changed?.revoked) throw invalid('A revoked key cannot be changed')
        return changed
      }
      return own ? logged('key.update', userId, update) : update(userId)
    },
    /**
     * Makes a key in place of one of the user.
     * @param overlap seconds for which the old one still works; default a day
     * @returns null where the user has no such key
     * @throws ApiError 400 for one that is revoked, expired or rotated already; 403 as `create`
     */
    async rotate({ id: userId, role }: User, id: string, overlap?: number, again?: Act['again']) {
      if (!(await ownKey(userId, id))) return null
      const overlapMs = overlap === undefined ? {} : { overlapMs: overlap * 1_000 }
      const space = { atMost: limits(role).keys, bytesAtMost: dataBytes }
      const rotate = (by?: string) => keys.rotate(id, { ...overlapMs, ...space }, { by, now: now(), again })
      const made = await logged('key.rotate', userId, rotate)
      if (!made) throw invalid('A key that is revoked, expired or rotated already cannot be rotated')
      return made
    },
    /** A page of a user's keys, newest first, with what each has used: over all time, or in the hours of a period. */
    async usage(userId: string, period: Period = {}, page?: PageOptions) {
      const { items, next } = await keys.list(userId, page)
      const totals = await ledger.totalsOfMany(
        'key',
        items.map(({ id }) => id),
      )
      const used = period.from || period.to ? [...items.keys()].filter((i) => totals[i]!.requests > 0) : []
      while (used.length > 0) {
        const some = used.splice(0, CALLS_AT_ONCE)
        const sums = await within(
          userId,
          some.map((i) => items[i]!.id),
          period,
        )
        for (const [at, i] of some.entries()) totals[i] = sums[at]!
        // Other requests have their turn, because a store in memory never waits.
        await new Promise<void>((resolve) => afterTurn(resolve))
      }
      return { items: items.map((key, i) => ({ key, totals: totals[i]! })), next }
    },
  }
}

export type KeyOperations = ReturnType<typeof keyOperations>
