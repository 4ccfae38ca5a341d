import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { memoryKV } from '../kv/memory-kv.js'
import type { PageOptions } from '../kv/pages.js'
import { usageLedger } from './usage-ledger.js'

const NOW = '2026-01-02T12:30:00.000Z'
const FROM = new Date('2026-01-02T12:00:00.000Z')

/** A ledger with a record for each id, at these times. */
async function setUp(records: Record<string, string[]>) {
  const ledger = usageLedger(await memoryKV())
  const all = Object.entries(records).flatMap(([user_id, times]) => times.map((timestamp) => ({ user_id, timestamp })))
  await Promise.all(all.map((fields) => ledger.append(usageRecord(fields))))
  return ledger
}
const idsOf = ({ items }: { items: { id: string }[] }): string[] => items.map(({ id }) => id)

describe('the sums of all ids', () => {
  it.each(['listTotals', 'listSince'] as const)(
    'have every id once by %s, whatever characters they have',
    async (list) => {
      const ids = ['z', 'a/b', 'A', 'ä', '~', 'a', 'a-b', 'a_b', '9999']
      const ledger = await setUp(Object.fromEntries(ids.map((id) => [id, [NOW, '2020-01-01T00:00:00.000Z']])))
      const read = (page?: PageOptions) =>
        list === 'listTotals' ? ledger.listTotals('user', page) : ledger.listSince('user', FROM, page)
      const sorted = idsOf(await read())
      expect(sorted.toSorted()).toEqual(ids.toSorted())
      const totals = { requests: list === 'listTotals' ? 2 : 1 }
      for (const [i, id] of sorted.entries())
        expect(await read({ limit: 1, after: sorted[i - 1] })).toEqual({
          items: [{ id, totals: expect.objectContaining(totals) as unknown }],
          ...(i < ids.length - 1 && { next: id }),
        })
      expect(await read({ after: sorted.at(-1) })).toEqual({ items: [] })
    },
  )

  it('start with the hour of a time', async () => {
    const ledger = await setUp({ a: ['2026-01-02T11:59:59.999Z'], b: ['2026-01-02T12:00:00.000Z'] })
    expect(idsOf(await ledger.listSince('user', FROM))).toEqual(['b'])
    expect(idsOf(await ledger.listSince('user', new Date('2026-01-02T11:30:00.000Z')))).toEqual(['a', 'b'])
  })

  it('are 100 on a page, if not said otherwise', async () => {
    const ledger = await setUp(Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`u${1000 + i}`, [NOW]])))
    for (const page of [await ledger.listTotals('user'), await ledger.listSince('user', FROM)])
      expect([page.items.length, page.next]).toEqual([100, 'u1099'])
  })

  it('of models have their ids as they are cut', async () => {
    const ledger = usageLedger(await memoryKV())
    await ledger.append(usageRecord({ model: 'm'.repeat(256), timestamp: NOW }))
    await ledger.append(usageRecord({ model: 'n', timestamp: NOW }))
    const long = `openai/${'m'.repeat(193)}`
    expect(idsOf(await ledger.listSince('model', FROM))).toEqual([long, 'openai/n'])
    expect(idsOf(await ledger.listSince('model', FROM, { after: long }))).toEqual(['openai/n'])
  })
})
