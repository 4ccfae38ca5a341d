import { expect, it } from 'vitest'
import type { Commit, KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { listAudit } from './audit.js'
import { gatewayKeys } from './gateway-keys.js'
import { deleteUser } from './user-changes.js'
import { createUser } from './users.js'

const START = Date.UTC(2026, 0, 2)

it('are written in the commit of the action, newest first, if an actor is given', async () => {
  let now = START
  const kv = await memoryKV()
  const commits: Commit[] = []
  const watched: KV = { ...kv, commit: (commit) => (commits.push(commit), kv.commit(commit)) }
  const keys = gatewayKeys(watched, { now: () => now })
  const logged = (): unknown[] =>
    commits.splice(0).map(({ set = [] }) => set.filter(({ key }) => key[0] === 'audit').map(({ value }) => value))
  const tick = (): number => ++now

  await createUser(watched, { id: 'ada' }, { by: 'root', now: tick() })
  const { id } = await keys.create('ada', { name: 'k' }, { by: 'ada' })
  tick()
  await keys.update(id, { rateLimit: 5 }, { by: 'ada' })
  tick()
  const { id: next } = (await keys.rotate(id, {}, { by: 'ada' }))!
  tick()
  await keys.revoke(next, { by: 'admin-token' })
  await keys.revoke(next, { by: 'admin-token' })
  await deleteUser(watched, 'ada', { by: 'root', now: tick() })
  const entry = (actor: string, action: string, target: string, after: number, more: object = {}) => [
    { id: expect.any(String), actor, action, target, timestamp: new Date(START + after).toISOString(), ...more },
  ]
  const expected = [
    entry('root', 'user.create', 'ada', 1, { detail: 'user' }),
    entry('ada', 'key.create', id, 1),
    entry('ada', 'key.update', id, 2, { detail: 'rateLimit' }),
    entry('ada', 'key.rotate', id, 3),
    entry('admin-token', 'key.revoke', next, 4),
    entry('root', 'user.delete', 'ada', 5),
  ]
  expect(logged()).toEqual(expected)
  expect((await listAudit(kv)).items).toEqual(expected.flat().toReversed())

  await createUser(watched, { id: 'bob' })
  await gatewayKeys(watched).create('bob', { name: 'k' })
  await deleteUser(watched, 'bob')
  expect(logged()).toEqual([[], [], []])
})

it('are not written for an action that did not happen', async () => {
  const kv = await memoryKV()
  await createUser(kv, { id: 'ada' })
  await expect(createUser(kv, { id: 'ada' }, { by: 'root' })).rejects.toThrow('is taken')
  await deleteUser(kv, 'nobody', { by: 'root' })
  await gatewayKeys(kv).revoke('none', { by: 'root' })
  expect(await listAudit(kv)).toEqual({ items: [] })
})

it('are listed in pages', async () => {
  const kv = await memoryKV()
  const ids = ['a', 'b', 'c', 'd', 'e']
  for (const [i, id] of ids.entries()) await createUser(kv, { id }, { by: 'root', now: START + i })
  const seen: string[][] = []
  let after: string | undefined
  do {
    const page = await listAudit(kv, { limit: 2, after })
    seen.push(page.items.map(({ target }) => target))
    after = page.next
  } while (after !== undefined)
  expect(seen).toEqual([['e', 'd'], ['c', 'b'], ['a']])
})
