import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { memoryKV } from '../kv/memory-kv.js'
import type { PageOptions } from '../kv/pages.js'
import type { PartOf } from './totals.js'
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

  it('end with the hour of another', async () => {
    const ledger = await setUp({ a: ['2026-01-02T12:59:59.999Z'], b: ['2026-01-02T13:00:00.000Z'] })
    const until = async (to: string) => idsOf(await ledger.listSince('user', FROM, {}, new Date(to)))
    expect(await until('2026-01-02T12:00:00.000Z')).toEqual(['a'])
    expect(await until('2026-01-02T13:00:00.000Z')).toEqual(['a', 'b'])
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

  it('fit into a key, whatever letters the ids of a user and a model have', async () => {
    const ledger = usageLedger(await memoryKV())
    const user_id = '日'.repeat(200)
    await ledger.append(usageRecord({ user_id, provider: 'local', model: '漢'.repeat(250), timestamp: NOW }))
    expect(await ledger.totals('user', user_id)).toMatchObject({ requests: 1 })
    expect(idsOf(await ledger.listSince('model', FROM))).toEqual([`local/${'漢'.repeat(94)}`])
  })
})

describe('the parts of what a user used', () => {
  it('are per hour and model, session, conversation, task and project that a request counts in', async () => {
    const ledger = usageLedger(await memoryKV())
    const use = (timestamp: string, fields: object = {}) => ledger.append(usageRecord({ timestamp, ...fields }))
    await use('2026-01-02T11:59:59.999Z', { model: 'zz' })
    await use('2026-01-02T12:00:00.000Z', {
      model: '~',
      session_id: 's',
      in_session: true,
      task_id: 't',
      in_task: true,
    })
    await use(NOW, { project_id: 'p', in_project: true, conversation_id: 'c', in_conversation: true, task_id: 'none' })
    await use(NOW, { provider: 'a', session_id: 's', in_session: true })
    await use(NOW, { user_id: 'bob' })
    await use('2026-01-02T14:00:00.000Z', { model: '' })
    const parts = async (of: PartOf, from: string, to = from): Promise<[string, string, number][]> => {
      const hour = (time: string) => new Date(`2026-01-02T${time}:30:00.000Z`)
      const found = ledger.parts('ada', of, hour(from), hour(to))
      const rows: [string, string, number][] = []
      for await (const { id, hour, totals } of found) rows.push([hour.slice(-2), id, totals.requests])
      return rows
    }
    const all: [string, string, number][] = [
      ['11', 'openai/zz', 1],
      ['12', 'a/gpt-4o', 1],
      ['12', 'openai/gpt-4o', 1],
      ['12', 'openai/~', 1],
      ['14', 'openai/', 1],
    ]
    expect((await parts('model', '00', '23')).toSorted()).toEqual(all)
    expect((await parts('model', '12')).toSorted()).toEqual(all.slice(1, 4))
    expect(await parts('model', '13')).toEqual([])
    expect((await parts('model', '10', '11')).map(([, id]) => id)).toEqual(['openai/zz'])
    expect(await parts('session', '00', '23')).toEqual([['12', 's', 2]])
    expect(await parts('conversation', '12')).toEqual([['12', 'c', 1]])
    expect(await parts('task', '12')).toEqual([['12', 't', 1]])
    expect(await parts('project', '12')).toEqual([['12', 'p', 1]])
  })
})
