import type { Act, Role, UserChange, UserFields } from '@turnpike/core'
import { changeOwnRole, deleteUser, findUserByEmail, getUser, listUsers, restoreUser, updateUser } from '@turnpike/core'
import type { User as StoredUser } from '@turnpike/core'
import { budgetUsed, Email, highestOwnRole, invalid, newUser, userBudget, uuidv7 } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { entriesOfInvited } from '../entities/invitations.js'
import { forbidden, found, notFound } from '../errors.js'
import { present } from '../given-fields.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { Flag, IdParams, User } from '../schemas.js'
import type { ErasureOperations } from './erasure.js'
import type { TokenOperations } from './tokens.js'
import { aliases, elsewhere, elsewhereThanPatch, fieldsOf, NewUser, UserPatch } from './user-bodies.js'

/** Input for a new user. */
export type UserInput = Partial<UserFields> & {
  /** Default a UUIDv7. */
  id?: string
  /** Without one, the user cannot sign in by password. */
  password?: string
}

/** A role that everybody may take: never that of administrators. */
export type SelfRole = Exclude<Role, 'admin'>

/** What can be done with users, without HTTP. */
export function userOperations(
  { kv, keys, ledger, sessions, selfRole, passwords, logged, told, now }: Parts,
  tokens: TokenOperations,
) {
  /** Ends what a user has open: the sign-ins, gateway keys and tokens. */
  const revoke = async (id: string, act: Act): Promise<void> => {
    await sessions?.signOutUser(id)
    await keys.revokeAll(id, act)
    await tokens.revokeAll(id, act)
  }

  return {
    /** @throws ApiError 400 where the e-mail is taken or none, or for a password that is too short or too long, common, or made of the user's names */
    async create({ password, ...fields }: UserInput, act: Act = {}): Promise<StoredUser> {
      if (fields.email && !v.is(Email, fields.email))
        throw invalid('email must be an e-mail address', { field: 'email' })
      const time = act.now ?? now()
      const id = fields.id ?? uuidv7(time)
      if (password !== undefined && !passwords) throw forbidden('Nobody signs in by password here')
      if (password !== undefined && !sessions)
        throw invalid('Users are signed in elsewhere: they have no password here')
      if (password !== undefined && !fields.email) throw invalid('A user who signs in by password needs an e-mail')
      const also = password === undefined ? [] : [await sessions!.passwordEntry(id, password, fields)]
      const provider = fields.provider ?? (password === undefined ? '' : 'password')
      const del = fields.email ? await entriesOfInvited(kv, fields.email) : []
      const user = await newUser(kv, { ...fields, id, provider }, { ...act, now: time, also, del })
      if (!user) throw invalid('The e-mail is taken')
      return user
    },
    get: (id: string) => getUser(kv, id, { deleted: true }),
    /** What was spent of the user's budget, as a field; none where there is no budget. */
    budgetUsed: async (user: StoredUser) => (await budgetUsed(ledger, [userBudget(user)]))[0]!,
    find: (email: string) => findUserByEmail(kv, email, { deleted: true }),
    list: (page?: Parameters<typeof listUsers>[1]) => listUsers(kv, page),
    /**
     * Changes the given fields as an administrator does: a role is granted.
     * @throws ApiError 400 where the e-mail is taken, or where the last administrator would get another role
     */
    async update(id: string, fields: UserChange, act: Act = {}): Promise<StoredUser | null> {
      const before = fields.email === undefined ? null : await getUser(kv, id)
      const user = await updateUser(kv, id, fields, { now: now(), ...act })
      keys.forget(id)
      if (before && user) {
        told.newEmail(before, user)
        const del = await entriesOfInvited(kv, user.email ?? '')
        if (del.length > 0) await kv.commit({ del })
      }
      return user
    },
    /** The highest role that a user may take without an administrator. */
    highestOwnRole: (user: StoredUser): Role => highestOwnRole(user, selfRole),
    /** Changes the role as the users themselves do. @throws ApiError 403 for a role that no administrator granted, 400 as `update` */
    async changeOwnRole(id: string, role: Role): Promise<StoredUser | null> {
      const user = await logged('user.role', id, (by) => changeOwnRole(kv, id, role, { selfRole, by, now: now() }))
      keys.forget(id)
      return user
    },
    /** Deletes a user softly, and ends the sign-ins and gateway keys. False if there is none. @throws ApiError 400 for the last administrator */
    async remove(id: string, act: Act = {}): Promise<boolean> {
      if (!(await deleteUser(kv, id, { now: now(), ...act }))) return false
      // A crash here leaves entries that are good for nothing: the user is gone, and a restored one has to sign in again.
      await revoke(id, act)
      return true
    },
    /** Takes a deletion back; sign-ins and gateway keys stay revoked. Null if there is no deleted user with this id. */
    async restore(id: string, act: Act = {}): Promise<StoredUser | null> {
      const user = await getUser(kv, id, { deleted: true })
      if (!user || user.deleted_at === null) return null
      // Before the user is back, as a crash may have prevented it when the user was deleted.
      await revoke(id, act)
      return restoreUser(kv, id, { now: now(), ...act })
    },
    /** Gives a user a password, or another one, and ends all sign-ins. @throws ApiError 400 as `create` */
    async setPassword(id: string, password: string, act: Act = {}): Promise<void> {
      if (!sessions) throw invalid('Users are signed in elsewhere: they have no password here')
      await sessions.setPassword(id, password, { now: now(), ...act })
      const user = await getUser(kv, id)
      if (user) told.newPassword(user)
    },
  }
}

export type UserOperations = ReturnType<typeof userOperations>

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
    async run(caller, { body }) {
      const input = { ...fieldsOf(body), ...present({ password: body.password }) }
      return userView(await users.create(input, { by: caller!.user.id }))
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

/** DELETE /api/users/{id}: soft (ruling 31); a second time with `permanent` for good. */
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
