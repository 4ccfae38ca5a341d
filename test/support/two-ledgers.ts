import type { BudgetOf, BudgetUse, Commit, Fields, KV, UsageLedger, UsageRecord } from '@turnpike/core'
import { entriesOf, memoryKV, StorageError, usageLedger, verifyStore } from '@turnpike/core'
import { budgetUse } from '../../packages/core/src/ledger/holds.js'
import { usageRecord } from './usage-record.js'

/** Stands between a ledger and its store. */
type Fault = (commit: Commit, kv: KV) => Promise<boolean>

/** A store that two processes have, each of whose calls takes a turn; `fault` stands between the first one and it. */
export async function twoLedgers(fault?: Fault) {
  const clock = { now: Date.UTC(2026, 0, 31, 23, 30) }
  const kv = await memoryKV({ now: () => clock.now })
  const turn = (): Promise<void> => new Promise(setImmediate)
  const slow: KV = {
    ...kv,
    getMany: (keys) => turn().then(() => kv.getMany(keys)),
    commit: (commit) => turn().then(() => kv.commit(commit)),
  }
  const open = (store: KV): UsageLedger => usageLedger(store, { now: () => clock.now })
  const first = open(fault ? { ...slow, commit: (commit) => turn().then(() => fault(commit, kv)) } : slow)
  const second = open(slow)
  const used = async (...key: string[]): Promise<BudgetUse> =>
    budgetUse((await kv.get<Fields>(['budget', ...key]))?.value)
  const keysBelow = async (name: string): Promise<string[]> => {
    const found: string[] = []
    for await (const { key } of entriesOf(kv, [name])) found.push(key[1]!)
    return found
  }
  const expectClean = async (): Promise<void> => {
    for await (const problem of verifyStore(kv)) throw new Error(problem)
  }
  return { clock, kv, first, second, used, keysBelow, expectClean }
}

/** A record of this cost. */
export const nano = (cost_nano_usd: number | null, fields: Partial<UsageRecord> = {}): UsageRecord =>
  usageRecord({ cost_nano_usd, ...fields })
export const estimated = (cost: number): UsageRecord => nano(cost, { accuracy: 'estimated' })

/** A budget of the key `k`. */
export const ofKey = (usd: number, per?: 'day' | 'month'): BudgetOf => ({
  of: 'key',
  id: 'k',
  budget: { usd, ...(per && { per }) },
})

/** Whether a commit makes or ends holds. */
export const makes = ({ set = [] }: Commit): boolean => set.some(({ key }) => key[0] === 'hold')
export const ends = ({ del = [] }: Commit): boolean => del.some((key) => key[0] === 'hold')

/** What a commit of unknown outcome rejects with. */
export const lost = new StorageError('Lost', 'unknown')

/** What may have become of a commit of unknown outcome. */
export const outcomes = ['applied', 'not applied', 'applied late']

/** Loses the first commit that `chosen` is true of; one that is applied late waits in `late`. */
export function losing(chosen: (commit: Commit) => boolean, outcome: string) {
  let met = 0
  const losses: { fault: Fault; late?: () => Promise<boolean> } = {
    async fault(commit, kv) {
      if (!chosen(commit) || met++ > 0) return kv.commit(commit)
      if (outcome === 'applied') await kv.commit(commit)
      if (outcome === 'applied late') losses.late = () => kv.commit(commit)
      throw lost
    },
  }
  return losses
}
