import { describe, expect, it } from 'vitest'
import { isUuid } from '../ids.js'
import { memoryKV } from '../kv/memory-kv.js'
import { createUser, getUser } from './users.js'

describe('createUser', () => {
  it('fills in what is not given', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, {}, { now: Date.UTC(2026, 0, 2) })
    expect(user).toEqual({
      id: expect.any(String) as string,
      email: null,
      role: 'user',
      name: '',
      created_at: '2026-01-02T00:00:00.000Z',
      deleted_at: null,
    })
    expect(isUuid(user!.id)).toBe(true)
    expect(await getUser(kv, user!.id)).toEqual(user)
  })

  it('keeps what is given', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, { id: 'u1', email: 'Ada@Example.org', role: 'admin', name: 'Ada' })
    expect(user).toMatchObject({ id: 'u1', email: 'Ada@Example.org', role: 'admin', name: 'Ada' })
  })

  it('takes an id once', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', name: 'first' })
    expect(await createUser(kv, { id: 'u1', name: 'second', email: 'x@y.z' })).toBeNull()
    expect(await getUser(kv, 'u1')).toMatchObject({ name: 'first' })
    expect(await createUser(kv, { email: 'x@y.z' })).not.toBeNull()
  })

  it('takes an e-mail once, whatever its case, also in a race', async () => {
    const kv = await memoryKV()
    const race = Array.from({ length: 20 }, (_, i) => createUser(kv, { email: i % 2 ? 'A@x.org' : 'a@X.org' }))
    const created = (await Promise.all(race)).filter((user) => user !== null)
    expect(created).toHaveLength(1)
    const { items } = await kv.list(['user'])
    expect(items.map(({ value }) => value)).toEqual(created)
  })

  it('lets many be without an e-mail', async () => {
    const kv = await memoryKV()
    const users = await Promise.all([createUser(kv, {}), createUser(kv, { email: null }), createUser(kv, {})])
    expect(users).not.toContain(null)
  })
})

describe('getUser', () => {
  it('finds live users only', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, { id: 'u1' })
    expect(await getUser(kv, 'u2')).toBeNull()
    await kv.commit({ set: [{ key: ['user', 'u1'], value: { ...user!, deleted_at: '2026-01-01T00:00:00.000Z' } }] })
    expect(await getUser(kv, 'u1')).toBeNull()
  })
})
