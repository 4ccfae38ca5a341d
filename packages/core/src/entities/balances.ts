import { uuidv7 } from '../helpers/ids.js'
import type { KV } from '../kv/kv.js'
import { totalKey, totalsOf } from '../ledger/totals.js'
import type { Fields } from '../ledger/totals.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'

/** Tokens of one credit. */
const TOKENS_PER_CREDIT = 1_000

/**
 * What credits are for: `off` = they stay as they were given; `report` = the tokens that a user uses are taken off; `enforce` = as well, the
 * gateway refuses a user's requests when none are left.
 */
export type BalancePolicy = 'off' | 'report' | 'enforce'

/** The balance of a user, as stored under `balance/<user id>`. */
export type StoredBalance = {
  id: string
  user_id: string
  /** Credits that were given. */
  credits: number
  /** Tokens that the user had used when the balance was first changed; they are not taken off. */
  used_before: number
  storage_gb: number
  extra_projects: number
  extra_agents: number
  created_at: string
  updated_at: string
}

/** The balance of a user. `id` and the times are null for a user whose balance was never changed. */
export type Balance = {
  id: string | null
  user_id: string
  /**
   * Whole credits: one is taken off when its last token is used, so that 3 times 400 tokens cost 1 and leave 200 for the next. Below 0 where
   * more was used than given, which only `report` allows beyond what was running.
   */
  credit_coins: number
  storage_gb: number
  extra_projects: number
  extra_agents: number
  created_at: string | null
  updated_at: string | null
}

/** The parts of a balance that can be changed. */
export type BalanceChange = Partial<Pick<Balance, 'credit_coins' | 'storage_gb' | 'extra_projects' | 'extra_agents'>>

const balanceKey = (userId: string) => ['balance', userId]

/** The stored balance of a user, its version, and the tokens that the user has used so far. */
async function read(kv: KV, userId: string) {
  const [entry, total] = await kv.getMany<unknown>([balanceKey(userId), totalKey('user', userId)])
  return {
    stored: entry?.value as StoredBalance | undefined,
    version: entry?.version ?? null,
    used: totalsOf(total?.value as Fields | undefined).tokens,
  }
}

const view = (userId: string, stored: StoredBalance | undefined, used: number, policy: BalancePolicy): Balance => {
  if (!stored)
    return {
      id: null,
      user_id: userId,
      credit_coins: 0,
      storage_gb: 0,
      extra_projects: 0,
      extra_agents: 0,
      created_at: null,
      updated_at: null,
    }
  const { credits, used_before, ...rest } = stored
  const spent = policy === 'off' ? 0 : Math.floor((used - used_before) / TOKENS_PER_CREDIT)
  return { ...rest, credit_coins: credits - spent }
}

/** The entry of the balance of a new user, to be written in the commit that makes the user. */
export function newBalance(
  userId: string,
  { credits, extra_projects }: Pick<StoredBalance, 'credits' | 'extra_projects'>,
  now: number,
): { key: string[]; value: StoredBalance } {
  const created_at = new Date(now).toISOString()
  const value: StoredBalance = {
    id: uuidv7(now),
    user_id: userId,
    credits,
    used_before: 0,
    storage_gb: 0,
    extra_projects,
    extra_agents: 0,
    created_at,
    updated_at: created_at,
  }
  return { key: balanceKey(userId), value }
}

/**
 * The balance of a user.
 * @example const { credit_coins } = await getBalance(kv, user.id)
 */
export async function getBalance(kv: KV, userId: string, policy: BalancePolicy = 'report'): Promise<Balance> {
  const { stored, used } = await read(kv, userId)
  return view(userId, stored, used, policy)
}

/**
 * Changes the balance of a user. Concurrent changes are all applied, one after the other.
 * @param change gets the current balance and returns what is different in the new one
 * @returns the new balance
 * @example await changeBalance(kv, user.id, ({ credit_coins }) => ({ credit_coins: credit_coins + 100 }))
 */
export async function changeBalance(
  kv: KV,
  userId: string,
  change: (balance: Balance) => BalanceChange,
  { policy = 'report', ...act }: Act & { policy?: BalancePolicy } = {},
): Promise<Balance> {
  const { now = Date.now() } = act
  for (;;) {
    const { stored, version, used } = await read(kv, userId)
    const updated_at = new Date(now).toISOString()
    const before = view(userId, stored, used, policy)
    const changes = change(before)
    if (Object.keys(changes).length === 0) return before
    const { credit_coins, ...others } = changes
    const value: StoredBalance = {
      id: stored?.id ?? uuidv7(now),
      user_id: userId,
      credits: stored?.credits ?? 0,
      used_before: stored?.used_before ?? used,
      storage_gb: before.storage_gb,
      extra_projects: before.extra_projects,
      extra_agents: before.extra_agents,
      created_at: stored?.created_at ?? updated_at,
      ...others,
      updated_at,
    }
    // The difference is what is given or taken, so that tokens of a credit that is partly used stay used.
    if (credit_coins !== undefined) value.credits += credit_coins - before.credit_coins
    const stands = await kv.commit({
      check: [{ key: balanceKey(userId), version }],
      set: [{ key: balanceKey(userId), value }, ...audit('balance.update', userId, { ...act, now })],
    })
    if (stands) return view(userId, value, used, policy)
  }
}

/** The tokens that a user may use over all time, so that no more than the given credits are used. */
export async function tokenLimit(kv: KV, userId: string): Promise<number> {
  const stored = (await kv.get<StoredBalance>(balanceKey(userId)))?.value
  return stored ? stored.used_before + stored.credits * TOKENS_PER_CREDIT : 0
}
