import { ApiError } from '../errors.js'
import { invalid } from '../invalid.js'
import type { Commit, Entry, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { Budget } from '../ledger/holds.js'
import { checkFields } from '../helpers/options.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'
import type { Role } from './roles.js'
import { higherRole, highestOwnRole, withRole } from './roles.js'
import type { User, UserChange } from './users.js'
import { changeFields, countKey, emailId, emailKey, emailKeys, userEntry, userIdOf, userKey } from './users.js'

const isAdmin = ({ role, deleted_at }: User): boolean => role === 'admin' && deleted_at === null

/** Whether a user may sign in one day: not those whom the gateway's administrators made and no other has changed since. */
const maySignIn = ({ email, provider, of_gateway }: User): boolean => !of_gateway && Boolean(email || provider)

/** Another administrator, who may sign in where this one may. @throws ApiError 400 if there is none */
async function otherAdmin(kv: KV, user: User): Promise<Entry<User>> {
  for await (const entry of entriesOf<User>(kv, ['user'])) {
    const { value: other } = entry
    if (isAdmin(other) && other.id !== user.id && (maySignIn(other) || !maySignIn(user))) return entry
  }
  throw invalid('The last administrator can neither be deleted nor get another role')
}

/** The rest of a commit that changes a user. */
type Also = Pick<Commit, 'check' | 'set' | 'del' | 'sum'>

/** The new value of a user, and what is written with it; null = nothing is changed. */
type Changed = { user: User; also: Also } | null

/**
 * Changes a user by compare-and-set.
 * @returns the stored user; null if there is none or `to` returned null
 * @throws ApiError 400 where the last administrator would no longer be one, because nobody could make another
 */
async function change(kv: KV, id: string, to: (user: User) => Changed | Promise<Changed>): Promise<User | null> {
  for (;;) {
    const entry = await userEntry(kv, id)
    const changed = entry && (await to(entry.value))
    if (!changed) return null
    const { user, also } = changed
    const others = isAdmin(entry.value) && !isAdmin(user) ? [await otherAdmin(kv, entry.value)] : []
    const stored = await kv.commit({
      ...also,
      check: [...[entry, ...others].map(({ key, version }) => ({ key, version })), ...(also.check ?? [])],
      set: [{ key: userKey(id), value: user }, ...(also.set ?? [])],
    })
    if (stored) return user
  }
}

/** What a budget is called in the audit log, such as `$5 per month`. */
const nameOf = (budget: Budget | null): string =>
  budget ? `$${budget.usd}${budget.per ? ` per ${budget.per}` : ''}` : 'none'

/** The audit entries of a change: of the role and the budget, with the new ones, and of the other fields, with their names. */
function changeLog(user: User, fields: UserChange, act: Act): NonNullable<Commit['set']> {
  const { role = user.role, budget, ...others } = fields
  const log = [
    ...(role === user.role ? [] : audit('user.role', user.id, { ...act, detail: role })),
    ...(budget === undefined ? [] : audit('user.budget', user.id, { ...act, detail: nameOf(budget) })),
  ]
  const names = Object.keys(others)
  if (names.length === 0 && log.length > 0) return log
  return [...log, ...audit('user.update', user.id, { ...act, detail: names.join(', ') || undefined })]
}

/**
 * Changes the given fields of a user. A role is granted: after a step down by {@link changeOwnRole}, the user can come back
 * to it.
 * @returns the user; null if there is none or the user was deleted
 * @throws ApiError 400 if the e-mail is in use, or where the last administrator would get another role
 * @throws TypeError for a field that does not exist or has a wrong value
 * @example await updateUser(kv, user.id, { budget: { usd: 20, per: 'month' } })
 */
export async function updateUser(kv: KV, id: string, fields: UserChange, act: Act = {}): Promise<User | null> {
  checkFields('updateUser', fields, changeFields)
  const email = fields.email?.normalize('NFC') ?? fields.email
  return change(kv, id, async (user) => {
    if (user.deleted_at !== null) return null
    const also: Required<Omit<Also, 'sum'>> = { check: [], set: [...changeLog(user, fields, act)], del: [] }
    if (email !== undefined && emailId(email ?? '') !== emailId(user.email ?? '')) {
      const entries = user.email ? await kv.getMany(emailKeys(user.email)) : []
      also.del.push(...entries.flatMap((entry) => (entry?.value === id ? [entry.key] : [])))
      if (email) {
        if ((await userIdOf(kv, email)) !== null) throw invalid('The e-mail is taken')
        also.check.push(...emailKeys(email).map((key) => ({ key, version: null })))
        also.set.push({ key: emailKey(email), value: id })
      }
    }
    const { role, budget, token_limit, ...others } = fields
    const changed = { ...(role === undefined ? user : withRole(user, role, role)), ...others }
    delete changed.of_gateway
    if (email !== undefined) changed.email = email
    if (budget === null) delete changed.budget
    else if (budget) changed.budget = budget
    if (token_limit === null) delete changed.token_limit
    else if (token_limit !== undefined) changed.token_limit = token_limit
    return { user: changed, also }
  })
}

/**
 * Marks a user as deleted: it is no longer found, but its usage records are kept. False if there is no such user.
 * @throws ApiError 400 for the last administrator, because nobody could create another
 * @example await deleteUser(kv, user.id, { by: 'my admin page' })
 */
export async function deleteUser(kv: KV, id: string, act: Act = {}): Promise<boolean> {
  const deleted_at = new Date(act.now ?? Date.now()).toISOString()
  const deleted = await change(kv, id, (user) =>
    user.deleted_at === null
      ? {
          user: { ...user, deleted_at },
          also: { set: audit('user.delete', id, act), sum: [{ key: countKey, add: { users: -1 } }] },
        }
      : null,
  )
  return deleted !== null
}

/**
 * Takes a deletion back. Earlier sign-ins do not count any more; revoke the user's gateway keys before.
 * @returns the user; null if there is no deleted user with this id
 * @example await restoreUser(kv, id)
 */
export const restoreUser = (kv: KV, id: string, act: Act = {}): Promise<User | null> =>
  change(kv, id, (user) =>
    user.deleted_at === null
      ? null
      : {
          user: { ...user, deleted_at: null, signed_out_at: new Date(act.now ?? Date.now()).toISOString() },
          also: { set: audit('user.restore', id, act), sum: [{ key: countKey, add: { users: 1 } }] },
        },
  )

/**
 * Changes the role of a user at the user's own wish.
 * @param options.selfRole the role that everybody may take; default `user`
 * @returns the user; null if there is none or the user was deleted
 * @throws ApiError 403 for a higher role than {@link highestOwnRole}, 400 where the last administrator would get another role
 * @example await changeOwnRole(kv, user.id, 'user')
 */
export const changeOwnRole = (
  kv: KV,
  id: string,
  role: Role,
  { selfRole = 'user', ...act }: Act & { selfRole?: Role } = {},
): Promise<User | null> =>
  change(kv, id, (user) => {
    if (user.deleted_at !== null) return null
    const highest = highestOwnRole(user, selfRole)
    if (higherRole(role, highest) !== highest)
      throw new ApiError(403, 'permission_error', `Only an administrator can make you more than ${highest}`, {
        code: 'forbidden',
      })
    return { user: withRole(user, role, user.granted_role ?? user.role), also: { set: changeLog(user, { role }, act) } }
  })
