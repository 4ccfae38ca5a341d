import type { KV } from '@turnpike/core'

/** One requirement of the contract; `run` rejects if the store violates it. Each case uses its own key prefix. */
export interface ContractCase {
  name: string
  run(kv: KV): Promise<void>
}

let cases = 0
/** A key prefix that no other case and no earlier run on the same store uses. */
export const fresh = (): string => `c${Date.now()}-${process.pid}-${cases++}`

export const values = (page: { items: { value: unknown }[] }): unknown[] => page.items.map(({ value }) => value)
