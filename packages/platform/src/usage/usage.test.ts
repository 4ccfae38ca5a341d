import type { KV } from '@turnpike/core'
import { createUser, gatewayKeys, memoryKV, usageLedger } from '@turnpike/core'
import { beforeEach, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { createPlatform } from '../platform.js'

const NOW = Date.parse('2026-01-02T12:30:00.000Z')
const timestamp = new Date(NOW).toISOString()

/** A platform with a user. */
async function setUp() {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  let counted = 0
  const platform = createPlatform({
    kv,
    now: () => NOW,
    identity: { authenticate: () => ({ userId: 'ada', via: 'custom' }) },
    rateLimiter: {
      consume() {
        counted++
        return { ok: true, retryAfter: 0 }
      },
      adjust: () => undefined,
    },
  })
  await createUser(kv, { id: 'ada', role: 'developer' })
  const use = (records: object[]) =>
    Promise.all(records.map((fields) => ledger.append(usageRecord({ timestamp, ...fields }))))
  const read = async (query: string) => {
    const response = await platform.fetch(new Request(`http://x.example/api/usage?${query}`))
    return (await response.json()) as { rows: { id: string; requests: number; hours?: object }[]; omitted: number }
  }
  /** As how many requests it counts to read the models, besides its answer. */
  const counts = async () => {
    const before = counted
    await platform.operations.usage.report('ada', 'model', new Date(NOW), new Date(NOW))
    return counted - before
  }
  return { kv, use, read, counts }
}
let given: Awaited<ReturnType<typeof setUp>>
beforeEach(async () => {
  given = await setUp()
})

it('has 500 rows at most, the dearest, and tells how many it leaves out', async () => {
  await given.use(Array.from({ length: 510 }, (_, i) => ({ model: `m${i}`, cost_nano_usd: i === 3 ? null : i })))
  const { rows, omitted } = await given.read('by=model')
  expect([rows.length, omitted, rows[0]!.id, rows[499]!.id]).toEqual([500, 10, 'openai/m509', 'openai/m10'])
  expect(rows.findIndex(({ hours }) => !hours)).toBe(8)
})

it('reads the hours of all keys, also revoked ones', async () => {
  const keys = gatewayKeys(given.kv)
  const ids: string[] = []
  for (let i = 0; i < 20; i++) ids.push((await keys.create('ada', { name: `${i}` })).id)
  await given.use(ids.map((key_id) => ({ key_id })))
  await keys.revoke(ids[0]!)
  expect((await given.read('by=key')).rows.map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
})

it('counts a sum as 128 characters that were read', async () => {
  // With the sum of the hour, one less than 128 KiB.
  await given.use(Array.from({ length: 1_022 }, (_, i) => ({ model: `m${i}` })))
  expect(await given.counts()).toBe(0)
  await given.use([{ model: 'one more' }])
  expect(await given.counts()).toBe(1)
})

it('threat 59: reads one report of a user at a time, and no other where the first was too large', async () => {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  await createUser(kv, { id: 'ada', role: 'developer' })
  const { fetch } = createPlatform({
    kv,
    now: () => NOW,
    identity: { authenticate: () => ({ userId: 'ada', via: 'custom' }) },
    apiRateLimits: { user: 10, address: 1_000 },
  })
  await Promise.all(
    Array.from({ length: 12_000 }, (_, i) => ledger.append(usageRecord({ user_id: 'ada', timestamp, model: `m${i}` }))),
  )
  const asked = Array.from({ length: 5 }, () => fetch(new Request('http://x.example/api/usage')))
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 429, 429, 429, 429])
})

it('threat 59: reads a project once for all of its rows, and counts it', async () => {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  const read: string[] = []
  const counting: KV = {
    ...kv,
    getMany(keys, ...more) {
      read.push(...keys.filter(([kind]) => kind === 'project').map((key) => key.join('/')))
      return kv.getMany(keys, ...more) as never
    },
  }
  const identity = { authenticate: () => ({ userId: 'ada', via: 'custom' as const }) }
  const platform = createPlatform({
    kv: counting,
    now: () => NOW,
    identity,
    apiRateLimits: { user: 8, address: 1_000 },
  })
  await createUser(kv, { id: 'ada', role: 'developer' })
  const { projects, tasks } = createPlatform({ kv, identity }).operations
  const { id: project_id } = await projects.create('ada', { name: 'P', description: 'x'.repeat(900_000) })
  for (let i = 0; i < 20; i++) {
    const { id: task_id } = await tasks.create('ada', project_id, { title: `${i}` })
    await ledger.append(usageRecord({ user_id: 'ada', timestamp, task_id, in_task: true }))
  }
  read.length = 0
  const ask = async () => (await platform.fetch(new Request('http://x.example/api/usage?by=task'))).status
  // Each is one request, and three for what it has read.
  expect([await ask(), read.length, await ask(), await ask()]).toEqual([200, 1, 200, 429])
})
