import type { Key, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'

/** A deletion of all entries below a key that is under way, as stored under `purge/<id>` until it is finished. */
export interface Purge {
  key: Key
  /** The prefix of the keys. */
  value: string[]
}

/** Entries that one commit deletes. They are read before, and may be large. */
const PART = 100

/** The entry that announces a deletion. Write it in the commit that makes the entries unreachable. */
export const purgeOf = (id: string, prefix: Key): Purge => ({ key: ['purge', id], value: [...prefix] })

/** The other keys that lead to an entry of a project: tasks and conversations are found by their id alone. */
const leadsTo = (key: Key, value: unknown): Key[] => {
  const [, , kind, id] = key
  if (kind === 'task') return [['task', id!]]
  return kind === 'conversation' ? [['conversation', (value as { id: string }).id]] : []
}

/** Deletes what a purge names, in commits of bounded size. Several processes may do it at once. */
export async function finishPurge(kv: KV, { key, value: prefix }: Purge): Promise<void> {
  for (;;) {
    const { items } = await kv.list(prefix, { limit: PART })
    if (items.length === 0) break
    await kv.commit({ del: items.flatMap(({ key, value }) => [key, ...leadsTo(key, value)]) })
  }
  await kv.commit({ del: [key] })
}

/** Finishes the deletions that a crash cut off. @returns how many there were */
export async function finishPurges(kv: KV): Promise<number> {
  let count = 0
  for await (const { key, value } of entriesOf<string[]>(kv, ['purge'])) {
    await finishPurge(kv, { key, value })
    count++
  }
  return count
}
