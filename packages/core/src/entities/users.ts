import { uuidv7 } from '../ids.js'
import type { KV } from '../kv/kv.js'

/** Roles of spec.md, "User (platform)". */
export type Role = 'user' | 'developer' | 'admin'

/** The one user entity of gateway and platform, as stored under `user/<id>`. */
export type User = {
  id: string
  /** In the spelling it was given; unique without regard to case. Null for a user who cannot sign in. */
  email: string | null
  role: Role
  name: string
  created_at: string
  /** When the user was deleted; null = live. */
  deleted_at: string | null
}

const userKey = (id: string) => ['user', id]
const emailKey = (email: string) => ['email', email.toLowerCase()]

/**
 * Stores a new user.
 * @returns the user, or null where the id or the e-mail is taken.
 */
export async function createUser(
  kv: KV,
  input: { id?: string; email?: string | null; role?: Role; name?: string },
  now: number = Date.now(),
): Promise<User | null> {
  const { id = uuidv7(now), email = null, role = 'user', name = '' } = input
  const user: User = { id, email, role, name, created_at: new Date(now).toISOString(), deleted_at: null }
  const created = await kv.commit({
    check: [{ key: userKey(id), version: null }, ...(email ? [{ key: emailKey(email), version: null }] : [])],
    set: [{ key: userKey(id), value: user }, ...(email ? [{ key: emailKey(email), value: id }] : [])],
  })
  return created ? user : null
}

/** The live user with this id, or null. */
export async function getUser(kv: KV, id: string): Promise<User | null> {
  const user = (await kv.get<User>(userKey(id)))?.value
  return user && user.deleted_at === null ? user : null
}
