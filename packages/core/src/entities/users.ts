import { ID_LENGTH, MAX_PAGE_SIZE, PAGE_SIZE } from '../conventions.js'
import { uuidv7 } from '../ids.js'
import { invalid } from '../invalid.js'
import type { Commit, Entry, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'
import type { Budget } from '../ledger/holds.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'

/** The roles of spec.md, "User (platform)". */
export const ROLES = ['user', 'developer', 'admin'] as const
/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number]

/** The one user entity of gateway and platform, as stored under `user/<id>`. */
export type User = {
  id: string
  /** As given, with composed characters (NFC); unique without regard to case. Null for a user who has none. */
  email: string | null
  role: Role
  /** How the gateway's administrators call the user. */
  name: string
  first_name: string
  last_name: string
  username: string
  /** What the user signs in with, such as `password`; '' for a user who cannot sign in. */
  provider: string
  /** Limit on the cost of the user's requests; absent = none. */
  budget?: Budget
  created_at: string
  /** When the user was deleted; null = not deleted. */
  deleted_at: string | null
  /** Sign-ins until then do not count: a restored user has to sign in again. Absent = all count. */
  signed_out_at?: string
}

/** The fields of a user that can be given and changed. */
export type UserFields = Pick<
  User,
  'email' | 'role' | 'name' | 'first_name' | 'last_name' | 'username' | 'provider' | 'budget'
>

/** A valid e-mail address: an @ between two strings without spaces, control characters, lone surrogates and format characters such as U+202E. */
export const EMAIL = /^[^@\s\p{Cc}\p{Cs}\p{Cf}]+@[^@\s\p{Cc}\p{Cs}\p{Cf}]+$/u

/** A name of a user, which may be empty: no control characters. */
export const USER_NAME = /^\P{Cc}*$/u

/** The one spelling of all that are the same e-mail address: in lower case, with composed characters. */
export const emailId = (email: string): string => email.toLowerCase().normalize('NFC')

const userKey = (id: string) => ['user', id]
const emailKey = (email: string) => ['email', emailId(email)]
const countKey = ['user-count']

/**
 * Creates a user. The id and the e-mail of a deleted user cannot be used again.
 * @param input.id default a UUIDv7
 * @returns the user, or null if the id or the e-mail is in use
 * @throws TypeError if the id has more than 200 characters
 */
export async function createUser(
  kv: KV,
  input: Partial<UserFields> & { id?: string },
  act: Act = {},
): Promise<User | null> {
  const { now = Date.now() } = act
  const { id = uuidv7(now), budget } = input
  const email = input.email?.normalize('NFC') ?? null
  if (id.length > ID_LENGTH) throw new TypeError(`The id of a user has at most ${ID_LENGTH} characters`)
  const user: User = {
    id,
    email,
    role: input.role ?? 'user',
    name: input.name ?? '',
    first_name: input.first_name ?? '',
    last_name: input.last_name ?? '',
    username: input.username ?? '',
    provider: input.provider ?? '',
    ...(budget && { budget }),
    created_at: new Date(now).toISOString(),
    deleted_at: null,
  }
  const created = await kv.commit({
    check: [{ key: userKey(id), version: null }, ...(email ? [{ key: emailKey(email), version: null }] : [])],
    set: [
      { key: userKey(id), value: user },
      ...(email ? [{ key: emailKey(email), value: id }] : []),
      ...audit('user.create', id, act),
    ],
    sum: [{ key: countKey, add: { users: 1 } }],
  })
  return created ? user : null
}

/**
 * The user with this id; null if there is none or the user was deleted.
 * @param options.deleted finds deleted users as well; default false
 */
export async function getUser(
  kv: KV,
  id: string,
  { deleted = false }: { deleted?: boolean } = {},
): Promise<User | null> {
  const user = (await userEntry(kv, id))?.value
  return user && (deleted || user.deleted_at === null) ? user : null
}

/** The stored user and its version, for commits that depend on it; also of a deleted user. */
export const userEntry = async (kv: KV, id: string): Promise<Entry<User> | null> =>
  id.length > ID_LENGTH ? null : kv.get<User>(userKey(id))

/** The id of the user with this e-mail address, in whatever case, also of a deleted one; null if there is none. */
export const userIdOf = async (kv: KV, email: string): Promise<string | null> =>
  (await kv.get<string>(emailKey(email)))?.value ?? null

/** The user with this e-mail address, in whatever case; null if there is none or the user was deleted. Options as of {@link getUser}. */
export async function findUserByEmail(kv: KV, email: string, options?: { deleted?: boolean }): Promise<User | null> {
  const id = await userIdOf(kv, email)
  return id === null ? null : getUser(kv, id, options)
}

/**
 * Users that are not deleted, in reverse order of their ids: newest first, if the ids are UUIDv7. `deleted: true` lists the deleted ones in
 * place of the others.
 */
export async function listUsers(
  kv: KV,
  { after, limit = PAGE_SIZE, deleted = false }: PageOptions & { deleted?: boolean | undefined } = {},
): Promise<ListPage<User>> {
  const items: User[] = []
  for (let from = after; ;) {
    // Deleted users are few among many: looking for them takes large pages.
    const page = await pageBelow<User>(kv, ['user'], {
      after: from,
      limit: deleted ? MAX_PAGE_SIZE : limit,
      reverse: true,
    })
    for (const [i, { value }] of page.items.entries()) {
      if ((value.deleted_at !== null) !== deleted) continue
      items.push(value)
      if (items.length < limit) continue
      const isLast = page.next === undefined && i === page.items.length - 1
      return isLast ? { items } : { items, next: value.id }
    }
    if (page.next === undefined) return { items }
    from = page.next
  }
}

/** The number of users that are not deleted. */
export async function countUsers(kv: KV): Promise<number> {
  return (await kv.get<{ users?: number }>(countKey))?.value.users ?? 0
}

const isAdmin = ({ role, deleted_at }: User): boolean => role === 'admin' && deleted_at === null

/** Whether a user may sign in one day: those whom the gateway's administrators made may have neither. */
const maySignIn = ({ email, provider }: User): boolean => Boolean(email || provider)

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

/**
 * Changes the given fields of a user.
 * @returns the user; null if there is none or the user was deleted
 * @throws ApiError 400 if the e-mail is in use, or where the last administrator would get another role
 */
export async function updateUser(kv: KV, id: string, fields: Partial<UserFields>, act: Act = {}): Promise<User | null> {
  const email = fields.email?.normalize('NFC') ?? fields.email
  return change(kv, id, async (user) => {
    if (user.deleted_at !== null) return null
    const isPromotion = fields.role !== undefined && fields.role !== user.role
    const log = isPromotion ? audit('user.role', id, { ...act, detail: fields.role }) : audit('user.update', id, act)
    const also: Required<Omit<Also, 'sum'>> = { check: [], set: [...log], del: [] }
    if (email !== undefined && emailId(email ?? '') !== emailId(user.email ?? '')) {
      if (user.email) also.del.push(emailKey(user.email))
      if (email) {
        if (await kv.get(emailKey(email))) throw invalid('The e-mail is taken')
        also.check.push({ key: emailKey(email), version: null })
        also.set.push({ key: emailKey(email), value: id })
      }
    }
    return { user: { ...user, ...fields, ...(email !== undefined && { email }) }, also }
  })
}

/**
 * Marks a user as deleted: it is no longer found, but its usage records are kept. False if there is no such user.
 * @throws ApiError 400 for the last administrator, because nobody could create another
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
