import { describe, expect, it } from 'vitest'
import { isUuid } from '../helpers/ids.js'
import type { Key, KV } from '../kv/kv.js'
import type { KVLog, LogEntry } from '../kv/kv-log.js'
import { memoryKV } from '../kv/memory-kv.js'
import { sha256 } from '../helpers/sha256.js'
import { listAudit } from './audit.js'
import type { KeyChange, KeyInput } from './gateway-keys.js'
import { gatewayKeys } from './gateway-keys.js'
import { createUser } from './users.js'

async function setUp() {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const kv = await memoryKV()
  await createUser(kv, { id: 'owner' })
  return { clock, kv, keys: gatewayKeys(kv, { now: () => clock.now }) }
}

describe('gateway keys', () => {
  it('are created as a record and a secret value', async () => {
    const { keys } = await setUp()
    const { id, key, ...rest } = await keys.create('owner', { name: 'ci' })
    expect(key).toMatch(/^gw-[\w-]{43}$/)
    expect(isUuid(id)).toBe(true)
    expect(rest).toEqual({
      name: 'ci',
      user_id: 'owner',
      rate_limit: 60,
      revoked: false,
      key_end: key.slice(-4),
      created_at: '2026-01-02T00:00:00.000Z',
    })
  })

  it('are verified by their value', async () => {
    const { keys } = await setUp()
    const { key, ...record } = await keys.create('owner', { name: 'ci', rateLimit: 5 })
    expect(await keys.verify(key)).toMatchObject({ key: record, user: { id: 'owner' } })
    expect((await keys.verify(key))!.key).not.toHaveProperty('key')
    for (const wrong of ['', 'gw-', 'gw-unknown', key.slice(0, -1), `${key}x`, key.slice(3), key.toUpperCase()])
      expect(await keys.verify(wrong), wrong).toBeNull()
  })

  it('tell no end of a value that is short', async () => {
    const { keys } = await setUp()
    expect(await keys.create('owner', { name: 'ci', key: 'gw-20-characters-xxx' })).not.toHaveProperty('key_end')
  })

  it('are unique', async () => {
    const { keys } = await setUp()
    const made = await Promise.all(Array.from({ length: 50 }, () => keys.create('owner', { name: 'x' })))
    expect(new Set(made.map((record) => record!.key)).size).toBe(50)
  })

  it('accept a given value only once', async () => {
    const { keys } = await setUp()
    const key = 'gw-bootstrap-value-0001'
    expect(await keys.create('owner', { name: 'first', key })).toMatchObject({ key, name: 'first' })
    await expect(keys.create('owner', { name: 'second', key })).rejects.toThrow('Another key')
    expect(await keys.verify(key)).toMatchObject({ key: { name: 'first' } })
  })

  it('are stored as a hash only', async () => {
    // The log receives every write to the store.
    const entries: LogEntry[] = []
    const log: KVLog = {
      async *load() {},
      append: async (group) => void entries.push(...group),
      read: async () => undefined,
      forget: () => undefined,
      health: async () => ({ ok: true }),
      close: async () => undefined,
    }
    const kv = await memoryKV({ log })
    await createUser(kv, { id: 'owner' })
    const keys = gatewayKeys(kv)
    const { key, id } = await keys.create('owner', { name: 'ci' })
    await keys.verify(key)
    await keys.update(id, { rateLimit: 7 })
    await keys.revoke(id)
    const stored = JSON.stringify(entries)
    expect(stored).toContain(await sha256(key))
    expect(stored).not.toContain(key)
    expect(stored).not.toContain(key.slice(3))
  })

  it('require an owner', async () => {
    const { keys } = await setUp()
    await expect(keys.create('nobody', { name: 'ci' })).rejects.toMatchObject({
      status: 400,
      message: 'There is no user nobody to own the key',
    })
  })

  it.each<[change: object, message: string]>([
    [{ ratelimit: 2 }, 'there is no field "ratelimit"; there are name, rateLimit, tokenLimit, expiresAt'],
    [{ rateLimit: 'many' }, 'rateLimit: Invalid type: Expected number but received "many"'],
    [{ rateLimit: NaN }, 'rateLimit: Invalid type: Expected number but received NaN'],
    [{ tokenLimit: -1 }, 'tokenLimit: Invalid value: Expected >=0 but received -1'],
    [{ expiresAt: '2026-12-24' }, 'expiresAt: Invalid type: Expected Date but received "2026-12-24"'],
    [{ models: 'gpt-4o' }, 'models: Invalid type: Expected Array but received "gpt-4o"'],
    [{ budget: { dollars: 1 } }, 'budget.usd: Invalid key: Expected "usd" but received undefined'],
    [{ endUsers: { budget: { usd: '1' } } }, 'endUsers.budget.usd: Invalid type: Expected number but received "1"'],
  ])('are neither made nor changed with %j', async (change, message) => {
    const { keys } = await setUp()
    const { id } = await keys.create('owner', { name: 'kept' })
    await expect(keys.create('owner', { name: 'new', ...change })).rejects.toThrow(`keys.create: ${message}`)
    await expect(keys.update(id, change)).rejects.toThrow(`keys.update: ${message}`)
    expect((await keys.list('owner')).items).toMatchObject([{ id, name: 'kept', rate_limit: 60 }])
  })

  it('have a name, and a value that begins as all do', async () => {
    const { keys } = await setUp()
    await expect(keys.create('owner', {} as KeyInput)).rejects.toThrow('keys.create: name: Invalid key')
    await expect(keys.create('owner', { name: 'a', key: 'sk-1' })).rejects.toThrow('keys.create: key: Invalid start')
  })

  it('stop working when their owner is deleted', async () => {
    const { clock, keys, kv } = await setUp()
    const { key } = await keys.create('owner', { name: 'ci' })
    await keys.verify(key)
    await kv.commit({ del: [['user', 'owner']] })
    clock.now += 5_000
    expect(await keys.verify(key)).toBeNull()
  })
})

describe('a revoked key', () => {
  it('is refused immediately', async () => {
    const { keys } = await setUp()
    const { key, id } = await keys.create('owner', { name: 'ci' })
    expect(await keys.verify(key)).not.toBeNull()
    expect(await keys.revoke(id)).toBe(true)
    expect(await keys.verify(key)).toBeNull()
    expect(await keys.revoke(id)).toBe(true)
    expect(await keys.revoke('unknown')).toBe(false)
  })

  it('does not affect other keys', async () => {
    const { keys } = await setUp()
    const [a, b] = [await keys.create('owner', { name: 'a' }), await keys.create('owner', { name: 'b' })]
    await Promise.all([keys.verify(a!.key), keys.verify(b!.key)])
    await keys.revoke(a!.id)
    expect(await keys.verify(b!.key)).not.toBeNull()
  })

  it('is refused within five seconds in another process', async () => {
    const { clock, keys, kv } = await setUp()
    const { key, id } = await keys.create('owner', { name: 'ci' })
    await keys.verify(key)
    await gatewayKeys(kv).revoke(id)
    expect(await keys.verify(key)).not.toBeNull()
    clock.now += 5_000
    expect(await keys.verify(key)).toBeNull()
  })

  it('stays refused if it was revoked during its look-up', async () => {
    const { kv, clock } = await setUp()
    const { key, id } = (await gatewayKeys(kv).create('owner', { name: 'ci' }))!
    let arrive = (): void => undefined
    let release = (): void => undefined
    const arrived = new Promise<void>((resolve) => (arrive = resolve))
    const released = new Promise<void>((resolve) => (release = resolve))
    const slow: KV = {
      ...kv,
      async get<T>(wanted: Key) {
        if (wanted[0] === 'user') {
          arrive()
          await released
        }
        return kv.get<T>(wanted)
      },
    }
    const keys = gatewayKeys(slow, { now: () => clock.now })
    const early = keys.verify(key)
    await arrived
    await keys.revoke(id)
    release()
    await early
    expect(await keys.verify(key)).toBeNull()
  })
})

describe('the cache', () => {
  it('avoids store reads for four seconds', async () => {
    const { kv, clock } = await setUp()
    const { key } = (await gatewayKeys(kv).create('owner', { name: 'ci' }))!
    let reads = 0
    const counted: KV = { ...kv, get: <T>(wanted: Key) => (reads++, kv.get<T>(wanted)) }
    const keys = gatewayKeys(counted, { now: () => clock.now })
    await keys.verify(key)
    const first = reads
    expect(first).toBeGreaterThan(0)
    clock.now += 3_999
    await keys.verify(key)
    expect(reads).toBe(first)
    clock.now += 1
    await keys.verify(key)
    expect(reads).toBe(2 * first)
  })

  it('does not cache unknown keys', async () => {
    const { kv } = await setUp()
    const keys = gatewayKeys(kv)
    const key = 'gw-not-yet-there-00001'
    expect(await keys.verify(key)).toBeNull()
    await keys.create('owner', { name: 'late', key })
    expect(await keys.verify(key)).not.toBeNull()
  })

  it('changes what is given, takes away what is null, and keeps the rest', async () => {
    const { kv, keys } = await setUp()
    const limits = { models: ['m'], budget: { usd: 1, per: 'day' }, expiresAt: new Date(4e12) } as const
    const { key: _, ...made } = await keys.create('owner', { name: 'ci', ...limits, models: ['m'] })
    const { models, budget, expires_at, ...bare } = made
    const changes = [
      [{ name: 'x' }, { ...bare, models, budget, expires_at, name: 'x' }],
      [
        { models: null, budget: { usd: 2 } },
        { ...bare, expires_at, budget: { usd: 2 }, name: 'x' },
      ],
      [
        { expiresAt: null, rateLimit: 9, models: ['n'] },
        { ...bare, budget: { usd: 2 }, models: ['n'], name: 'x', rate_limit: 9 },
      ],
      [
        { budget: null, models: null },
        { ...bare, name: 'x', rate_limit: 9 },
      ],
    ] as const
    for (const [change, after] of changes) {
      expect(await keys.update(made.id, { ...change } as KeyChange, { by: 'root' })).toEqual(after)
      expect(await keys.get(made.id)).toEqual(after)
    }
    await keys.revoke(made.id)
    expect(await keys.update(made.id, { name: 'y' })).toMatchObject({ name: 'x', revoked: true })
    expect((await listAudit(kv)).items.map(({ action, detail }) => `${action} ${detail}`)).toEqual([
      'key.update budget, models',
      'key.update expiresAt, rateLimit, models',
      'key.update models, budget',
      'key.update name',
    ])
  })

  it('holds the bytes of a changed key to what its owner may have', async () => {
    const { kv, keys } = await setUp()
    const { id } = await keys.create('owner', { name: 'ci' })
    const { bytes } = (await kv.get<{ bytes: number }>(['owned', 'owner']))!.value
    const update = (name: string) => keys.update(id, { name }, {}, { bytesAtMost: bytes + 10 })
    expect(await update('x'.repeat(12))).toMatchObject({ name: 'x'.repeat(12) })
    await expect(update('x'.repeat(13))).rejects.toMatchObject({ status: 403 })
    expect(await update('y')).toMatchObject({ name: 'y' })
  })

  it('applies a changed rate limit immediately', async () => {
    const { keys } = await setUp()
    const { key, id } = await keys.create('owner', { name: 'ci' })
    await keys.verify(key)
    await keys.update(id, { rateLimit: 7 })
    expect(await keys.verify(key)).toMatchObject({ key: { rate_limit: 7, name: 'ci', revoked: false } })
    expect(await keys.update('unknown', { rateLimit: 7 })).toBeNull()
  })
})
