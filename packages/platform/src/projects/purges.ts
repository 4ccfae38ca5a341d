import type { Key, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import { nextTurn } from '@turnpike/core/helpers'
import { counting, growth, ownedKey } from '@turnpike/core/internal'
import type { Task } from '../schemas.js'
import { indexOf } from '../tasks/task-index.js'

/** What a deletion deletes, and of whose data: all entries below a key. */
export type Purged = {
  user_id: string
  prefix: Key
}

/** A deletion that is under way, as stored under `purge/<id>` until it is finished. An array is the prefix alone, of an earlier version. */
export interface Purge {
  key: Key
  value: { user_id: string; prefix: string[] } | string[]
}

/** Entries that one commit deletes. They are read before. */
const PART = 100

/** The entry that announces a deletion. Write it in the commit that makes the entries unreachable. */
export const purgeOf = (id: string, { user_id, prefix }: Purged): Purge => ({
  key: ['purge', id],
  value: { user_id, prefix: [...prefix] },
})

/** What a purge deletes; without a user, nothing of it was counted. */
export const purgedBy = (value: Purge['value']): { user_id?: string; prefix: Key } =>
  Array.isArray(value) ? { prefix: value } : value

/** The entries that lead to one of a project: tasks and conversations are found by their id alone, tasks also by their status. */
const leadsTo = (key: Key, value: unknown, user_id = ''): { key: Key; value: unknown }[] => {
  const [, project_id, kind, id] = key
  const owner = { user_id, project_id }
  if (kind === 'task') return [{ key: ['task', id!], value: owner }, indexOf(user_id, value as Task)]
  return kind === 'conversation' ? [{ key: ['conversation', (value as { id: string }).id], value: owner }] : []
}

/** Deletes what a purge names, in commits of bounded size that give back its bytes. Several processes may do it at once. */
export async function finishPurge(kv: KV, { key, value }: Purge): Promise<void> {
  const { user_id, prefix } = purgedBy(value)
  for (;;) {
    const { items } = await kv.list(prefix, { limit: PART })
    if (items.length === 0) break
    const gone = items.flatMap((entry) => [entry, ...leadsTo(entry.key, entry.value, user_id)])
    const counted = gone.filter((entry) => !('counter' in entry))
    const { check = [], sum = [] } =
      user_id === undefined ? {} : await counting(kv, ownedKey(user_id), growth([], counted))
    await kv.commit({
      check: [...items.map(({ key, version }) => ({ key, version })), ...check],
      del: gone.map(({ key }) => key),
      sum,
    })
    await nextTurn()
  }
  await kv.commit({ del: [key] })
}

/** Finishes the deletions that a crash cut off. @returns how many there were */
export async function finishPurges(kv: KV): Promise<number> {
  let count = 0
  for await (const { key, value } of entriesOf<Purge['value']>(kv, ['purge'])) {
    await finishPurge(kv, { key, value })
    count++
  }
  return count
}
