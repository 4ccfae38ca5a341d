import type { Act, Role, UserChange, UserFields } from '@turnpike/core'
import { changeOwnRole, deleteUser, findUserByEmail, getUser, listUsers, restoreUser, updateUser } from '@turnpike/core'
import type { User as StoredUser } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { budgetUsed, Email, highestOwnRole, invalid, newUser, userBudget } from '@turnpike/core/internal'
import * as v from 'valibot'
import { forbidden } from '../errors.js'
import type { Parts } from '../parts.js'
import { entriesOfInvited } from '../sign-in/stored-invitations.js'
import type { TokenOperations } from '../tokens/tokens.js'

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
    /**
     * @param again called once a password is hashed, for which there may be a queue: whoever acts may be nobody any more
     * @throws ApiError 400 where the e-mail is taken or none, or for a password that is too short or too long, common, or made of the user's names
     */
    async create({ password, ...fields }: UserInput, act: Act = {}, again?: () => unknown): Promise<StoredUser> {
      if (fields.email && !v.is(Email, fields.email))
        throw invalid('email must be an e-mail address', { field: 'email' })
      const time = act.now ?? now()
      const id = fields.id ?? uuidv7(time)
      if (password !== undefined && !passwords) throw forbidden('Nobody signs in by password here')
      if (password !== undefined && !sessions)
        throw invalid('Users are signed in elsewhere: they have no password here')
      if (password !== undefined && !fields.email) throw invalid('A user who signs in by password needs an e-mail')
      const also = password === undefined ? [] : [await sessions!.passwordEntry(id, password, fields)]
      await again?.()
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
    /** Gives a user a password, or another one, and ends all sign-ins. @param again as for `create`. @throws ApiError 400 as `create` */
    async setPassword(id: string, password: string, act: Act = {}, again?: () => unknown): Promise<void> {
      if (!sessions) throw invalid('Users are signed in elsewhere: they have no password here')
      await sessions.setPassword(id, password, { now: now(), ...act }, again)
      const user = await getUser(kv, id)
      if (user) told.newPassword(user)
    },
  }
}

export type UserOperations = ReturnType<typeof userOperations>
