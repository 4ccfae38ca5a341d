import { describe, expect, it } from 'vitest'
import type { KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { verifyStore } from '../verify.js'
import { listAudit } from './audit.js'
import { deleteUser, restoreUser, updateUser } from './user-changes.js'
import { createUser, findUserByEmail, getUser, listUsers, newUser } from './users.js'

const DAY_2 = Date.UTC(2026, 0, 2)

async function expectClean(kv: KV): Promise<void> {
  for await (const problem of verifyStore(kv)) throw new Error(problem)
}

const statuses = async (promises: Promise<unknown>[]): Promise<string[]> =>
  (await Promise.allSettled(promises)).map(({ status }) => status).toSorted()

it.each<[fields: object, message: string]>([
  [{ nam: 'Ada' }, 'there is no field "nam"; there are email, role, name,'],
  [{ role: 'root' }, 'role: Invalid type'],
  [{ budget: { usd: -1 } }, 'budget.usd: Invalid value: Expected >=0 but received -1'],
  [{ token_limit: '5' }, 'token_limit: Invalid type: Expected number but received "5"'],
])('makes and changes no user with %j', async (fields, message) => {
  const kv = await memoryKV()
  const user = await createUser(kv, { id: 'u1' })
  await expect(createUser(kv, { id: 'u2', ...fields })).rejects.toThrow(new RegExp(`^createUser: ${message}`))
  await expect(updateUser(kv, 'u1', fields)).rejects.toThrow(new RegExp(`^updateUser: ${message}`))
  expect((await listUsers(kv)).items).toEqual([user])
})

describe('findUserByEmail', () => {
  it('finds a user in whatever case, and a deleted one only when asked to', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', email: 'Ada@x.org' })
    expect(await findUserByEmail(kv, 'aDA@X.org')).toMatchObject({ id: 'u1', email: 'Ada@x.org' })
    expect(await findUserByEmail(kv, 'bob@x.org')).toBeNull()
    await deleteUser(kv, 'u1')
    expect(await findUserByEmail(kv, 'ada@x.org')).toBeNull()
    expect(await findUserByEmail(kv, 'ada@x.org', { deleted: true })).toMatchObject({ id: 'u1' })
  })
})

describe('updateUser', () => {
  it('changes the given fields and keeps the others', async () => {
    const kv = await memoryKV()
    const before = await createUser(kv, { id: 'u1', email: 'a@x.org', first_name: 'Ada', username: 'ada' })
    const after = await updateUser(kv, 'u1', { first_name: 'Eda', role: 'developer', budget: { usd: 1 } })
    expect(after).toEqual({ ...before, first_name: 'Eda', role: 'developer', budget: { usd: 1 } })
    expect(await getUser(kv, 'u1')).toEqual(after)
    expect(await findUserByEmail(kv, 'a@x.org')).toEqual(after)
    await expectClean(kv)
  })

  it('sets, changes and removes a budget, and logs each with its amount', async () => {
    const kv = await memoryKV()
    const before = await createUser(kv, { id: 'u1' })
    const budgets = [{ usd: 5, per: 'month' }, { usd: 0.5 }, null] as const
    for (const budget of budgets)
      expect(await updateUser(kv, 'u1', { budget }, { by: 'root' })).toEqual({ ...before, ...(budget && { budget }) })
    await updateUser(kv, 'u1', { role: 'developer', budget: { usd: 1 } }, { by: 'root' })
    await updateUser(kv, 'u1', { name: 'Ada' }, { by: 'root' })
    // Nothing hides a change of the e-mail.
    await updateUser(kv, 'u1', { email: 'eve@x.org', budget: null, token_limit: 5 }, { by: 'root' })
    const { items } = await listAudit(kv)
    expect(items.map(({ action, detail }) => [action, detail]).toReversed()).toEqual([
      ['user.budget', '$5 per month'],
      ['user.budget', '$0.5'],
      ['user.budget', 'none'],
      ['user.role', 'developer'],
      ['user.budget', '$1'],
      ['user.update', 'name'],
      ['user.budget', 'none'],
      ['user.update', 'email, token_limit'],
    ])
    await expectClean(kv)
  })

  it('applies concurrent changes of different fields', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1' })
    await Promise.all([updateUser(kv, 'u1', { first_name: 'Ada' }), updateUser(kv, 'u1', { last_name: 'Byron' })])
    expect(await getUser(kv, 'u1')).toMatchObject({ first_name: 'Ada', last_name: 'Byron' })
  })

  it('returns null for a user who does not exist or was deleted', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1' })
    await deleteUser(kv, 'u1')
    expect(await updateUser(kv, 'u1', { name: 'x' })).toBeNull()
    expect(await updateUser(kv, 'u2', { name: 'x' })).toBeNull()
    expect(await updateUser(kv, 'x'.repeat(2_001), { name: 'x' })).toBeNull()
    expect(await getUser(kv, 'u1', { deleted: true })).toMatchObject({ name: '' })
  })

  it('moves the e-mail with its entry, so that the old one is free', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', email: 'old@x.org' })
    await updateUser(kv, 'u1', { email: 'New@x.org' })
    expect(await findUserByEmail(kv, 'old@x.org', { deleted: true })).toBeNull()
    expect(await findUserByEmail(kv, 'new@x.org')).toMatchObject({ id: 'u1', email: 'New@x.org' })
    await expect(createUser(kv, { email: 'OLD@x.org' })).resolves.toBeTruthy()
    await expect(createUser(kv, { email: 'NEW@x.org' })).rejects.toThrow('is taken')
    await expectClean(kv)
  })

  it('gives and takes an e-mail, and changes its case', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1' })
    await updateUser(kv, 'u1', { email: 'a@x.org' })
    await updateUser(kv, 'u1', { email: 'A@x.org' })
    expect(await findUserByEmail(kv, 'a@x.org')).toMatchObject({ email: 'A@x.org' })
    await expectClean(kv)
    await updateUser(kv, 'u1', { email: null })
    expect(await findUserByEmail(kv, 'a@x.org')).toBeNull()
    await expect(createUser(kv, { email: 'a@x.org' })).resolves.toBeTruthy()
    await expectClean(kv)
  })

  it('refuses an e-mail that is in use, also by a deleted user', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', email: 'a@x.org' })
    await createUser(kv, { id: 'u2', email: 'b@x.org' })
    await createUser(kv, { id: 'u3', email: 'c@x.org' })
    await deleteUser(kv, 'u3')
    for (const email of ['A@X.org', 'c@x.org'])
      await expect(updateUser(kv, 'u2', { email, name: 'x' })).rejects.toMatchObject({
        status: 400,
        message: 'The e-mail is taken',
      })
    expect(await getUser(kv, 'u2')).toMatchObject({ email: 'b@x.org', name: '' })
    await expectClean(kv)
  })

  it('gives one e-mail to one of several users who get it concurrently', async () => {
    const kv = await memoryKV()
    const ids = Array.from({ length: 10 }, (_, i) => `u${i}`)
    for (const id of ids) await createUser(kv, { id, email: `${id}@x.org` })
    const outcomes = await Promise.allSettled(ids.map((id) => updateUser(kv, id, { email: 'one@x.org' })))
    const refused = outcomes.filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(9)
    for (const outcome of refused) expect(outcome).toMatchObject({ reason: { status: 400 } })
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled')
    expect(await findUserByEmail(kv, 'one@x.org')).toMatchObject({ id: ids[winner] })
    await expectClean(kv)
  })

  it('gives an e-mail either to a new user or to an old one', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', email: 'a@x.org' })
    const [created, updated] = await Promise.allSettled([
      createUser(kv, { id: 'u2', email: 'one@x.org' }),
      updateUser(kv, 'u1', { email: 'one@x.org' }),
    ])
    const isCreated = created.status === 'fulfilled' && created.value !== null
    expect(isCreated).not.toBe(updated.status === 'fulfilled')
    await expectClean(kv)
  })
})

describe('the last administrator', () => {
  const message = 'The last administrator can neither be deleted nor get another role'

  it('keeps the role and can be changed otherwise', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'a', role: 'admin' })
    await createUser(kv, { id: 'b', role: 'admin' })
    await createUser(kv, { id: 'c' })
    await deleteUser(kv, 'b')
    await expect(updateUser(kv, 'a', { role: 'developer' })).rejects.toMatchObject({ status: 400, message })
    await expect(deleteUser(kv, 'a')).rejects.toMatchObject({ status: 400, message })
    expect(await updateUser(kv, 'a', { name: 'Ada', role: 'admin' })).toMatchObject({ name: 'Ada', role: 'admin' })
    await updateUser(kv, 'c', { role: 'admin' })
    expect(await updateUser(kv, 'a', { role: 'developer' })).toMatchObject({ role: 'developer' })
  })

  it('who may sign in is kept beside those who may not', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'a', role: 'admin', email: 'a@x.org' })
    await createUser(kv, { id: 'b', role: 'admin' })
    await createUser(kv, { id: 'c', role: 'admin' })
    await newUser(kv, { id: 'e', role: 'admin', email: 'e@x.org' }, { ofGateway: true })
    await expect(updateUser(kv, 'a', { role: 'user' })).rejects.toMatchObject({ status: 400, message })
    await expect(deleteUser(kv, 'a')).rejects.toMatchObject({ status: 400, message })
    expect(await deleteUser(kv, 'b')).toBe(true)
    await createUser(kv, { id: 'd', role: 'admin', provider: 'jwks' })
    expect(await deleteUser(kv, 'a')).toBe(true)
    await expect(deleteUser(kv, 'd')).rejects.toMatchObject({ status: 400, message })
  })

  it.each([
    ['two demotions', (kv: KV, id: string) => updateUser(kv, id, { role: 'user' })],
    [
      'a demotion and a deletion',
      (kv: KV, id: string) => (id === 'a' ? deleteUser(kv, id) : updateUser(kv, id, { role: 'user' })),
    ],
  ])('is left by %s at the same time', async (_, change) => {
    const kv = await memoryKV()
    for (const id of ['a', 'b']) await createUser(kv, { id, role: 'admin' })
    expect(await statuses([change(kv, 'a'), change(kv, 'b')])).toEqual(['fulfilled', 'rejected'])
    expect((await listUsers(kv)).items.filter(({ role }) => role === 'admin')).toHaveLength(1)
    await expectClean(kv)
  })
})

describe('an act', () => {
  const act = (value: string) => ({ by: 'root', now: DAY_2, also: [{ key: ['also', value], value }] })

  it('is logged, and what it writes beside is in the same commit', async () => {
    const kv = await memoryKV()
    const commits: string[][] = []
    const watched: KV = {
      ...kv,
      commit: (commit) => (commits.push(commit.set!.map(({ key }) => key.slice(0, 2).join('/'))), kv.commit(commit)),
    }
    await createUser(watched, { id: 'u1' }, act('created'))
    await updateUser(watched, 'u1', { name: 'x' }, act('updated'))
    await deleteUser(watched, 'u1', act('deleted'))
    await restoreUser(watched, 'u1', act('restored'))
    const made = ['created', 'updated', 'deleted', 'restored']
    expect(commits).toEqual(
      made.map((value) => ['user/u1', expect.stringMatching(/^audit\//) as string, `also/${value}`]),
    )
    expect((await listAudit(kv)).items.map(({ action, actor, target }) => [action, actor, target]).toSorted()).toEqual(
      ['create', 'delete', 'restore', 'update'].map((done) => [`user.${done}`, 'root', 'u1']),
    )
  })

  it('that fails writes nothing beside', async () => {
    const kv = await memoryKV()
    await createUser(kv, { id: 'u1', role: 'admin', email: 'a@x.org' })
    await createUser(kv, { id: 'u2' })
    await expect(createUser(kv, { id: 'u1' }, act('x'))).rejects.toThrow('is taken')
    await expect(updateUser(kv, 'u2', { email: 'a@x.org' }, act('x'))).rejects.toMatchObject({ status: 400 })
    await expect(deleteUser(kv, 'u1', act('x'))).rejects.toMatchObject({ status: 400 })
    expect(await restoreUser(kv, 'u2', act('x'))).toBeNull()
    expect(await kv.get(['also', 'x'])).toBeNull()
    expect((await listAudit(kv)).items).toEqual([])
  })
})
