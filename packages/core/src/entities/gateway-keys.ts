import { DEFAULT_RATE_LIMIT, KEY_BYTES } from '../conventions.js'
import { uuidv7 } from '../ids.js'
import type { KV } from '../kv/kv.js'
import { update } from '../kv/kv.js'
import { sha256 } from '../sha256.js'
import type { User } from './users.js'
import { getUser } from './users.js'

/** A gateway key as stored under `gwkey/<id>`: all of spec.md's GatewayKey but the key itself, of which only the SHA-256 is kept. */
export type GatewayKey = {
  id: string
  name: string
  user_id: string
  /** Requests per minute. */
  rate_limit: number
  revoked: boolean
  created_at: string
}

/** Who sent a request: a live key and its live owner. */
export interface KeyHolder {
  key: GatewayKey
  user: User
}

export interface GatewayKeys {
  /**
   * Makes a key for a user. `key` sets its value (for a bootstrap); default 32 random bytes.
   * @returns the stored record and the value, which is never to be had again; null where the value is taken.
   * @throws TypeError where there is no such user
   */
  create(
    userId: string,
    input: { name: string; rateLimit?: number; key?: string },
  ): Promise<(GatewayKey & { key: string }) | null>
  /** Who holds this key value; null where it is unknown, revoked, or its owner is gone. */
  verify(value: string): Promise<KeyHolder | null> | KeyHolder | null
  /** Changes the requests per minute of a key. */
  setRateLimit(id: string, rateLimit: number): Promise<void>
  /** Revokes a key: at once in this process, within five seconds in others. False where there is none with this id. */
  revoke(id: string): Promise<boolean>
}

/** How long a verified key may be served from memory, in milliseconds (ruling 31: a revocation elsewhere counts within 5 s). */
const CACHE_MS = 4_000
const CACHE_SIZE = 10_000

/** `gw-` and 32 random bytes in base64url. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return `gw-${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')}`
}

/** Gateway keys over a `KV`, with a short in-process cache. */
export function gatewayKeys(kv: KV, options: { now?: () => number } = {}): GatewayKeys {
  const { now = Date.now } = options
  const cache = new Map<string, { holder: KeyHolder; until: number }>()
  let changes = 0
  const keyOf = (id: string) => ['gwkey', id]
  const hashOf = (hash: string) => ['gwkey-hash', hash]

  const lookUp = async (hash: string): Promise<KeyHolder | null> => {
    const before = changes
    const id = (await kv.get<string>(hashOf(hash)))?.value
    const key = id === undefined ? undefined : (await kv.get<GatewayKey>(keyOf(id)))?.value
    if (!key || key.revoked) return null
    const user = await getUser(kv, key.user_id)
    if (!user) return null
    const holder = { key, user }
    // What was read before a change must not outlive it in the cache.
    if (before !== changes) return holder
    if (cache.size >= CACHE_SIZE) cache.clear()
    cache.set(hash, { holder, until: now() + CACHE_MS })
    return holder
  }

  const forget = (id: string): void => {
    changes++
    for (const [hash, { holder }] of cache) if (holder.key.id === id) cache.delete(hash)
  }

  const verifyHash = (hash: string): Promise<KeyHolder | null> | KeyHolder => {
    const cached = cache.get(hash)
    return cached && cached.until > now() ? cached.holder : lookUp(hash)
  }

  return {
    async create(userId, { name, rateLimit = DEFAULT_RATE_LIMIT, key = newKey() }) {
      if (!(await getUser(kv, userId))) throw new TypeError(`There is no user ${userId} to own the key`)
      const hash = await sha256(key)
      const record: GatewayKey = {
        id: uuidv7(now()),
        name,
        user_id: userId,
        rate_limit: rateLimit,
        revoked: false,
        created_at: new Date(now()).toISOString(),
      }
      const created = await kv.commit({
        check: [{ key: hashOf(hash), version: null }],
        set: [
          { key: keyOf(record.id), value: record },
          { key: hashOf(hash), value: record.id },
          { key: ['user-gwkeys', userId, record.id], value: true },
        ],
      })
      return created ? { ...record, key } : null
    },
    verify(value) {
      if (!value.startsWith('gw-')) return null
      const hash = sha256(value)
      return typeof hash === 'string' ? verifyHash(hash) : hash.then(verifyHash)
    },
    async setRateLimit(id, rate_limit) {
      await update<GatewayKey>(kv, keyOf(id), (key) => (key ? { ...key, rate_limit } : undefined))
      forget(id)
    },
    async revoke(id) {
      const stored = await update<GatewayKey>(kv, keyOf(id), (key) => (key ? { ...key, revoked: true } : undefined))
      forget(id)
      return stored !== null
    },
  }
}
