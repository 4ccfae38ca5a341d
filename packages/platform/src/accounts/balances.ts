import type { Act, Balance, BalanceChange } from '@turnpike/core'
import { changeBalance, getBalance, getUser } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { invalid, ownedKey } from '@turnpike/core/internal'
import { BYTES_PER_GB, PLAN_LIMITS } from '../conventions.js'
import { usedSpace } from '../files/file-space.js'
import type { Parts } from '../parts.js'

/** What a user may have: null = any number. */
export interface PlanLimits {
  projects: number | null
  agents: number | null
  /** Gigabytes of files, 10^9 bytes each; may be a fraction. */
  storageGb: number
  /** Gigabytes, 10^9 bytes each, of all else that a user stores, such as projects, tasks and messages; may be a fraction. */
  dataGb: number
  /** Gateway sessions. */
  sessions: number | null
  /** Tasks in all projects. */
  tasks: number | null
}

/**
 * Bytes of `dataGb`.
 * @param planLimits as of `createPlatform`
 * @example createGateway({ router, kv, dataBytes: dataBytesOf() })
 */
export const dataBytesOf = (planLimits: Partial<PlanLimits> = {}): number =>
  Math.floor((planLimits.dataGb ?? PLAN_LIMITS.dataGb) * BYTES_PER_GB)

const parts = ['credit_coins', 'storage_gb', 'extra_projects', 'extra_agents'] as const

/** What can be done with balances, without HTTP. */
export function balanceOperations({ kv, balancePolicy: policy, planLimits, now }: Parts) {
  const change = async (userId: string, to: (balance: Balance) => BalanceChange, act: Act): Promise<Balance | null> =>
    (await getUser(kv, userId)) && changeBalance(kv, userId, to, { now: now(), ...act, policy })

  return {
    policy,
    /** Null if there is no such user. */
    get: async (userId: string): Promise<Balance | null> =>
      (await getUser(kv, userId, { deleted: true })) && getBalance(kv, userId, policy),
    /** What a user may have: the plan, and the extras of the balance. */
    async limits(userId: string): Promise<PlanLimits> {
      const { storage_gb, extra_projects, extra_agents } = await getBalance(kv, userId, policy)
      const { projects, agents, storageGb, ...others } = planLimits
      return {
        ...others,
        projects: projects === null ? null : projects + extra_projects,
        agents: agents === null ? null : agents + extra_agents,
        storageGb: storageGb + storage_gb,
      }
    },
    /** The bytes of a user's files, those in the trash and uploads under way included. */
    usedBytes: (userId: string) => usedSpace(kv, userId),
    /** The bytes of data that a user has. */
    dataBytes: async (userId: string): Promise<number> => (await kv.get<Counts>(ownedKey(userId)))?.value['bytes'] ?? 0,
    /** Sets the given parts. Null if there is no such user. */
    set: (userId: string, to: BalanceChange, act: Act = {}) => change(userId, () => to, act),
    /**
     * Adds to the given parts, or takes off, such as credits that were bought. Null if there is no such user.
     * @throws ApiError 400 where less than nothing would be left of a quota
     */
    add: (userId: string, amounts: BalanceChange, act: Act = {}) =>
      change(
        userId,
        (balance) => {
          const sums: BalanceChange = {}
          for (const part of parts) if (amounts[part] !== undefined) sums[part] = balance[part] + amounts[part]
          if (parts.some((part) => part !== 'credit_coins' && (sums[part] ?? 0) < 0))
            throw invalid('That is more than there is to take off')
          return sums
        },
        act,
      ),
  }
}

export type BalanceOperations = ReturnType<typeof balanceOperations>
