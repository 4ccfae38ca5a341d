import type { User as StoredUser } from '@turnpike/core'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { found, notFound } from '../errors.js'
import { present } from '../given-fields.js'
import { operation } from '../operation.js'
import { Flag, IdParams, User } from '../schemas.js'
import type { ErasureOperations } from './erasure.js'
import { aliases, elsewhere, elsewhereThanPatch, fieldsOf, NewUser, UserPatch } from './user-bodies.js'
import type { UserOperations } from './users.js'

/** The public form of a user. */
export const userView = (user: StoredUser): v.InferOutput<typeof User> => {
  const {
    id,
    email,
    first_name,
    last_name,
    username,
    role,
    granted_role,
    provider,
    budget,
    token_limit,
    deleted_at,
    created_at,
  } = user
  const names = { first_name, last_name, username }
  return {
    id,
    email: email ?? '',
    ...names,
    role,
    ...(granted_role && { granted_role }),
    provider,
    ...(budget && { budget }),
    ...(token_limit !== undefined && { token_limit }),
    deleted_at,
    created_at,
  }
}

/** POST /api/users */
export const usersCreate = (users: UserOperations) =>
  operation({
    id: 'users.create',
    summary: 'Makes a user, with a password or without.',
    access: 'admin',
    aliases,
    elsewhere,
    body: NewUser,
    example: { email: 'ada@example.org', firstName: 'Ada' },
    output: User,
    errors: [503],
    async run(caller, { body }, { again }) {
      const input = { ...fieldsOf(body), ...present({ password: body.password }) }
      return userView(await users.create(input, { by: caller!.user.id }, again))
    },
  })

/** GET /api/users */
export const usersList = (users: UserOperations) =>
  operation({
    id: 'users.list',
    summary: 'Lists users, newest first: all, a page of them, the one with an e-mail, or the deleted ones.',
    access: 'admin',
    query: v.object({
      ...Paging.entries,
      email: v.optional(v.pipe(v.string(), v.maxLength(254))),
      deleted: Flag,
    }),
    output: v.array(User),
    answerHeaders: ['Link'],
    async run(_, { query }, call) {
      const deleted = query.deleted === 'true'
      if (query.email !== undefined) {
        const user = await users.find(query.email.replaceAll(' ', '+'))
        return user && (user.deleted_at !== null) === deleted ? [userView(user)] : []
      }
      return jsonArray(query, call, async (page) => {
        const { items, next } = await users.list({ ...page, deleted })
        return { items: items.map(userView), next }
      })
    },
  })

/** GET /api/users/{id} */
export const usersGet = (users: UserOperations) =>
  operation({
    id: 'users.get',
    summary: 'One user, also a deleted one.',
    access: 'admin',
    params: IdParams,
    output: User,
    errors: [404],
    async run(_, { params: { id } }) {
      const user = found('user', await users.get(id))
      return { ...userView(user), ...(await users.budgetUsed(user)) }
    },
  })

/** PATCH /api/users/{id} */
export const usersUpdate = (users: UserOperations) =>
  operation({
    id: 'users.update',
    summary: 'Changes the given fields of a user.',
    access: 'admin',
    params: IdParams,
    aliases,
    elsewhere: elsewhereThanPatch,
    body: UserPatch,
    example: { firstName: 'Ada' },
    output: User,
    errors: [404],
    async run(caller, { params: { id }, body }) {
      const { budget, tokenLimit } = body
      const fields = {
        ...fieldsOf(body),
        ...(budget === null && { budget }),
        ...(tokenLimit === null && { token_limit: tokenLimit }),
      }
      const isEmpty = Object.keys(fields).length === 0
      const user = isEmpty ? await users.get(id) : await users.update(id, fields, { by: caller!.user.id })
      return userView(found('user', user))
    },
  })

/** DELETE /api/users/{id}: soft; a second time with `permanent` for good. */
export const usersRemove = (users: UserOperations, erasures: ErasureOperations) =>
  operation({
    id: 'users.remove',
    summary:
      'Deletes a user, who can be restored, and ends their sign-ins and gateway keys. With `permanent=true`, removes a user who is deleted, and all that is theirs, for good.',
    access: 'admin',
    params: IdParams,
    query: v.object({ permanent: Flag }),
    errors: [400, 404],
    async run(caller, { params: { id }, query: { permanent } }) {
      const act = { by: caller!.user.id }
      const isRemoved = permanent === 'true' ? await erasures.erase(id, act) : await users.remove(id, act)
      if (!isRemoved) throw notFound('user')
    },
  })

/** POST /api/users/{id}/restore */
export const usersRestore = (users: UserOperations) =>
  operation({
    id: 'users.restore',
    summary: 'Takes the deletion of a user back. Sign-ins and gateway keys stay ended.',
    access: 'admin',
    params: IdParams,
    output: User,
    errors: [404],
    async run(caller, { params: { id } }) {
      const user = (await users.restore(id, { by: caller!.user.id })) ?? (await users.get(id))
      return userView(found('user', user))
    },
  })
