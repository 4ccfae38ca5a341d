import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { memoryKV } from '../kv/memory-kv.js'
import { usageLedger } from '../ledger/usage-ledger.js'
import { verifyStore } from '../verify.js'
import { firstIdOf } from './end-users.js'
import { gatewayKeys } from './gateway-keys.js'
import { createUser } from './users.js'

const HOUR = 3_600_000

async function setUp() {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const kv = await memoryKV()
  await createUser(kv, { id: 'owner' })
  await createUser(kv, { id: 'other' })
  const open = () => gatewayKeys(kv, { now: () => clock.now })
  return { clock, kv, keys: open(), elsewhere: open() }
}

describe('a key with an expiry time', () => {
  it('expires at that moment, also when cached', async () => {
    const { clock, keys } = await setUp()
    const end = clock.now + HOUR
    const { key } = await keys.create('owner', { name: 'ci', expiresAt: new Date(end) })
    clock.now = end - 2
    expect(await keys.verify(key)).toMatchObject({ key: { expires_at: '2026-01-02T01:00:00.000Z' } })
    clock.now = end - 1
    expect(await keys.verify(key)).not.toBeNull()
    clock.now = end
    expect(await keys.verify(key)).toBeNull()
    expect(await gatewayKeys((await setUp()).kv).verify(key)).toBeNull()
  })
})

describe('a key', () => {
  it('stores its models and its budget', async () => {
    const { keys } = await setUp()
    const given = { models: ['gpt-4o', 'openai/gpt-4o-mini'], budget: { usd: 5, per: 'day' } as const }
    const { key } = await keys.create('owner', { name: 'ci', ...given })
    expect(await keys.verify(key)).toMatchObject({ key: given })
  })

  it('is listed for its user, newest first, in pages, with its last use', async () => {
    const { clock, kv, keys } = await setUp()
    const ids: string[] = []
    for (let i = 0; i < 5; i++) {
      ids.push((await keys.create('owner', { name: String(i) })).id)
      clock.now++
    }
    await keys.create('other', { name: 'theirs' })
    await keys.revoke(ids[1]!)
    await usageLedger(kv).append(usageRecord({ key_id: ids[3]!, timestamp: '2026-01-02T10:00:00.000Z' }))
    const seen: unknown[][] = []
    let after: string | undefined
    do {
      const page = await keys.list('owner', { limit: 2, ...(after !== undefined && { after }) })
      seen.push(page.items.map(({ name, revoked, last_used_at }) => [name, revoked, last_used_at]))
      expect(JSON.stringify(page)).not.toContain('gw-')
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual([
      [
        ['4', false, null],
        ['3', false, '2026-01-02T10:00:00.000Z'],
      ],
      [
        ['2', false, null],
        ['1', true, null],
      ],
      [['0', false, null]],
    ])
    expect(await keys.list('nobody')).toEqual({ items: [] })
  })
})

describe('a rotated key', () => {
  it('works until the end of the overlap, and the new key works immediately', async () => {
    const { clock, keys } = await setUp()
    const budget = { usd: 1 }
    const old = await keys.create('owner', { name: 'ci', rateLimit: 7, models: ['m'], budget })
    await keys.verify(old.key)
    clock.now += HOUR
    const next = (await keys.rotate(old.id, { overlapMs: HOUR }))!
    const time = '2026-01-02T01:00:00.000Z'
    expect(next).toEqual({
      ...old,
      id: next.id,
      key: next.key,
      key_end: next.key.slice(-4),
      created_at: time,
      first_id: old.id,
    })
    expect(next.id).not.toBe(old.id)
    expect(next.key).not.toBe(old.key)
    expect(await keys.verify(next.key)).toMatchObject({ key: { id: next.id, rate_limit: 7, models: ['m'], budget } })
    expect(await keys.verify(old.key)).toMatchObject({ key: { id: old.id, expires_at: '2026-01-02T02:00:00.000Z' } })
    clock.now += HOUR - 1
    expect(await keys.verify(old.key)).not.toBeNull()
    clock.now += 1
    expect(await keys.verify(old.key)).toBeNull()
    expect(await keys.verify(next.key)).not.toBeNull()
  })

  it('cannot be made to live longer, also while it is being rotated', async () => {
    const { clock, keys, elsewhere } = await setUp()
    const { id } = await keys.create('owner', { name: 'ci' })
    await keys.rotate(id, { overlapMs: HOUR })
    const later = [null, new Date(clock.now + HOUR + 1)]
    for (const expiresAt of later)
      await expect(elsewhere.update(id, { expiresAt })).rejects.toMatchObject({ status: 400 })
    expect(await keys.update(id, { name: 'old' })).toMatchObject({ name: 'old' })
    const sooner = new Date(clock.now + 1)
    expect(await keys.update(id, { expiresAt: sooner })).toMatchObject({ expires_at: sooner.toISOString() })
    for (let i = 0; i < 20; i++) {
      const { id } = await keys.create('owner', { name: 'ci' })
      await Promise.allSettled([keys.rotate(id, { overlapMs: HOUR }), elsewhere.update(id, { expiresAt: null })])
      expect(await keys.get(id)).toMatchObject({ expires_at: new Date(clock.now + HOUR).toISOString() })
    }
  })

  it('counts as a key of its user, and in their bytes', async () => {
    const { keys } = await setUp()
    const { id } = await keys.create('owner', { name: 'ci' })
    await expect(keys.rotate(id, { atMost: 1 })).rejects.toMatchObject({ status: 403 })
    await expect(keys.rotate(id, { bytesAtMost: 1_000 })).rejects.toMatchObject({ status: 403 })
    expect(await keys.get(id)).not.toHaveProperty('rotated_at')
    expect(await keys.rotate(id, { atMost: 2, bytesAtMost: 10_000 })).not.toBeNull()
  })

  it('shares its budget with the keys that it was rotated to', async () => {
    const { keys } = await setUp()
    const first = await keys.create('owner', { name: 'ci', budget: { usd: 1 } })
    const second = (await keys.rotate(first.id))!
    const third = (await keys.rotate(second.id))!
    expect([first, second, third].map(firstIdOf)).toEqual([first.id, first.id, first.id])
  })

  it('works for a day by default, and not at all without an overlap', async () => {
    const { clock, keys } = await setUp()
    const [a, b] = [await keys.create('owner', { name: 'a' }), await keys.create('owner', { name: 'b' })]
    await Promise.all([keys.verify(a.key), keys.verify(b.key)])
    await keys.rotate(a.id)
    await keys.rotate(b.id, { overlapMs: 0 })
    expect(await keys.verify(b.key)).toBeNull()
    clock.now += 24 * HOUR - 1
    expect(await keys.verify(a.key)).not.toBeNull()
    clock.now += 1
    expect(await keys.verify(a.key)).toBeNull()
  })

  it('never extends the expiry of the old key, nor that of the new one', async () => {
    const { clock, keys } = await setUp()
    const end = new Date(clock.now + HOUR)
    const old = await keys.create('owner', { name: 'ci', expiresAt: end })
    const next = (await keys.rotate(old.id, { overlapMs: 5 * HOUR }))!
    expect(next.expires_at).toBe(end.toISOString())
    clock.now += HOUR
    expect(await keys.verify(old.key)).toBeNull()
    expect(await keys.verify(next.key)).toBeNull()
  })

  it('is rotated once, also concurrently; revoked, expired and missing keys are not rotated', async () => {
    const { clock, kv, keys, elsewhere } = await setUp()
    const { id } = await keys.create('owner', { name: 'ci' })
    const race = await Promise.all([keys, elsewhere, keys, elsewhere].map((each) => each.rotate(id)))
    const [next, ...none] = race.filter((made) => made !== null)
    expect(none).toEqual([])
    expect(next).not.toHaveProperty('expires_at')
    expect(next).not.toHaveProperty('rotated_at')
    expect((await keys.list('owner')).items).toHaveLength(2)
    expect(await keys.rotate(next!.id)).not.toBeNull()

    const revoked = await keys.create('owner', { name: 'x' })
    await keys.revoke(revoked.id)
    expect(await keys.rotate(revoked.id)).toBeNull()
    const over = await keys.create('owner', { name: 'x', expiresAt: new Date(clock.now + 1) })
    clock.now += 1
    expect(await keys.rotate(over.id)).toBeNull()
    expect(await keys.rotate('none')).toBeNull()
    for await (const problem of verifyStore(kv)) throw new Error(problem)
  })

  it('stops working immediately when it is revoked', async () => {
    const { keys } = await setUp()
    const old = await keys.create('owner', { name: 'ci' })
    const next = (await keys.rotate(old.id))!
    await keys.verify(old.key)
    await keys.revoke(old.id)
    expect(await keys.verify(old.key)).toBeNull()
    expect(await keys.verify(next.key)).not.toBeNull()
  })
})

describe('revokeAll', () => {
  it('revokes all keys of a user, immediately in this process and within five seconds in others', async () => {
    const { clock, keys, elsewhere } = await setUp()
    const mine = await Promise.all(Array.from({ length: 3 }, (_, i) => keys.create('owner', { name: String(i) })))
    const theirs = await keys.create('other', { name: 'x' })
    for (const made of mine) for (const each of [keys, elsewhere]) expect(await each.verify(made!.key)).not.toBeNull()
    const { revokeAll } = keys
    await revokeAll('owner')
    for (const made of mine) expect(await keys.verify(made!.key)).toBeNull()
    expect(await keys.verify(theirs.key)).not.toBeNull()
    expect((await keys.list('owner')).items.map(({ revoked }) => revoked)).toEqual([true, true, true])
    clock.now += 5_000
    for (const made of mine) expect(await elsewhere.verify(made!.key)).toBeNull()
    await revokeAll('owner')
    await revokeAll('nobody')
  })
})
