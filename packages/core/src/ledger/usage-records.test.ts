import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { memoryKV } from '../kv/memory-kv.js'
import type { UsageLedger } from './ledger.js'
import { usageLedger } from './usage-ledger.js'

/** A ledger with records of two users, those of ada in segments of these sizes, and the ids of her records, newest first. */
async function filled(sizes: number[]) {
  const ledger = usageLedger(await memoryKV())
  const ids: string[] = []
  for (const [s, size] of sizes.entries()) {
    const segment = Array.from({ length: size }, (_, i) => `${s}-${i}`)
    await Promise.all([
      ledger.append(usageRecord({ user_id: 'bob', request_id: `bob-${s}` })),
      ...segment.map((request_id) => ledger.append(usageRecord({ request_id }))),
    ])
    ids.push(...segment)
  }
  return { ledger, ids: ids.toReversed() }
}

async function pages(ledger: UsageLedger, limit: number): Promise<string[][]> {
  const found: string[][] = []
  let after: string | undefined
  do {
    const page = await ledger.records('ada', { limit, ...(after !== undefined && { after }) })
    found.push(page.items.map(({ request_id }) => request_id))
    after = page.next
  } while (after !== undefined)
  return found
}

describe('pages of records', () => {
  it('contain every record, newest first, for any page and segment size', async () => {
    const shapes = [[1], [5], [1, 1, 1, 1, 1], [3, 1, 4, 1, 5, 9, 2, 6], [12, 1], [1, 12], [7, 7, 7]]
    for (const sizes of shapes) {
      const { ledger, ids } = await filled(sizes)
      for (let limit = 1; limit <= ids.length + 1; limit++) {
        const found = await pages(ledger, limit)
        expect(found.flat(), `${sizes.join()} by ${limit}`).toEqual(ids)
        // All pages but the last are full, and the last is not empty.
        expect(found.map(({ length }) => length).slice(0, -1)).toEqual(found.slice(1).map(() => limit))
        expect(found.at(-1)!.length).toBeGreaterThan(0)
      }
    }
  })

  it('contain a hundred records by default and five hundred at most', async () => {
    const { ledger, ids } = await filled([400, 400])
    expect((await ledger.records('ada')).items).toHaveLength(100)
    expect((await pages(ledger, 100_000)).map(({ length }) => length)).toEqual([500, 300])
    expect((await pages(ledger, 0)).flat()).toEqual(ids)
  })

  it('do not change when newer records are added', async () => {
    const { ledger, ids } = await filled([4, 4])
    const { items, next } = await ledger.records('ada', { limit: 3 })
    await ledger.append(usageRecord({ request_id: 'new' }))
    const rest = await ledger.records('ada', { after: next! })
    expect([...items, ...rest.items].map(({ request_id }) => request_id)).toEqual(ids)
    expect(rest).not.toHaveProperty('next')
  })

  it('contain only records of their user, even with the cursor of another user', async () => {
    const { ledger } = await filled([3])
    const { next } = await ledger.records('ada', { limit: 1 })
    const { items } = await ledger.records('bob', { after: next! })
    for (const { user_id } of items) expect(user_id).toBe('bob')
  })

  it('require a valid cursor', async () => {
    const { ledger, ids } = await filled([3, 3])
    const { next } = await ledger.records('ada', { limit: 1 })
    const [id] = next!.split('.')
    for (const after of [
      '',
      'x',
      ids[0]!,
      `${id}.`,
      `${id}.-1`,
      `${id}.1.1`,
      `${id}.x`,
      ` ${id}`,
      `${id}\n`,
      `${id}/x`,
    ])
      await expect(ledger.records('ada', { after }), after).rejects.toMatchObject({ name: 'ApiError', status: 400 })
    expect((await ledger.records('ada', { after: `${id}.99` })).items).toHaveLength(3)
    // A cursor may name a segment that no longer exists.
    expect(await ledger.records('ada', { after: '00000000-0000-7000-8000-000000000000.2' })).toEqual({ items: [] })
    expect((await ledger.records('ada', { after: 'ffffffff-ffff-7fff-bfff-ffffffffffff' })).items).toHaveLength(6)
  })
})
