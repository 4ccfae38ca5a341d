import type { JsonValue } from '@turnpike/core'
import { createUser, memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { acceptShare, setMember } from '../members/stored-members.js'
import { createProject } from '../projects/stored-projects.js'
import { verifyPlatform } from './verify.js'

const fields = { name: 'P', team_type: 'custom', color: '#64748b', description: null } as const
const limits = { projects: null, agents: null, bytes: Infinity }

it('tells of members that do not find their project, and of what leads to none', async () => {
  const kv = await memoryKV()
  const at = { bytes: Infinity, now: Date.now() }
  for (const id of ['ada', 'bob']) await createUser(kv, { id, email: `${id}@example.org` })
  const { id } = await createProject(kv, 'ada', fields, { agents: 0, limits, ...at })
  const ada = { id: 'ada', email: 'ada@example.org' }
  const [bob, eve] = [
    await setMember(kv, ada, id, { email: 'Bob@example.org', role: 'editor' }, at),
    await setMember(kv, ada, id, { email: 'eve@example.org', role: 'reader' }, at),
  ]
  await acceptShare(kv, { id: 'bob', email: 'bob@example.org' }, id, bob.id, at)
  const problems = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const problem of verifyPlatform(kv)) found.push(problem)
    return found
  }
  expect(await problems()).toEqual([])

  /** The problems while the only entry of a kind has another value, or none. */
  const withValue = async (kind: string, change?: (value: object) => object): Promise<string[]> => {
    const { key, value } = (await kv.list<JsonValue>([kind])).items[0]!
    await kv.commit(change ? { set: [{ key, value: change(value as object) as JsonValue }] } : { del: [key] })
    const found = await problems()
    await kv.commit({ set: [{ key, value }] })
    return found.filter((problem) => !/bytes|tasks|is not there$|is said/.test(problem))
  }
  const isLost = (memberId: string) => [`Member ${memberId} does not find project ${id}`]
  expect(await withValue('user-shared')).toEqual(isLost(bob.id))
  expect(await withValue('shared-with')).toEqual(isLost(eve.id))
  expect(await withValue('user-shared', (value) => ({ ...value, role: 'reader' }))).toEqual(isLost(bob.id))
  expect(await withValue('shared-with', (value) => ({ ...value, user_id: 'bob' }))).toEqual(isLost(eve.id))
  expect(await withValue('project', (value) => ({ ...value, members: [] }))).toEqual([
    `user-shared bob leads to project ${id}, which has no such member`,
    `shared-with eve@example.org leads to project ${id}, which has no such member`,
    'The projects or agents of user bob, or what is shared with them, are miscounted',
  ])
  expect(await problems()).toEqual([])
})
