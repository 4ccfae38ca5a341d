import * as v from 'valibot'
import { MAX_BALANCE } from '../conventions.js'
import { found } from '../errors.js'
import { present } from '../given-fields.js'
import type { KeyOperations } from '../keys/keys.js'
import { operation } from '../operation.js'
import { AccountLimits, IdParams, UserBalance } from '../schemas.js'
import type { BalanceOperations } from './balances.js'
import type { UserOperations } from './users.js'

const number = v.pipe(v.number(), v.integer(), v.minValue(-MAX_BALANCE), v.maxValue(MAX_BALANCE))
const quota = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_BALANCE))

/** The body of PATCH /api/users/{id}/balance: the new values. */
export const BalancePatch = v.object({
  creditCoins: v.optional(number),
  storageGb: v.optional(quota),
  extraProjects: v.optional(quota),
  extraAgents: v.optional(quota),
})

/** The body of POST /api/users/{id}/balance: what is added, or taken off. */
export const BalanceAmounts = v.object({
  creditCoins: v.nullish(number),
  storageGb: v.nullish(number),
  extraProjects: v.nullish(number),
  extraAgents: v.nullish(number),
})

const aliases = {
  credit_coins: 'creditCoins',
  storage_gb: 'storageGb',
  extra_projects: 'extraProjects',
  extra_agents: 'extraAgents',
}

const changeOf = (amounts: v.InferOutput<typeof BalanceAmounts>) =>
  present({
    credit_coins: amounts.creditCoins,
    storage_gb: amounts.storageGb,
    extra_projects: amounts.extraProjects,
    extra_agents: amounts.extraAgents,
  })

/** GET /api/users/{id}/balance */
export const balancesGet = (balances: BalanceOperations) =>
  operation({
    id: 'balances.get',
    summary: 'The balance of a user.',
    access: 'admin',
    params: IdParams,
    output: UserBalance,
    errors: [404],
    run: async (_, { params: { id } }) => found('user', await balances.get(id)),
  })

/** PATCH /api/users/{id}/balance */
export const balancesSet = (balances: BalanceOperations) =>
  operation({
    id: 'balances.set',
    summary: 'Sets the given parts of a balance.',
    access: 'admin',
    params: IdParams,
    aliases,
    body: BalancePatch,
    example: { creditCoins: 100 },
    output: UserBalance,
    errors: [404],
    run: async (caller, { params: { id }, body }) =>
      found('user', await balances.set(id, changeOf(body), { by: caller!.user.id })),
  })

/** POST /api/users/{id}/balance */
export const balancesAdd = (balances: BalanceOperations) =>
  operation({
    id: 'balances.add',
    summary: 'Adds to the given parts of a balance, or takes off; parallel calls all count.',
    access: 'admin',
    params: IdParams,
    aliases,
    body: BalanceAmounts,
    example: { creditCoins: 10 },
    output: UserBalance,
    errors: [404],
    run: async (caller, { params: { id }, body }) =>
      found('user', await balances.add(id, changeOf(body), { by: caller!.user.id })),
  })

/** GET /api/account/balance */
export const ownBalance = (balances: BalanceOperations) =>
  operation({
    id: 'account.balance',
    summary: "The caller's balance.",
    access: 'user',
    output: UserBalance,
    run: async (caller) => found('user', await balances.get(caller!.user.id)),
  })

/** GET /api/account/limits */
export const ownLimits = (balances: BalanceOperations, users: UserOperations, keys: KeyOperations) =>
  operation({
    id: 'account.limits',
    summary:
      'What the caller may have, by the plan, the role and the extras of the balance, null = any number; the bytes of files and of data that are used; and the highest role that the caller may take.',
    access: 'user',
    output: AccountLimits,
    async run(caller) {
      const { user } = caller!
      const [limits, used, data] = await Promise.all([
        balances.limits(user.id),
        balances.usedBytes(user.id),
        balances.dataBytes(user.id),
      ])
      const { storageGb: storage_gb, dataGb: data_gb, ...counts } = limits
      const { keys: most, rateLimit } = keys.limits(user.role)
      return {
        ...counts,
        storage_gb,
        storage_bytes_used: used,
        data_gb,
        data_bytes_used: data,
        balance_policy: balances.policy,
        role: users.highestOwnRole(user),
        keys: most,
        key_rate_limit: rateLimit,
      }
    },
  })
