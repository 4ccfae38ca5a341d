import assert from 'node:assert/strict'
import type { Key, KV, Page } from '@turnpike/core'
import { StorageError } from '@turnpike/core'

const USERS = 7
const CHAINS = 3

/** What became of a write, as far as its client was told. */
type Fate = 'asked' | 'acknowledged'

/** What clients asked of a store, and what they were told: the oracle. Written down before each commit and after each answer. */
export interface Journal {
  /** By id; each record is written once, and deleted at most once. */
  records: Map<string, { user: string; amount: number; written: Fate; deleted?: Fate }>
  /** By chain and number, who may have written that link, and who was told that it did. */
  links: Map<string, { asked: Set<string>; acknowledged?: string }>
  acknowledged: number
  /** Writes whose client was told nothing, and how many of them were there afterwards. */
  unknown: number
  applied: number
}

export const newJournal = (): Journal => ({
  records: new Map(),
  links: new Map(),
  acknowledged: 0,
  unknown: 0,
  applied: 0,
})

const recordKey = (id: string): Key => ['record', id]

/** Writes as the ledger does until `done` or until the store fails: records with totals, checked updates, and deletes. */
async function client(kv: KV, journal: Journal, name: string, done: () => boolean): Promise<void> {
  let before: string | undefined
  for (let i = 0; !done(); i++) {
    const id = `${name}-${i}`
    const user = String(i % USERS)
    const record = { user, amount: i, written: 'asked' as Fate }
    journal.records.set(id, record)
    const applied = await kv.commit({
      check: [{ key: recordKey(id), version: null }],
      set: [{ key: recordKey(id), value: { user, amount: i, filler: 'x'.repeat(100) } }],
      sum: [{ key: ['total', user], add: { records: 1, amount: i } }],
    })
    assert.ok(applied, `${id} was there before it was written`)
    record.written = 'acknowledged'
    journal.acknowledged++
    if (i % 5 === 1) await extend(kv, journal, String(i % CHAINS), id)
    if (i % 5 === 3 && before) await remove(kv, journal, before)
    before = id
  }
}

/** One try to add the next link to a chain. */
async function extend(kv: KV, journal: Journal, chain: string, by: string): Promise<void> {
  const end = await kv.get<number>(['chain', chain])
  const n = (end?.value ?? 0) + 1
  const name = `${chain}/${n}`
  const link = journal.links.get(name) ?? { asked: new Set() }
  journal.links.set(name, link)
  link.asked.add(by)
  const applied = await kv.commit({
    check: [{ key: ['chain', chain], version: end?.version ?? null }],
    set: [
      { key: ['chain', chain], value: n },
      { key: ['link', chain, String(n)], value: by },
    ],
  })
  if (!applied) return void link.asked.delete(by)
  assert.equal(link.acknowledged, undefined, `two were told that they wrote link ${name}`)
  link.acknowledged = by
  journal.acknowledged++
}

async function remove(kv: KV, journal: Journal, id: string): Promise<void> {
  const record = journal.records.get(id)!
  record.deleted = 'asked'
  await kv.commit({
    del: [recordKey(id)],
    sum: [{ key: ['total', record.user], add: { records: -1, amount: -record.amount } }],
  })
  record.deleted = 'acknowledged'
  journal.acknowledged++
}

/** Has `clients` clients write until `done`, each until the store fails it. @returns what the store failed them with */
export async function writeAll(
  kv: KV,
  journal: Journal,
  { name, clients, done = () => false }: { name: string; clients: number; done?: () => boolean },
): Promise<StorageError[]> {
  const failures: StorageError[] = []
  await Promise.all(
    Array.from({ length: clients }, (_, c) =>
      client(kv, journal, `${name}-${c}`, done).catch((error: unknown) => {
        if (!StorageError.is(error)) throw error
        failures.push(error)
      }),
    ),
  )
  return failures
}

/** All entries below a prefix. */
export async function all<T>(kv: KV, prefix: Key): Promise<Map<string, T>> {
  const found = new Map<string, T>()
  for (let after: Key | undefined; ;) {
    const page: Page<T> = await kv.list<T>(prefix, { limit: 500, ...(after && { after }) })
    for (const { key, value } of page.items) found.set(key.slice(prefix.length).join('/'), value)
    after = page.next
    if (!after) return found
  }
}

/**
 * Compares a store with the journal: all that was acknowledged is there, nothing is there that was not asked for, and totals and chains
 * are whole. From here on it is settled what became of each write, so that nothing may come or go later.
 */
export async function verify(kv: KV, journal: Journal): Promise<void> {
  await verifyRecords(kv, journal)
  await verifyLinks(kv, journal)
}

async function verifyRecords(kv: KV, journal: Journal): Promise<void> {
  const stored = await all<{ user: string; amount: number }>(kv, ['record'])
  const totals = new Map<string, { records: number; amount: number }>()
  for (const [id, { user, amount, written, deleted }] of journal.records) {
    const found = stored.get(id)
    stored.delete(id)
    if (found) {
      assert.notEqual(deleted, 'acknowledged', `${id} is back`)
      assert.deepEqual({ user: found.user, amount: found.amount }, { user, amount })
      const total = totals.get(user) ?? { records: 0, amount: 0 }
      totals.set(user, { records: total.records + 1, amount: total.amount + amount })
      journal.records.set(id, { user, amount, written: 'acknowledged' })
    } else if (deleted) journal.records.set(id, { user, amount, written, deleted: 'acknowledged' })
    else {
      assert.notEqual(written, 'acknowledged', `${id} is lost`)
      journal.records.delete(id)
    }
    if (written === 'asked' || deleted === 'asked') settle(journal, deleted ? !found : found !== undefined)
  }
  assert.deepEqual([...stored.keys()], [], 'records that nobody asked for')
  for (const [user, total] of await all<{ records: number; amount: number }>(kv, ['total'])) {
    assert.deepEqual(total, totals.get(user) ?? { records: 0, amount: 0 }, `the total of user ${user}`)
    totals.delete(user)
  }
  assert.deepEqual([...totals.keys()], [], 'users without a total')
}

async function verifyLinks(kv: KV, journal: Journal): Promise<void> {
  const stored = await all<string>(kv, ['link'])
  let links = 0
  for (const [chain, length] of await all<number>(kv, ['chain'])) {
    for (let n = 1; n <= length; n++) assert.ok(stored.has(`${chain}/${n}`), `link ${n} of ${length} is missing`)
    links += length
  }
  assert.equal(stored.size, links, 'links beyond the end of a chain')
  for (const [name, by] of stored) assert.ok(journal.links.get(name)?.asked.has(by), `${name} by ${by}: not asked for`)
  for (const [name, { asked, acknowledged }] of journal.links) {
    const by = stored.get(name)
    if (acknowledged !== undefined) assert.equal(by, acknowledged, `link ${name} is lost, or another's`)
    for (const client of asked) if (client !== acknowledged) settle(journal, client === by)
    if (by === undefined) journal.links.delete(name)
    else journal.links.set(name, { asked: new Set([by]), acknowledged: by })
  }
}

function settle(journal: Journal, applied: boolean): void {
  journal.unknown++
  if (applied) journal.applied++
}
