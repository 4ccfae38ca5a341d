import { uuidv7 } from '../ids.js'
import { invalid } from '../invalid.js'
import type { Entry, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { Budget } from '../ledger/holds.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'

/** Roles of spec.md, "User (platform)". */
export type Role = 'user' | 'developer' | 'admin'

/** The one user entity of gateway and platform, as stored under `user/<id>`. */
export type User = {
  id: string
  /** As given; unique without regard to case. Null for a user who cannot sign in. */
  email: string | null
  role: Role
  name: string
  /** Limit on the cost of the user's requests; absent = none. */
  budget?: Budget
  created_at: string
  /** When the user was deleted; null = not deleted. */
  deleted_at: string | null
}

/** A valid e-mail address: an @ between two strings without spaces, control characters and lone surrogates. */
export const EMAIL = /^[^@\s\p{Cc}\p{Cs}]+@[^@\s\p{Cc}\p{Cs}]+$/u

const userKey = (id: string) => ['user', id]
const emailKey = (email: string) => ['email', email.toLowerCase()]
const countKey = ['user-count']

/** Maximum length of an id: it is part of storage keys, whose length is limited. */
const ID_LENGTH = 200

/**
 * Creates a user. The id and the e-mail of a deleted user cannot be used again.
 * @param input.id default a UUIDv7
 * @returns the user, or null if the id or the e-mail is in use
 * @throws TypeError if the id has more than 200 characters
 */
export async function createUser(
  kv: KV,
  input: { id?: string; email?: string | null; role?: Role; name?: string; budget?: Budget },
  act: Act = {},
): Promise<User | null> {
  const { now = Date.now() } = act
  const { id = uuidv7(now), email = null, role = 'user', name = '', budget } = input
  if (id.length > ID_LENGTH) throw new TypeError(`The id of a user has at most ${ID_LENGTH} characters`)
  const user: User = {
    id,
    email,
    role,
    name,
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

/** The user with this id; null if there is none or the user was deleted. */
export async function getUser(kv: KV, id: string): Promise<User | null> {
  const user = (await kv.get<User>(userKey(id)))?.value
  return user && user.deleted_at === null ? user : null
}

/**
 * Users that are not deleted, in reverse order of their ids: newest first, if the ids are UUIDv7. `next` is the `after` of the following page.
 * `limit` is 100 by default.
 */
export async function listUsers(
  kv: KV,
  { after, limit = 100 }: { after?: string | undefined; limit?: number | undefined } = {},
): Promise<{ items: User[]; next?: string }> {
  const items: User[] = []
  for (let from = after; ;) {
    const page = await kv.list<User>(['user'], {
      reverse: true,
      limit,
      ...(from !== undefined && { after: userKey(from) }),
    })
    for (const [i, { value }] of page.items.entries()) {
      if (value.deleted_at !== null) continue
      items.push(value)
      if (items.length < limit) continue
      const isLast = !page.next && i === page.items.length - 1
      return isLast ? { items } : { items, next: value.id }
    }
    if (!page.next) return { items }
    from = page.next[1]!
  }
}

/** The number of users that are not deleted. */
export async function countUsers(kv: KV): Promise<number> {
  return (await kv.get<{ users?: number }>(countKey))?.value.users ?? 0
}

/** An administrator other than `id`. @throws ApiError 400 if there is none */
async function otherAdmin(kv: KV, id: string): Promise<Entry<User>> {
  for await (const entry of entriesOf<User>(kv, ['user']))
    if (entry.value.role === 'admin' && entry.value.deleted_at === null && entry.value.id !== id) return entry
  throw invalid('The last administrator cannot be deleted')
}

/**
 * Marks a user as deleted: it is no longer found, but its usage records are kept. False if there is no such user.
 * @throws ApiError 400 for the last administrator, because nobody could create another
 */
export async function deleteUser(kv: KV, id: string, act: Act = {}): Promise<boolean> {
  for (;;) {
    const entry = await kv.get<User>(userKey(id))
    if (!entry || entry.value.deleted_at !== null) return false
    const others = entry.value.role === 'admin' ? [await otherAdmin(kv, id)] : []
    const deleted_at = new Date(act.now ?? Date.now()).toISOString()
    const deleted = await kv.commit({
      check: [entry, ...others].map(({ key, version }) => ({ key, version })),
      set: [{ key: userKey(id), value: { ...entry.value, deleted_at } }, ...audit('user.delete', id, act)],
      sum: [{ key: countKey, add: { users: -1 } }],
    })
    if (deleted) return true
  }
}
