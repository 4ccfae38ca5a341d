import type { Key, KV, User } from '@turnpike/core'
import { createUser, deleteUser, gatewayKeys, memoryKV, usageLedger } from '@turnpike/core'
import { expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { passwordAuth } from '../identity/password-auth.js'
import type { Parts } from '../parts.js'
import { createPlatform } from '../platform.js'
import { keyOperations } from './keys.js'

it('makes no key for a user who was deleted meanwhile', async () => {
  const kv = await memoryKV()
  const { operations } = createPlatform({ kv, identity: passwordAuth({ kv }) })
  const { id } = await createUser(kv, { name: 'Ada', role: 'developer' })
  await deleteUser(kv, id)
  await expect(operations.keys.create(id, { name: 'laptop' })).rejects.toMatchObject({ status: 401 })
})

it('makes no key for a user who is deleted while it is made', async () => {
  const kv = await memoryKV()
  const { id } = await createUser(kv, { name: 'Ada', role: 'developer' })
  let reads = 0
  const watched: typeof kv = {
    ...kv,
    async get<T>(key: Key) {
      if (key[0] === 'user' && ++reads === 2) await deleteUser(kv, id)
      return kv.get<T>(key)
    },
  }
  const { operations } = createPlatform({ kv: watched, identity: passwordAuth({ kv: watched }) })
  await expect(operations.keys.create(id, { name: 'laptop' })).rejects.toMatchObject({ status: 401 })
  expect(reads).toBe(3)
})

it('threat 59: counts the hours of keys that a sum of a period reads', async () => {
  const kv = await memoryKV()
  const [keys, ledger] = [gatewayKeys(kv), usageLedger(kv)]
  const { id } = await createUser(kv, { name: 'Ada', role: 'developer' })
  const key = await keys.create(id, { name: 'k' })
  for (let hour = 10; hour < 15; hour++)
    await ledger.append(usageRecord({ user_id: id, key_id: key.id, timestamp: `2026-01-02T${hour}:00:00.000Z` }))
  const counted: number[] = []
  const countRead = (_: string, characters: number) => void counted.push(characters)
  const parts = { kv, keys, ledger, countRead } satisfies Partial<Parts>
  const period = { from: new Date('2026-01-02T11:00:00Z'), to: new Date('2026-01-02T12:00:00Z') }
  const { items } = await keyOperations(parts as unknown as Parts).usage(id, period)
  expect(items).toMatchObject([{ totals: { requests: 2 } }])
  expect(counted).toEqual([4 * 256])
})

it('threat 47: has ten entries a minute in the audit log of keys that a user makes and revokes', async () => {
  const kv = await memoryKV()
  const { operations } = createPlatform({ kv, identity: passwordAuth({ kv }) })
  const { id } = await createUser(kv, { name: 'Ada', role: 'admin' })
  for (let i = 0; i < 15; i++) {
    const made = await operations.keys.create(id, { name: `${i}` }, { by: id })
    await operations.keys.rotate({ id, role: 'admin' } as User, made.id)
    expect(await operations.keys.revoke(id, made.id, { by: id })).toBe(true)
  }
  const actions = (await kv.list<{ action: string }>(['audit'])).items.map(({ value }) => value.action)
  const count = (action: string) => actions.filter((one) => one === action).length
  // And one that says that others are left out.
  expect(['key.create', 'key.rotate', 'key.revoke'].map(count)).toEqual([11, 11, 11])
})

it('reads what keys used page by page, hours of used ones only, a few at a time, and lets others have their turn', async () => {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  let [reading, most, hours, turns] = [0, 0, 0, 0]
  const watched: typeof kv = {
    ...kv,
    async list<T>(prefix: Key, options?: Parameters<KV['list']>[1]) {
      if (prefix[0] !== 'usage-hour') return kv.list<T>(prefix, options)
      hours++
      most = Math.max(most, ++reading)
      const found = await kv.list<T>(prefix, options)
      reading--
      return found
    },
  }
  const keys = gatewayKeys(kv)
  const platform = createPlatform({ kv: watched, identity: { authenticate: () => ({ userId: 'ada', via: 'custom' }) } })
  await createUser(kv, { id: 'ada', role: 'developer' })
  for (let i = 0; i < 900; i++) {
    const { id } = await keys.create('ada', { name: `${i}` })
    if (i % 9 === 0) await ledger.append(usageRecord({ key_id: id }))
    else await keys.revoke(id)
  }

  // By turns of the event loop: the whole may take less than a tick of a timer.
  let next: NodeJS.Immediate
  const count = (): void => {
    turns++
    next = setImmediate(count)
  }
  next = setImmediate(count)
  const response = await platform.fetch(new Request('http://x.example/api/keys/usage?from=2026-01-01'))
  const { keys: used, requests } = (await response.json()) as { keys: { requests: number }[]; requests: number }
  clearImmediate(next)
  expect([used.length, used.filter((key) => key.requests === 1).length, requests]).toEqual([900, 100, 100])
  expect([hours, most]).toEqual([100, 8])
  expect(turns).toBeGreaterThan(3)
})
