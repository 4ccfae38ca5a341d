import { describe, expect, it } from 'vitest'
import { isUuid } from '../helpers/ids.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import { deleteUser, updateUser } from './user-changes.js'
import { countUsers, createUser, EMAIL, findUserByEmail, getUser, listUsers } from './users.js'

describe('createUser', () => {
  it('sets defaults', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, {}, { now: Date.UTC(2026, 0, 2) })
    expect(user).toEqual({
      id: expect.any(String) as string,
      email: null,
      role: 'user',
      name: '',
      first_name: '',
      last_name: '',
      username: '',
      provider: '',
      created_at: '2026-01-02T00:00:00.000Z',
      deleted_at: null,
    })
    expect(isUuid(user!.id)).toBe(true)
    expect(await getUser(kv, user!.id)).toEqual(user)
  })

  it('stores the given fields', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, { id: 'u1', email: 'Ada@Example.org', role: 'admin', name: 'Ada' })
    expect(user).toMatchObject({ id: 'u1', email: 'Ada@Example.org', role: 'admin', name: 'Ada' })
  })

  it('accepts an id once', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', name: 'first' })
    await expect(createUser(kv, { id: 'u1', name: 'second', email: 'x@y.z' })).rejects.toThrow('is taken')
    expect(await getUser(kv, 'u1')).toMatchObject({ name: 'first' })
    await expect(createUser(kv, { email: 'x@y.z' })).resolves.toBeTruthy()
  })

  it('accepts an e-mail address once, case-insensitively, also concurrently', async () => {
    const kv = await memoryKV()
    const race = Array.from({ length: 20 }, (_, i) => createUser(kv, { email: i % 2 ? 'A@x.org' : 'a@X.org' }))
    const created = (await Promise.allSettled(race)).flatMap((made) => (made.status === 'fulfilled' ? made.value : []))
    expect(created).toHaveLength(1)
    const { items } = await kv.list(['user'])
    expect(items.map(({ value }) => value)).toEqual(created)
  })

  it('takes composed and decomposed characters of an e-mail address for the same', async () => {
    const kv = await memoryKV()
    const [composed, decomposed] = ['Zo\u00eb@x.org', 'Zoe\u0308@x.org']
    const user = await createUser(kv, { id: 'u1', email: decomposed })
    expect(user?.email).toBe(composed)
    await expect(createUser(kv, { email: composed })).rejects.toThrow('is taken')
    for (const email of [composed, decomposed, decomposed.toUpperCase()])
      expect(await findUserByEmail(kv, email)).toEqual(user)
    expect(await updateUser(kv, 'u1', { email: 'new@x.org' })).toMatchObject({ email: 'new@x.org' })
    expect(await findUserByEmail(kv, composed)).toBeNull()
    expect(await updateUser(kv, 'u1', { email: decomposed })).toEqual(user)
    for await (const fault of verifyStore(kv)) expect.unreachable(fault)
  })

  it('are found and taken where an earlier version stored the domain as it was given', async () => {
    const kv = await memoryKV()
    const [given, ascii] = ['zo\u00eb@B\u00fccher.example', 'zo\u00eb@xn--bcher-kva.example']
    const user = await createUser(kv, { id: 'u1', email: given })
    await kv.commit({
      del: [['email', ascii]],
      set: [{ key: ['email', given.toLowerCase()], value: 'u1' }],
    })
    const faults = async () => {
      const all: string[] = []
      for await (const fault of verifyStore(kv)) all.push(fault)
      return all
    }
    expect(await findUserByEmail(kv, given)).toEqual(user)
    await expect(createUser(kv, { id: 'u2', email: given })).rejects.toThrow('is taken')
    expect(await faults()).toEqual([])
    // Somebody else may have had the other form there.
    const other = await createUser(kv, { id: 'u2', email: ascii })
    expect([await findUserByEmail(kv, given), await findUserByEmail(kv, ascii)]).toEqual([user, other])
    await createUser(kv, { id: 'u3', email: 'other@example.org' })
    await expect(updateUser(kv, 'u3', { email: given })).rejects.toMatchObject({ status: 400 })
    await updateUser(kv, 'u1', { email: 'new@example.org' })
    expect(await findUserByEmail(kv, given)).toEqual(other)
    expect(await faults()).toEqual([])
  })

  it('are one with dots of other scripts', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', email: 'me@mail.example.org' })
    for (const domain of ['mail\uff61example\u3002org', 'mail\uff0eexample.org', '\uff4dail.example.org'])
      await expect(createUser(kv, { email: `me@${domain}` })).rejects.toThrow('is taken')
  })

  it('accepts many users without e-mail address', async () => {
    const kv = await memoryKV()
    const users = await Promise.all([createUser(kv, {}), createUser(kv, { email: null }), createUser(kv, {})])
    expect(users).not.toContain(null)
  })
})

it.each([
  ['a@b', true],
  ['zo\u00eb@例え.jp', true],
  ['a b@c', false],
  ['a@b\n', false],
  ['a\u202e@b', false],
  ['a\u200b@b', false],
  ['a@b\u2066', false],
  ['\ufeffa@b', false],
  ['a\u00ad@b', false],
  ["o'hara+x.y@b", true],
  ['\u212aim@b', false],
  ['kim@\u212a', false],
  ['a\u037e@b', false],
  ['<a@b>', false],
  ['<a@b', false],
  ['"a"@b', false],
  ['a(x)@b', false],
  ['a,b@c', false],
  ['a@[127.0.0.1]', false],
  ['a@b.', false],
  ['a@b\u3002', false],
  ['a@b/c', false],
  ['a@b*', false],
  ['a@b#c', false],
  ['a/b#c=d@e-f.g', true],
  ['a%b.c@d', false],
  ['b.c!a@d', false],
  ['=?utf-8?q?a=40b=2C?=@d', false],
])('%j is an e-mail address: %s', (text, isOne) => expect(EMAIL.test(text)).toBe(isOne))

describe('getUser', () => {
  it('returns live users only', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, { id: 'u1' })
    expect(await getUser(kv, 'u2')).toBeNull()
    await kv.commit({ set: [{ key: ['user', 'u1'], value: { ...user!, deleted_at: '2026-01-01T00:00:00.000Z' } }] })
    expect(await getUser(kv, 'u1')).toBeNull()
  })
})

describe('createUser with an id', () => {
  it('longer than a key may be is refused', async () => {
    const kv = await memoryKV()
    await expect(createUser(kv, { id: '日'.repeat(200) })).resolves.toBeTruthy()
    await expect(createUser(kv, { id: 'x'.repeat(201) })).rejects.toThrow(TypeError)
    expect(await countUsers(kv)).toBe(1)
  })
})

describe('deleteUser', () => {
  it('keeps at least one administrator, also with two concurrent deletions', async () => {
    const kv = await memoryKV()
    for (const id of ['a', 'b', 'c']) await createUser(kv, { id, role: id === 'c' ? 'developer' : 'admin' })
    const outcomes = await Promise.allSettled([deleteUser(kv, 'a'), deleteUser(kv, 'b')])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const [left] = (await listUsers(kv)).items.filter(({ role }) => role === 'admin')
    await expect(deleteUser(kv, left!.id)).rejects.toMatchObject({
      status: 400,
      message: 'The last administrator can neither be deleted nor get another role',
    })
    expect(await deleteUser(kv, 'c')).toBe(true)
    expect(await countUsers(kv)).toBe(1)
  })

  it('hides the user, and keeps the e-mail address and id reserved', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', email: 'a@x.org' })
    await createUser(kv, { id: 'u2' })
    expect(await countUsers(kv)).toBe(2)
    expect(await deleteUser(kv, 'u1', { now: Date.UTC(2026, 0, 2) })).toBe(true)
    expect(await countUsers(kv)).toBe(1)
    expect(await getUser(kv, 'u1')).toBeNull()
    expect((await kv.get(['user', 'u1']))!.value).toMatchObject({ deleted_at: '2026-01-02T00:00:00.000Z' })
    await expect(createUser(kv, { email: 'A@x.org' })).rejects.toThrow('is taken')
    await expect(createUser(kv, { id: 'u1' })).rejects.toThrow('is taken')
    expect(await countUsers(kv)).toBe(1)
  })

  it('succeeds once, also concurrently', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1' })
    await createUser(kv, { id: 'u2' })
    const race = await Promise.all(Array.from({ length: 10 }, () => deleteUser(kv, 'u1')))
    expect(race.filter(Boolean)).toHaveLength(1)
    expect(await deleteUser(kv, 'u1')).toBe(false)
    expect(await deleteUser(kv, 'nobody')).toBe(false)
    expect(await countUsers(kv)).toBe(1)
  })
})

describe('listUsers', () => {
  it('lists live users, newest first, in pages', async () => {
    const kv = await memoryKV()
    const ids: string[] = []
    for (let i = 0; i < 7; i++) ids.push((await createUser(kv, { name: String(i) }, { now: 1_000 + i })).id)
    await deleteUser(kv, ids[4]!)
    const seen: string[][] = []
    let after: string | undefined
    do {
      const page = await listUsers(kv, { limit: 3, after })
      seen.push(page.items.map(({ name }) => name))
      after = page.next
    } while (after !== undefined)
    expect(seen).toEqual([
      ['6', '5', '3'],
      ['2', '1', '0'],
    ])
    await deleteUser(kv, ids[0]!)
    // A full page may have a `next` although nobody follows: the next page is then empty.
    expect((await listUsers(kv, { limit: 3, after: ids[3]! })).items.map(({ name }) => name)).toEqual(['2', '1'])

    expect((await listUsers(kv)).items).toHaveLength(5)
    expect(await listUsers(await memoryKV())).toEqual({ items: [] })
  })

  it('counts users that are created concurrently', async () => {
    const kv = await memoryKV()
    await Promise.allSettled(Array.from({ length: 20 }, (_, i) => createUser(kv, { email: `u${i % 15}@x.org` })))
    expect(await countUsers(kv)).toBe(15)
    expect((await listUsers(kv)).items).toHaveLength(15)
  })
})
