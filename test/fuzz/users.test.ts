import type { KV, User, UserFields } from '@turnpike/core'
import {
  createUser,
  deleteUser,
  findUserByEmail,
  listUsers,
  memoryKV,
  restoreUser,
  updateUser,
  verifyStore,
} from '@turnpike/core'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { runs } from '../support/scope.js'

const id = fc.constantFrom('u1', 'u2', 'u3', 'u4')
const email = fc.constantFrom(null, 'a@x.org', 'A@x.org', 'b@x.org', 'c@x.org')
const role = fc.constantFrom('user', 'developer', 'admin')
const fields = fc.record({ email, role, name: fc.constantFrom('x', 'y') }, { requiredKeys: [] })

type Step = { done: 'create' | 'update' | 'delete' | 'restore'; id: string; fields: Partial<UserFields> }
/** Steps that are made one after the other, each a group of changes at the same time. */
const steps = fc.array(
  fc.array(fc.record<Step>({ done: fc.constantFrom('create', 'update', 'delete', 'restore'), id, fields }), {
    minLength: 1,
    maxLength: 4,
  }),
  { maxLength: 20 },
)

const make = (kv: KV, { done, id, fields }: Step): Promise<unknown> => {
  if (done === 'create') return createUser(kv, { id, ...fields })
  if (done === 'update') return updateUser(kv, id, fields)
  return done === 'delete' ? deleteUser(kv, id) : restoreUser(kv, id)
}

const all = async (kv: KV): Promise<User[]> => [
  ...(await listUsers(kv)).items,
  ...(await listUsers(kv, { deleted: true })).items,
]
const hasAdmin = (users: User[]): boolean =>
  users.some(({ role, deleted_at }) => role === 'admin' && deleted_at === null)

it('the users and their e-mails agree, and an administrator stays, after any sequence of changes', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      const kv = await memoryKV()
      let hadAdmin = false
      for (const group of steps) {
        for (const outcome of await Promise.allSettled(group.map((step) => make(kv, step))))
          if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ status: 400 })
        for await (const problem of verifyStore(kv)) throw new Error(problem)
        const users = await all(kv)
        for (const user of users)
          if (user.email !== null) expect(await findUserByEmail(kv, user.email, { deleted: true })).toEqual(user)
        expect(hasAdmin(users) || !hadAdmin).toBe(true)
        hadAdmin = hasAdmin(users)
      }
    }),
    { numRuns: runs(100, 5_000) },
  )
})
