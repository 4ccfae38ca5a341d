import * as v from 'valibot'
import { END_USER_LENGTH, MOST_END_USERS } from '../conventions.js'
import type { Key, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'
import type { Budget, BudgetOf } from '../ledger/holds.js'
import { budgetKeys, budgetUse, limitKey } from '../ledger/holds.js'
import type { Fields } from '../ledger/totals.js'
import { totalKey } from '../ledger/totals.js'
import { checkFields } from '../helpers/options.js'
import { revocableCache } from '../helpers/revocable-cache.js'
import { GivenBudget } from '../schemas/budget.js'
import { perMinute } from '../schemas/integers.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'
import { counting, growth, ownedKey } from './counts.js'
import type { GatewayKey } from './gateway-keys.js'
import { ONE_LINE } from './users.js'

/** What the end users of a key may have each, who are known by the `user` of a request. */
export type EndUserRules = {
  /** Whether each request must name one; absent = it need not. */
  required?: true
  /** Limit on the cost of the requests of one; absent = none. */
  budget?: Budget
  /** Requests per minute of one; absent = as many as the key's. */
  rate_limit?: number
}

/** An end user of a key, as stored under `end-user/<first id of the key>/<id>` with the first request that is admitted. */
export type EndUser = {
  /** As the key's holder calls them: 1 to 128 characters. */
  id: string
  /** The first of the keys that were rotated to the one which was used. */
  key_id: string
  /** The owner of the key. */
  user_id: string
  /** In place of the key's; absent = as the key says. */
  budget?: Budget
  rate_limit?: number
  created_at: string
}

/** What an end user is changed in; null = as the key says. */
export interface EndUserChange {
  budget?: Budget | null
  rate_limit?: number | null
}

/** Which end users a key has: those of the keys that it was rotated from too, and never those of another key. */
export interface EndUsers {
  /** The end user with this id: a new one, which is not stored yet, where there is none. @throws ApiError 403 where the key has {@link MOST_END_USERS} */
  find(key: GatewayKey, id: string): Promise<EndUser> | EndUser
  /**
   * Stores an end user who was found new; undefined where there is nothing to do.
   * @param bytesAtMost bytes of data that the owner of the key may have; default any number
   * @throws ApiError 403 where the key has {@link MOST_END_USERS}, or its owner that many bytes
   */
  keep(key: GatewayKey, endUser: EndUser, bytesAtMost?: number): Promise<void> | undefined
  /** Those of a key, in the order in which ids are stored. */
  list(key: GatewayKey, page?: PageOptions): Promise<ListPage<EndUser>>
  /** @returns the stored end user; null where the key has none with this id. @throws TypeError for a wrong field */
  update(key: GatewayKey, id: string, change: EndUserChange, act?: Act): Promise<EndUser | null>
  /** Removes an end user with the sums; usage records stay. The id begins anew when it is used again. False where there is none. */
  remove(key: GatewayKey, id: string, act?: Act): Promise<boolean>
}

/** Whether a text can be the id of an end user: also in a path, from which clients remove "." and "..". */
export const isEndUserId = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= END_USER_LENGTH && ONE_LINE.test(text) && !/^\.{1,2}$/.test(text)

/** The id under which the key that was rotated first is counted, and what is kept beyond rotations. */
export const firstIdOf = ({ id, first_id = id }: GatewayKey): string => first_id

/** The id of an end user among those of all keys. */
export const endUserId = ({ key_id, id }: Pick<EndUser, 'key_id' | 'id'>): string => `${key_id} ${id}`

/** The budget of an end user; undefined = none. */
export function endUserBudget(endUser: EndUser, { end_users }: GatewayKey): BudgetOf | undefined {
  const budget = endUser.budget ?? end_users?.budget
  return budget && { of: 'end_user', id: endUserId(endUser), budget }
}

/**
 * Removes the counters of an end user's budgets: all, or those of periods that are over. What requests still hold is left for the next time.
 * @param id see {@link endUserId}
 */
async function sweep(kv: KV, id: string, keep?: Key): Promise<void> {
  for await (const { key, version, value } of entriesOf<Fields>(kv, budgetKeys('end_user', id)))
    if (key.at(-1) !== keep?.at(-1) && budgetUse(value).held === 0)
      await kv.commit({ check: [{ key, version }], del: [key] })
}

/** Removes all that is counted of an end user. @param id see {@link endUserId} */
export async function removeEndUserCounts(kv: KV, id: string): Promise<void> {
  await kv.commit({ del: [totalKey('end_user', id)] })
  await sweep(kv, id)
}

/** End users over a `KV`, with a short in-process cache. */
export function endUsers(kv: KV, now: () => number): EndUsers {
  const cache = revocableCache<EndUser>(now)
  const keyOf = (key: GatewayKey, id: string): Key => ['end-user', firstIdOf(key), id]
  const countKey = (key: GatewayKey): Key => ['end-users', firstIdOf(key)]
  const evict = (key: GatewayKey, id: string): void =>
    cache.revoke((one) => one.id === id && one.key_id === firstIdOf(key))

  /** Those that were found and are not stored. */
  const unstored = new WeakSet<EndUser>()
  const countOne = (key: GatewayKey) =>
    counting(kv, countKey(key), { 'end users': 1 }, { limits: { 'end users': MOST_END_USERS } })

  const make = async (key: GatewayKey, id: string): Promise<EndUser> => {
    await countOne(key)
    const made = { id, key_id: firstIdOf(key), user_id: key.user_id, created_at: new Date(now()).toISOString() }
    unstored.add(made)
    return made
  }

  const store = async (key: GatewayKey, endUser: EndUser, bytes?: number): Promise<void> => {
    const set = [{ key: keyOf(key, endUser.id), value: endUser }]
    while (!(await kv.get(set[0]!.key))) {
      const counted = await countOne(key)
      const owned = await counting(kv, ownedKey(key.user_id), growth(set), { limits: { bytes } })
      const stored = await kv.commit({
        check: [{ key: set[0]!.key, version: null }, ...counted.check, ...owned.check],
        set,
        sum: [...counted.sum, ...owned.sum],
      })
      if (stored) return
    }
  }

  return {
    find(key, id) {
      const name = `${firstIdOf(key)} ${id}`
      return (
        cache.get(name) ??
        cache
          .load(name, async () => {
            const entry = await kv.get<EndUser>(keyOf(key, id))
            const limit = entry && endUserBudget(entry.value, key)
            // A day's counter of each end user would fill the store in time.
            if (limit?.budget.per) await sweep(kv, name, limitKey(limit, now()))
            return entry && entry.value
          })
          .then((endUser) => endUser ?? make(key, id))
      )
    },
    keep: (key, endUser, bytes) => (unstored.delete(endUser) ? store(key, endUser, bytes) : undefined),
    async list(key, page) {
      const { items, next } = await pageBelow<EndUser>(kv, ['end-user', firstIdOf(key)], { ...page, ids: 'any' })
      return { items: items.map(({ value }) => value), next }
    },
    async update(key, id, change, act = {}) {
      checkFields<EndUserChange>('endUsers.update', change, {
        budget: v.nullish(GivenBudget),
        rate_limit: v.nullish(perMinute),
      })
      const { budget, rate_limit } = change
      if (!isEndUserId(id)) return null
      for (;;) {
        const entry = await kv.get<EndUser>(keyOf(key, id))
        if (!entry) return null
        if (budget === undefined && rate_limit === undefined) return entry.value
        const value = { ...entry.value }
        if (budget === null) delete value.budget
        else if (budget) value.budget = budget
        if (rate_limit === null) delete value.rate_limit
        else if (rate_limit !== undefined) value.rate_limit = rate_limit
        const set = [{ key: entry.key, value }]
        const stored = await kv.commit({
          check: [{ key: entry.key, version: entry.version }],
          set: [...set, ...audit('end-user.update', firstIdOf(key), { now: now(), ...act })],
          sum: [{ key: ownedKey(value.user_id), add: growth(set, [entry]) }],
        })
        if (!stored) continue
        evict(key, id)
        return value
      }
    },
    async remove(key, id, act = {}) {
      if (!isEndUserId(id)) return false
      for (;;) {
        const entry = await kv.get<EndUser>(keyOf(key, id))
        if (!entry) return false
        const counted = await counting(kv, countKey(key), { 'end users': -1 })
        const removed = await kv.commit({
          check: [{ key: entry.key, version: entry.version }, ...counted.check],
          set: audit('end-user.delete', firstIdOf(key), { now: now(), ...act }),
          del: [entry.key, totalKey('end_user', endUserId(entry.value))],
          sum: [...counted.sum, { key: ownedKey(entry.value.user_id), add: growth([], [entry]) }],
        })
        if (!removed) continue
        evict(key, id)
        await sweep(kv, endUserId(entry.value))
        return true
      }
    },
  }
}
