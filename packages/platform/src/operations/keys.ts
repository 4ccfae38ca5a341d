import type { Act, GatewayKey as StoredKey, KeyInput, PageOptions, Role, UsageTotals } from '@turnpike/core'
import { DEFAULT_RATE_LIMIT, getUser } from '@turnpike/core'
import {
  afterTurn,
  budgetOf,
  CALLS_AT_ONCE,
  hourOf,
  invalid,
  isUuid,
  NewBudget,
  unauthenticated,
} from '@turnpike/core/internal'
import { jsonArray, jsonList, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { forbidden, notFound } from '../errors.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { GatewayKey, IdParams, KeysUsage, wellFormed } from '../schemas.js'
import { dateOf, periodOf, Time } from '../time.js'
import { none, sum, usageView } from '../usage.js'

/** The hours from that of `from` to that of `to`, both included; default all. */
export interface Period {
  from?: Date | undefined
  to?: Date | undefined
}

/** What users can do with their gateway keys, without HTTP. */
export function keyOperations({ kv, keys, ledger, keyLimits, dataBytes, now }: Parts) {
  const limits = (role: Role) => (role === 'user' ? { keys: 0, rateLimit: 0 } : keyLimits[role])

  /** The sums of a key in the hours of a period. */
  const within = async (id: string, { from = new Date(0), to }: Period): Promise<UsageTotals> => {
    const last = to && hourOf(to.toISOString())
    const hours = await ledger.hours('key', id, from)
    return hours
      .filter(({ hour }) => last === undefined || hour <= last)
      .reduce((all, hour) => sum(all, hour.totals), none)
  }

  return {
    /** What users of a role may have. */
    limits,
    /** @throws ApiError 400 for a key that has expired already; 403 where the role of the user has no more keys, or none with this rate limit */
    async create(userId: string, input: KeyInput, act?: Act) {
      if (input.expiresAt && input.expiresAt.getTime() <= now()) throw invalid('expiresAt must be a time in the future')
      const user = await getUser(kv, userId)
      // Deleted since the request was authenticated.
      if (!user) throw unauthenticated()
      const { keys: atMost, rateLimit: fastest } = limits(user.role)
      const { rateLimit = Math.min(DEFAULT_RATE_LIMIT, fastest) } = input
      if (rateLimit > fastest) throw forbidden(`Your keys may have ${fastest} requests per minute at most`)
      try {
        return (await keys.create(userId, { atMost, bytesAtMost: dataBytes, ...input, rateLimit }, act))!
      } catch (error) {
        // Deleted since it was read.
        throw (await getUser(kv, userId)) ? error : unauthenticated()
      }
    },
    list: (userId: string, page?: PageOptions) => keys.list(userId, page),
    /** Revokes a key of the user; also one that is revoked already. False if the user has no key with this id. */
    async revoke(userId: string, id: string, act?: Act): Promise<boolean> {
      const key = isUuid(id) ? await keys.get(id) : null
      return key?.user_id === userId && keys.revoke(id, act)
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
        await Promise.all(some.map(async (i) => (totals[i] = await within(items[i]!.id, period))))
        // Other requests have their turn, because a store in memory never waits.
        await new Promise<void>((resolve) => afterTurn(resolve))
      }
      return { items: items.map((key, i) => ({ key, totals: totals[i]! })), next }
    },
  }
}

export type KeyOperations = ReturnType<typeof keyOperations>

const keyView = ({ id, name, rate_limit, models, budget, expires_at, revoked, created_at }: StoredKey) => ({
  id,
  name,
  rate_limit,
  ...(models && { models }),
  ...(budget && { budget }),
  ...(expires_at !== undefined && { expires_at }),
  revoked,
  created_at,
})

/** The body of POST /api/keys. */
export const NewKey = v.object({
  name: v.pipe(v.string(), v.regex(/\S/, 'must not be blank'), v.maxLength(200), wellFormed),
  /** Requests per minute; default 60. */
  rateLimit: v.nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))),
  /** The allowed models, each as an id or as `provider/id`; default all. */
  models: v.nullish(
    v.pipe(v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(200))), v.nonEmpty(), v.maxLength(100)),
  ),
  /** Limit on the cost of its requests; default none. */
  budget: v.nullish(NewBudget),
  /** Default never. */
  expiresAt: v.nullish(Time),
})

/** POST /api/keys */
export const keysCreate = (keys: KeyOperations) =>
  operation({
    id: 'keys.create',
    summary: 'Makes a gateway key. Its value is in this answer only.',
    access: 'developer',
    aliases: { rate_limit: 'rateLimit', expires_at: 'expiresAt' },
    body: NewKey,
    example: { name: 'laptop' },
    output: GatewayKey,
    errors: [403],
    async run(caller, { body: { name, rateLimit, models, budget, expiresAt } }) {
      const { id } = caller!.user
      const input = {
        name,
        ...(rateLimit != null && { rateLimit }),
        ...(models && { models }),
        ...(budget && { budget: budgetOf(budget) }),
        ...(expiresAt != null && { expiresAt: dateOf(expiresAt) }),
      }
      const made = await keys.create(id, input, { by: id })
      return { ...keyView(made), key: made.key }
    },
  })

/** GET /api/keys */
export const keysList = (keys: KeyOperations) =>
  operation({
    id: 'keys.list',
    summary: "The caller's gateway keys, newest first, without their values.",
    access: 'developer',
    query: Paging,
    output: v.array(GatewayKey),
    answerHeaders: ['Link'],
    run: (caller, { query }, call) =>
      jsonArray(query, call, async (page) => {
        const { items, next } = await keys.list(caller!.user.id, page)
        return { items: items.map((key) => ({ ...keyView(key), last_used_at: key.last_used_at })), next }
      }),
  })

/** DELETE /api/keys/{id} */
export const keysRevoke = (keys: KeyOperations) =>
  operation({
    id: 'keys.revoke',
    summary: 'Revokes a gateway key; it stays in the list.',
    access: 'developer',
    params: IdParams,
    errors: [404],
    async run(caller, { params: { id } }) {
      const user = caller!.user.id
      if (!(await keys.revoke(user, id, { by: user }))) throw notFound('key')
    },
  })

/** GET /api/keys/usage */
export const keysUsage = (keys: KeyOperations) =>
  operation({
    id: 'keys.usage',
    summary: "What the caller's keys have used, over all time or in whole hours from `from` to `to`.",
    access: 'developer',
    query: v.object({ from: v.optional(Time), to: v.optional(Time) }),
    output: KeysUsage,
    run(caller, { query }) {
      const period = periodOf(query)
      let total = none
      const read = async (page: PageOptions) => {
        const { items, next } = await keys.usage(caller!.user.id, period, page)
        total = items.reduce((all, { totals }) => sum(all, totals), total)
        return { items: items.map(({ key: { id, name }, totals }) => ({ id, name, ...usageView(totals) })), next }
      }
      return jsonList({}, 'keys', read, () => usageView(total))
    },
  })
