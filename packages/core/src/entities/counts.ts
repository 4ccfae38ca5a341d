import { ApiError } from '../errors.js'
import type { Commit, Key, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'

/** How many of each kind are counted under one key. */
type Counts = Record<string, number>

/** Where this many more fit, the commit does not depend on the counter: there are not as many at a time, and they need not wait for each other. */
const FAR = 1_000

/** The counter of what a user has: gateway keys that are not revoked, sessions, tasks. */
export const ownedKey = (userId: string): Key => ['owned', userId]

/**
 * The check and the addition of a commit that makes or removes something that is counted, so that parallel ones exceed no limit.
 * @param amounts what is made of each kind, or less than 0 for what is removed
 * @param options.limits the highest number of each kind; null or absent = any number
 * @param options.uncounted how many there are of a kind that was not counted yet, as in a store of an earlier version; default 0
 * @throws ApiError 403 where a limit is exceeded
 */
export async function counting(
  kv: KV,
  key: Key,
  amounts: Counts,
  {
    limits = {},
    uncounted,
  }: {
    limits?: Record<string, number | null | undefined>
    uncounted?: (kind: string) => Promise<number>
  } = {},
): Promise<Required<Pick<Commit, 'check' | 'sum'>>> {
  const entry = await kv.get<Counts>(key)
  const add = { ...amounts }
  let depends = false
  for (const [kind, amount] of Object.entries(amounts)) {
    let before = entry?.value[kind]
    if (before === undefined) {
      before = (await uncounted?.(kind)) ?? 0
      add[kind] = before + amount
      depends = true
    }
    const limit = limits[kind] ?? Infinity
    const left = limit - before - amount
    if (left < 0 && amount > 0)
      throw new ApiError(403, 'permission_error', `Your plan has ${limit} ${kind}, and this would be more`, {
        code: 'forbidden',
      })
    depends ||= left < FAR
  }
  return { check: depends ? [{ key, version: entry?.version ?? null }] : [], sum: [{ key, add }] }
}

/** How many entries are below a prefix, or how many of them count. */
export async function countEntries<T>(
  kv: KV,
  prefix: Key,
  counts: (entry: { key: Key; value: T }) => boolean | Promise<boolean> = () => true,
): Promise<number> {
  let count = 0
  for await (const entry of entriesOf<T>(kv, prefix)) if (await counts(entry)) count++
  return count
}
