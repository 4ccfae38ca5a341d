import type { Commit, Entry, KV } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { randomText } from '../identity/base64url.js'

/** Sets the password of a user. */
export type PasswordLink = {
  kind: 'password'
  user_id: string
  email: string
  /** The version of the password when the link was made; null = there was none. */
  proof: string | null
  /** The administrator who made it; absent = the user asked for it. */
  by?: string
}

/** Makes the account of somebody who is invited, or who signs up. */
export type AccountLink =
  { kind: 'invitation'; email: string; invitation_id: string } | { kind: 'sign-up'; email: string }

/** What a link is for, as stored under `link/<SHA-256 of its token>` until it expires. */
export type StoredLink = PasswordLink | AccountLink

export const linkKey = (hash: string) => ['link', hash]

/** Makes a link: a token of 256 random bits, of which only the hash is stored. @param expiresAt in milliseconds */
export async function newLink(
  value: StoredLink,
  expiresAt: number,
): Promise<{ token: string; hash: string; entry: NonNullable<Commit['set']>[number] }> {
  const token = randomText(32)
  const hash = await sha256(token)
  return { token, hash, entry: { key: linkKey(hash), value, expiresAt } }
}

type FoundLink = (Entry<StoredLink> & { expiresAt: number }) | null

/** The link with a token; null if there is none, or not any more. */
export const findLink = async (kv: KV, token: string, now: number): Promise<FoundLink> =>
  linkByHash(kv, await sha256(token), now)

/** The same by the SHA-256 of its token. */
export async function linkByHash(kv: KV, hash: string, now: number): Promise<FoundLink> {
  const entry = await kv.get<StoredLink>(linkKey(hash))
  // Stores drop expired entries by clocks of their own.
  return entry?.expiresAt !== undefined && entry.expiresAt > now ? { ...entry, expiresAt: entry.expiresAt } : null
}
