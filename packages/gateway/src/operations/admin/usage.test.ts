import type { KV, UsageRecord } from '@turnpike/core'
import { createSession, createUser, deleteUser, memoryKV } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { adminGateway } from '../../../../../test/support/admin.js'
import { errorOf } from '../../../../../test/support/gateway.js'
import { usageRecord } from '../../../../../test/support/usage-record.js'
import { UsageSeries, UsageTable } from './usage.js'

const NOW = '2026-01-02T12:30:00.000Z'
const EARLIER = '2026-01-02T09:59:59.999Z'
const OLD = '2025-11-01T00:00:00.000Z'

/** The totals of records like {@link usageRecord}, of which some have no price. */
const totals = (requests: number, unpriced = 0) => ({
  requests,
  unpriced,
  prompt_tokens: 10 * requests,
  completion_tokens: 3 * requests,
  tokens: 13 * requests,
  cost_usd: (55 * (requests - unpriced)) / 1_000_000,
})

/** A gateway whose clock is at 12:30, with users, keys and a session, and what records usage. */
async function setUp(kv?: KV) {
  const at = await adminGateway({ ...(kv && { kv }) })
  at.clock.now = Date.parse(NOW)
  const user = (id: string, fields: object) => createUser(at.kv, { id, ...fields })
  await user('ada', { name: 'Ada', email: 'ada@example.com' })
  await user('bob', { email: 'bob@example.com' })
  await user('eve', {})
  const { id: keyId } = await at.gateway.keys.create('bob', { name: 'laptop' })
  const session = await createSession(at.kv, 'ada', { label: 'Talk' })
  return {
    ...at,
    keyId,
    session,
    use: (...records: Partial<UsageRecord>[]) =>
      Promise.all(records.map((fields) => at.gateway.ledger.append(usageRecord({ timestamp: NOW, ...fields })))),
    table: (query: string) => at.read(`/admin/usage?${query}`, UsageTable),
    series: (query: string) => at.read(`/admin/usage/hours?${query}`, UsageSeries),
  }
}

describe('GET /admin/usage', () => {
  it('sums up all time by user, key, provider, session and project, with their names', async () => {
    const { use, table, kv, keyId, session } = await setUp()
    await kv.commit({ set: [{ key: ['project', 'p1'], value: { id: 'p1', user_id: 'ada', name: 'Website' } }] })
    await use(
      { user_id: 'ada', key_id: '', session_id: session.id, in_session: true, project_id: 'p1', in_project: true },
      { user_id: 'ada', key_id: '', timestamp: OLD, cost_nano_usd: null },
      { user_id: 'bob', key_id: keyId },
      { user_id: 'eve', key_id: 'unknown', provider: 'google', session_id: 'gone', in_session: true },
    )
    await deleteUser(kv, 'bob')
    const all = { hours: null, from: null }
    const row = (id: string, name: string | null, user_id: string | null, requests: number, unpriced = 0) => ({
      id,
      name,
      user_id,
      ...totals(requests, unpriced),
    })
    expect(await table('by=user')).toEqual({
      by: 'user',
      ...all,
      data: [
        row('ada', 'ada@example.com', null, 2, 1),
        row('bob', 'bob@example.com', null, 1),
        row('eve', null, null, 1),
      ],
    })
    const keys = [row(keyId, 'laptop', 'bob', 1), row('unknown', null, null, 1)]
    expect(await table('by=key')).toEqual({ by: 'key', ...all, data: keys })
    const providers = [row('google', null, null, 1), row('openai', null, null, 3, 1)]
    expect(await table('by=provider')).toEqual({ by: 'provider', ...all, data: providers })
    const sessions = [row(session.id, 'Talk', 'ada', 1), row('gone', null, null, 1)]
    expect(await table('by=session')).toEqual({ by: 'session', ...all, data: sessions })
    const projects = [row('p1', 'Website', 'ada', 1)]
    expect(await table('by=project')).toEqual({ by: 'project', ...all, data: projects })
  })

  it('sums up the last hours, also by model, without what was not used in them', async () => {
    const { use, table, keyId } = await setUp()
    await use(
      { user_id: 'ada', key_id: keyId, timestamp: EARLIER },
      { user_id: 'ada', key_id: keyId, model: 'o3' },
      { user_id: 'bob', key_id: '', timestamp: OLD },
    )
    const ids = async (query: string) => (await table(query)).data.map(({ id, requests }) => [id, requests])
    expect(await table('by=user&hours=3')).toEqual({
      by: 'user',
      hours: 3,
      from: '2026-01-02T10:00:00.000Z',
      data: [{ id: 'ada', name: 'ada@example.com', user_id: null, ...totals(1) }],
    })
    expect(await ids('by=user&hours=4')).toEqual([['ada', 2]])
    expect(await ids(`by=user&hours=1&until=${EARLIER}`)).toEqual([['ada', 1]])
    expect(await ids(`by=user&hours=3&until=${EARLIER}`)).toEqual([['ada', 1]])
    expect(await ids('by=key&hours=720')).toEqual([[keyId, 2]])
    expect(await ids('by=provider&hours=1')).toEqual([['openai', 1]])
    expect(await ids('by=model&hours=1')).toEqual([['openai/o3', 1]])
    const { hours, from, data } = await table('by=model')
    expect([hours, from, data.map(({ id }) => id)]).toEqual([
      720,
      '2025-12-03T13:00:00.000Z',
      ['openai/gpt-4o', 'openai/o3'],
    ])
  })

  it('comes in pages, which may be shorter where some were not used', async () => {
    const { use, table } = await setUp()
    await use(...['a', 'b', 'c', 'd', 'e'].map((id, i) => ({ user_id: id, timestamp: i === 2 ? OLD : NOW })))
    const pages = async (query: string) => {
      const pages: string[][] = []
      for (let after = ''; ;) {
        const { data, next } = await table(`${query}${after}`)
        pages.push(data.map(({ id }) => id))
        if (next === undefined) return pages
        after = `&after=${next}`
      }
    }
    expect(await pages('by=user&limit=2')).toEqual([['a', 'b'], ['c', 'd'], ['e']])
    expect(await pages('by=user&limit=2&hours=2')).toEqual([['a', 'b'], ['d'], ['e']])
    expect(await pages('by=user&limit=1&hours=2')).toEqual([['a'], ['b'], [], ['d'], ['e']])
    expect(await pages('by=user&limit=5&hours=2')).toEqual([['a', 'b', 'd', 'e']])
  })

  it('leaves out what only failed', async () => {
    const { gateway, use, table } = await setUp()
    gateway.ledger.failed({ provider: 'google', kind: 'timeout', timestamp: NOW })
    await use({})
    for (const query of ['by=provider', 'by=provider&hours=2'])
      expect((await table(query)).data.map(({ id }) => id)).toEqual(['openai'])
  })

  it.each([
    '',
    'by=',
    'by=task',
    'by=user&hours=0',
    'by=user&hours=721',
    'by=user&hours=1.5',
    'by=user&limit=501',
    'by=user&hours=1&until=now',
    `by=user&until=${NOW}`,
  ])('is 400 for ?%s', async (query) => {
    const { ask } = await setUp()
    const response = await ask(`/admin/usage?${query}`)
    expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
  })

  it.each(['session', 'project'])('is 400 for hours of a %s, and says why', async (by) => {
    const { ask } = await setUp()
    const response = await ask(`/admin/usage?by=${by}&hours=24`)
    const message = `Usage by ${by} is summed up over all time only: leave out "hours"`
    expect([response.status, await errorOf(response)]).toMatchObject([400, { message }])
  })

  it('reads no records, whatever their number', async () => {
    const kv = await memoryKV()
    const reads: string[] = []
    const watched: KV = {
      ...kv,
      get: <T>(key: readonly string[]) => (reads.push(`get ${key[0]}`), kv.get<T>(key)),
      getMany: <T>(keys: (readonly string[])[]) => (reads.push(`getMany ${keys.length}`), kv.getMany<T>(keys)),
      list: <T>(prefix: readonly string[], options?: object) => (
        reads.push(`list ${prefix.join('/')}`),
        kv.list<T>(prefix, options)
      ),
    }
    const { use, table } = await setUp(watched)
    await use(...Array.from({ length: 400 }, (_, i) => ({ user_id: i % 2 ? 'ada' : 'bob' })))
    reads.length = 0
    await table('by=user')
    expect(reads).toEqual(['list usage-total/user', 'getMany 2'])
    reads.length = 0
    await table('by=user&hours=168')
    const search = Array.from({ length: 3 }, () => 'list usage-hour/user')
    expect(reads).toEqual([...search, 'list usage-hour/user/ada', 'list usage-hour/user/bob', 'getMany 2'])
  })
})

describe('GET /admin/usage/hours', () => {
  it('has an entry for each hour', async () => {
    const { use, series, keyId } = await setUp()
    await use(
      { user_id: 'bob', key_id: keyId, timestamp: OLD },
      { user_id: 'bob', key_id: keyId, timestamp: EARLIER },
      { user_id: 'bob', key_id: keyId },
      { user_id: 'bob', key_id: keyId, cost_nano_usd: null },
    )
    const hour = (time: string, requests: number, unpriced = 0) => {
      const { tokens, cost_usd } = totals(requests, unpriced)
      return { time: `2026-01-02T${time}:00:00.000Z`, requests, tokens, cost_usd }
    }
    const expected = {
      hours: 4,
      from: '2026-01-02T09:00:00.000Z',
      total: totals(3, 1),
      series: [hour('09', 1), hour('10', 0), hour('11', 0), hour('12', 2, 1)],
    }
    const named = { by: 'user', id: 'bob', name: 'bob@example.com' }
    expect(await series('by=user&id=bob&hours=4')).toEqual({ ...named, ...expected })
    expect(await series(`by=key&id=${keyId}&hours=4`)).toMatchObject({ name: 'laptop', ...expected })
    expect(await series('by=model&id=openai%2Fgpt-4o&hours=4')).toMatchObject({ name: null, ...expected })
    expect(await series('by=provider&id=openai&hours=4')).toMatchObject({ name: null, ...expected })
    expect(await series('by=user&hours=4')).toEqual({ by: 'user', id: null, name: null, ...expected })
    expect(await series(`by=user&id=bob&hours=1&until=${EARLIER}`)).toMatchObject({
      from: '2026-01-02T09:00:00.000Z',
      total: totals(1),
      series: [hour('09', 1)],
    })
    const week = await series('by=user&id=bob')
    expect([week.hours, week.series.length, week.from]).toEqual([168, 168, '2025-12-26T13:00:00.000Z'])
  })

  it('is zero for what is not known', async () => {
    const { series } = await setUp()
    const { name, total, series: hours } = await series('by=model&id=none&hours=2')
    expect([name, total, hours.map(({ requests }) => requests)]).toEqual([null, totals(0), [0, 0]])
  })

  it.each(['by=user&id=', 'id=ada', 'by=session&id=x', `by=user&id=${'x'.repeat(201)}`, 'by=user&id=a&hours=0'])(
    'is 400 for ?%s',
    async (query) => {
      const { ask } = await setUp()
      const response = await ask(`/admin/usage/hours?${query}`)
      expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
    },
  )
})
