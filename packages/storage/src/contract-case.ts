import type { KV } from '@turnpike/core'

/** One promise of the contract; `run` rejects where it is broken. Each case works below a prefix of its own. */
export interface ContractCase {
  name: string
  run(kv: KV): Promise<void>
}

let cases = 0
/** A prefix that no other case, and no earlier run on the same store, has used. */
export const fresh = (): string => `c${Date.now()}-${process.pid}-${cases++}`

export const values = (page: { items: { value: unknown }[] }): unknown[] => page.items.map(({ value }) => value)
