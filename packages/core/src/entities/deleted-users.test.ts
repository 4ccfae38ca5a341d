import { describe, expect, it } from 'vitest'
import type { KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import { deleteUser, restoreUser } from './user-changes.js'
import { countUsers, createUser, findUserByEmail, getUser, listUsers } from './users.js'

const DAY_2 = Date.UTC(2026, 0, 2)
const DAY_3 = Date.UTC(2026, 0, 3)

async function expectClean(kv: KV): Promise<void> {
  for await (const problem of verifyStore(kv)) throw new Error(problem)
}

describe('restoreUser', () => {
  it('takes a deletion back, and sign-ins until then do not count', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, { id: 'u1', email: 'a@x.org', role: 'developer' })
    await deleteUser(kv, 'u1', { now: DAY_2 })
    expect(await getUser(kv, 'u1', { deleted: true })).toEqual({ ...user, deleted_at: '2026-01-02T00:00:00.000Z' })
    const restored = await restoreUser(kv, 'u1', { now: DAY_3 })
    expect(restored).toEqual({ ...user, signed_out_at: '2026-01-03T00:00:00.000Z' })
    expect(await findUserByEmail(kv, 'a@x.org')).toEqual(restored)
    expect(await countUsers(kv)).toBe(1)
    await expectClean(kv)
  })

  it('succeeds once, also concurrently, and only for deleted users', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1' })
    expect(await restoreUser(kv, 'u1')).toBeNull()
    expect(await restoreUser(kv, 'u2')).toBeNull()
    await deleteUser(kv, 'u1')
    const restored = await Promise.all(Array.from({ length: 10 }, () => restoreUser(kv, 'u1')))
    expect(restored.filter((user) => user !== null)).toHaveLength(1)
    expect(await countUsers(kv)).toBe(1)
    await expectClean(kv)
  })
})

describe('listUsers with deleted users', () => {
  it('lists them in place of the others, newest first, in pages', async () => {
    const kv = await memoryKV()
    for (let i = 0; i < 9; i++) await createUser(kv, { id: `u${i}` })
    for (const i of [1, 4, 5, 8]) await deleteUser(kv, `u${i}`)
    const idsOf = async (page: Parameters<typeof listUsers>[1]) => {
      const { items, next } = await listUsers(kv, { ...page, deleted: true })
      return [items.map(({ id }) => id), next]
    }
    expect(await idsOf({})).toEqual([['u8', 'u5', 'u4', 'u1'], undefined])
    expect(await idsOf({ limit: 2 })).toEqual([['u8', 'u5'], 'u5'])
    expect(await idsOf({ limit: 2, after: 'u5' })).toEqual([['u4', 'u1'], 'u1'])
    expect(await idsOf({ limit: 2, after: 'u1' })).toEqual([[], undefined])
    expect((await listUsers(kv)).items.map(({ id }) => id)).toEqual(['u7', 'u6', 'u3', 'u2', 'u0'])
  })

  it('finds few among many in few reads', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'a' })
    await deleteUser(kv, 'a')
    for (let i = 0; i < 600; i++) await createUser(kv, { id: `u${i}` })
    let reads = 0
    const counting: KV = { ...kv, list: (prefix, options) => (reads++, kv.list(prefix, options)) }
    expect((await listUsers(counting, { limit: 1, deleted: true })).items).toHaveLength(1)
    expect(reads).toBe(2)
  })
})
