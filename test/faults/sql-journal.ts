import assert from 'node:assert/strict'
import type { KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'

/** What a client under faults has seen: the oracle. */
export interface Journal {
  acknowledged: Set<string>
  /** Commits that failed with nothing written, and with an unknown outcome. */
  none: number
  unknown: number
}

const once = (prefix: string, id: string) => ({
  check: [{ key: [prefix, 'record', id], version: null }],
  set: [{ key: [prefix, 'record', id], value: id.repeat(20) }],
  sum: [{ key: [prefix, 'total'], add: { records: 1 } }],
})

/**
 * Writes records, each with a count of it, until `done` of how many are acknowledged; tries each again until it is.
 * A commit that failed with nothing written must not turn out to have been applied.
 */
export async function writeJournal(
  kv: KV,
  prefix: string,
  clients: number,
  done: (acknowledged: number) => boolean,
): Promise<Journal> {
  const journal: Journal = { acknowledged: new Set(), none: 0, unknown: 0 }
  const write = async (id: string): Promise<void> => {
    for (let doubtful = false; ;)
      try {
        const applied = await kv.commit(once(prefix, id))
        assert.ok(applied || doubtful, `${id} had been applied after all`)
        journal.acknowledged.add(id)
        return
      } catch (error) {
        if (!StorageError.is(error)) throw error
        journal[error.outcome]++
        doubtful ||= error.outcome === 'unknown'
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
  }
  const client = async (name: number): Promise<void> => {
    for (let i = 0; !done(journal.acknowledged.size); i++) await write(`${name}-${i}`)
  }
  await Promise.all(Array.from({ length: clients }, (_, name) => client(name)))
  return journal
}

/** Finds every acknowledged record, and as many counted as there are. @returns how many there are */
export async function assertKept(kv: KV, prefix: string, acknowledged: Set<string>): Promise<number> {
  const found = new Set<string>()
  let after: readonly string[] | undefined
  do {
    const page = await kv.list([prefix, 'record'], { limit: 500, ...(after && { after }) })
    for (const { key } of page.items) found.add(key[2]!)
    after = page.next
  } while (after)
  assert.deepEqual(
    [...acknowledged].filter((id) => !found.has(id)),
    [],
  )
  const total = await kv.get<{ records: number }>([prefix, 'total'])
  assert.equal(total?.value.records ?? 0, found.size)
  return found.size
}
