import type { Entry, KV } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { randomText } from '../identity/base64url.js'
import type { BegunSignIn } from './provider.js'

/** A sign-in that a browser has begun at a provider, as stored under `begun-sign-in/<SHA-256 of its state>` until it expires. */
export type StoredBegun = {
  provider: string
  /** SHA-256 of the cookie of the browser. */
  browser: string
  /** The path to return to; absent = the page that links lead to. */
  return_to?: string
  /** SHA-256 of the token of the link that is used with it. */
  link?: string
}

/** What only the browser can make good: nobody else has its cookie, and the store has hashes. */
type Secrets = Omit<BegunSignIn, 'redirectUri'>

const begunKey = async (state: string) => ['begun-sign-in', await sha256(state)]

const secretsOf = async (browser: string, state: string): Promise<Secrets> => {
  const [nonce, verifier] = await Promise.all([
    sha256(`nonce ${browser} ${state}`),
    sha256(`verifier ${browser} ${state}`),
  ])
  return { state, nonce, verifier }
}

/** Whether a cookie could be one of a browser, of 256 bits. */
export const isBrowser = (cookie: string): boolean => /^[\w-]{43}$/.test(cookie)

/** Begins a sign-in. @param browser the cookie of the browser, which has it for all that it begins at a time */
export async function begin(
  kv: KV,
  browser: string,
  value: Omit<StoredBegun, 'browser'>,
  expiresAt: number,
): Promise<Secrets> {
  const state = randomText(32)
  const stored: StoredBegun = { ...value, browser: await sha256(browser) }
  await kv.commit({ set: [{ key: await begunKey(state), value: stored, expiresAt }] })
  return secretsOf(browser, state)
}

/** Takes a sign-in that a browser has begun, once. @returns null where there is none, it is another browser's, or it was taken before */
export async function take(
  kv: KV,
  browser: string,
  state: string,
  now: number,
): Promise<{ value: StoredBegun; secrets: Secrets } | null> {
  const key = await begunKey(state)
  const entry: Entry<StoredBegun> | null = await kv.get<StoredBegun>(key)
  // Stores drop expired entries by clocks of their own.
  if (!entry || (entry.expiresAt ?? 0) <= now || entry.value.browser !== (await sha256(browser))) return null
  if (!(await kv.commit({ check: [{ key, version: entry.version }], del: [key] }))) return null
  return { value: entry.value, secrets: await secretsOf(browser, state) }
}
