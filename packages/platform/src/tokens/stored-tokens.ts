import type { Act, Commit, KV } from '@turnpike/core'
import { repeated, sha256, uuidv7 } from '@turnpike/core/helpers'
import { audit, counting, growth, ownedKey, TOKEN_PREFIX } from '@turnpike/core/internal'
import { randomText } from '../identity/base64url.js'
import type { Page, Paging } from '../pages.js'
import { newestOfIndex } from '../pages.js'
import type { Scope } from './scopes.js'

/** A token for programs as stored under `token/<id>`. Of its value, only the SHA-256 is stored. */
export type StoredToken = {
  id: string
  user_id: string
  name: string
  scopes: Scope[]
  hash: string
  /** Absent = never. */
  expires_at?: string
  created_at: string
}

/** What a token is made from. */
export interface NewToken {
  name: string
  scopes: Scope[]
  /** Default and null = never. */
  expiresAt?: Date | null | undefined
}

const tokenKey = (id: string) => ['token', id]
const hashKey = (hash: string) => ['token-hash', hash]
const listedKey = (userId: string) => ['user-tokens', userId]

/** What is stored of a token. */
export const entriesOfToken = (token: StoredToken): NonNullable<Commit['set']> => [
  { key: tokenKey(token.id), value: token },
  { key: hashKey(token.hash), value: token.id },
  { key: [...listedKey(token.user_id), token.id], value: true },
]

/**
 * Makes a token.
 * @returns what is stored and the value, which cannot be read again
 * @throws ApiError 403 where it would be more than the limits
 */
export async function createToken(
  kv: KV,
  userId: string,
  { name, scopes, expiresAt }: NewToken,
  { limits, now, by, again }: { limits: { tokens: number; bytes: number }; now: number } & Act,
): Promise<StoredToken & { token: string }> {
  const value = TOKEN_PREFIX + randomText(32)
  const token: StoredToken = {
    id: uuidv7(now),
    user_id: userId,
    name,
    scopes,
    hash: await sha256(value),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
    created_at: new Date(now).toISOString(),
  }
  const set = entriesOfToken(token)
  const attempt = async () => {
    const counts = await counting(kv, ownedKey(userId), { tokens: 1, ...growth(set) }, { limits })
    const isMade = await kv.commit({ ...counts, set: [...set, ...audit('token.create', token.id, { by, now })] })
    return isMade ? { ...token, token: value } : undefined
  }
  return repeated(`data ${userId}`, attempt, again)
}

/** The token with a value; null if there is none, or it has expired. */
export async function findToken(kv: KV, value: string, now: number): Promise<StoredToken | null> {
  if (!value.startsWith(TOKEN_PREFIX)) return null
  const id = (await kv.get<string>(hashKey(await sha256(value))))?.value
  const token = id === undefined ? undefined : (await kv.get<StoredToken>(tokenKey(id)))?.value
  return token && !(Date.parse(token.expires_at ?? '') <= now) ? token : null
}

/** The tokens of a user, newest first, also those that have expired. */
export const listTokens = (kv: KV, userId: string, page: Paging = {}): Promise<Page<StoredToken>> =>
  newestOfIndex<StoredToken>(kv, listedKey(userId), tokenKey, page)

/** Deletes a token of a user. @returns false where the user has none with this id */
export async function deleteToken(kv: KV, userId: string, id: string, act: Act): Promise<boolean> {
  for (;;) {
    const entry = await kv.get<StoredToken>(tokenKey(id))
    if (entry?.value.user_id !== userId) return false
    const gone = entriesOfToken(entry.value)
    const { check, sum } = await counting(kv, ownedKey(userId), { tokens: -1, ...growth([], gone) })
    const isDeleted = await kv.commit({
      check: [{ key: entry.key, version: entry.version }, ...check],
      del: gone.map(({ key }) => key),
      set: audit('token.revoke', id, act),
      sum,
    })
    if (isDeleted) return true
  }
}

/** Deletes all tokens of a user. */
export async function deleteTokens(kv: KV, userId: string, act: Act): Promise<void> {
  for (;;) {
    const { items } = await listTokens(kv, userId)
    if (items.length === 0) return
    for (const { id } of items) await deleteToken(kv, userId, id, act)
  }
}
