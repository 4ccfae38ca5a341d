import { DEFAULT_RATE_LIMIT, KEY_BYTES } from '../conventions.js'
import { uuidv7 } from '../ids.js'
import type { Commit, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { Budget } from '../ledger/holds.js'
import { lastUsed } from '../ledger/last-used.js'
import { sha256 } from '../sha256.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'
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
  /** When it ends by itself; absent = never. */
  expires_at?: string
  /** When another key took its place, so that it ends soon; absent = never. */
  rotated_at?: string
  /** The models that it may be used for, each as an id or as `provider/id`; absent = all. */
  models?: string[]
  /** What its requests may cost; absent = no bound. */
  budget?: Budget
  created_at: string
}

/** What a key is made with. */
export interface KeyInput {
  name: string
  /** Requests per minute; default {@link DEFAULT_RATE_LIMIT}. */
  rateLimit?: number
  /** Its value, for a bootstrap; default `gw-` and 32 random bytes. */
  key?: string
  /** When it ends by itself; default never. */
  expiresAt?: Date
  /** The models that it may be used for, each as an id or as `provider/id`; default all. */
  models?: string[]
  /** What its requests may cost; default no bound. */
  budget?: Budget
}

/** Who sent a request: a live key and its live owner. */
export interface KeyHolder {
  key: GatewayKey
  user: User
}

/** Gateway keys: making, verifying, listing, rotating and revoking them. */
export interface GatewayKeys {
  /**
   * Makes a key for a user.
   * @returns the stored record and the value, which is never to be had again; null where the value is taken.
   * @throws TypeError where there is no such user
   */
  create(userId: string, input: KeyInput, act?: Act): Promise<(GatewayKey & { key: string }) | null>
  /** Who holds this key value; null where it is unknown, revoked or over, or its owner is gone. */
  verify(value: string): Promise<KeyHolder | null> | KeyHolder | null
  /** The user's keys, newest first, also those that are revoked, with the time of their last use; `next` is the `after` of the following page. */
  list(
    userId: string,
    page?: { after?: string; limit?: number },
  ): Promise<{ items: (GatewayKey & { last_used_at: string | null })[]; next?: string }>
  /** Changes the requests per minute of a key. */
  setRateLimit(id: string, rateLimit: number, act?: Act): Promise<void>
  /**
   * Makes a new key with all that an old one may, and lets the old one end after `overlapMs`, default a day.
   * @returns the new record and its value; null where there is no such key, or it is revoked, over or rotated
   */
  rotate(id: string, options?: { overlapMs?: number }, act?: Act): Promise<(GatewayKey & { key: string }) | null>
  /** Revokes a key: at once in this process, within five seconds in others. False where there is none with this id. */
  revoke(id: string, act?: Act): Promise<boolean>
  /** Revokes all keys of a user. */
  revokeAll(userId: string, act?: Act): Promise<void>
}

/** How long a verified key may be served from memory, in milliseconds (ruling 31: a revocation elsewhere counts within 5 s). */
const CACHE_MS = 4_000
const CACHE_SIZE = 10_000

/** Milliseconds for which a key still works after it was rotated. */
const OVERLAP_MS = 86_400_000

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
  const ofUser = (userId: string) => ['user-gwkeys', userId]

  const isOver = ({ expires_at }: GatewayKey): boolean => expires_at !== undefined && Date.parse(expires_at) <= now()

  const lookUp = async (hash: string): Promise<KeyHolder | null> => {
    const before = changes
    const id = (await kv.get<string>(hashOf(hash)))?.value
    const key = id === undefined ? undefined : (await kv.get<GatewayKey>(keyOf(id)))?.value
    if (!key || key.revoked || isOver(key)) return null
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

  const verifyHash = (hash: string): Promise<KeyHolder | null> | KeyHolder | null => {
    const cached = cache.get(hash)
    if (!cached || cached.until <= now()) return lookUp(hash)
    return isOver(cached.holder.key) ? null : cached.holder
  }

  /** The parts of a commit that store a new key. */
  const storing = async (record: GatewayKey, value: string) => {
    const hash = hashOf(await sha256(value))
    return {
      check: [{ key: hash, version: null }],
      set: [
        { key: keyOf(record.id), value: record },
        { key: hash, value: record.id },
        { key: [...ofUser(record.user_id), record.id], value: true },
      ],
    }
  }

  const logged = (action: string, id: string, act: Act): NonNullable<Commit['set']> =>
    audit(action, id, { now: now(), ...act })

  /** Changes a key; one that is revoked stays as it is. False where there is none. */
  const change = async (
    id: string,
    to: (key: GatewayKey) => GatewayKey,
    log: NonNullable<Commit['set']>,
  ): Promise<boolean> => {
    for (;;) {
      const entry = await kv.get<GatewayKey>(keyOf(id))
      if (!entry) return false
      const check = [{ key: keyOf(id), version: entry.version }]
      if (
        entry.value.revoked ||
        (await kv.commit({ check, set: [{ key: keyOf(id), value: to(entry.value) }, ...log] }))
      ) {
        forget(id)
        return true
      }
    }
  }

  const revoke = (id: string, act: Act = {}): Promise<boolean> =>
    change(id, (key) => ({ ...key, revoked: true }), logged('key.revoke', id, act))

  return {
    revoke,
    async create(
      userId,
      { name, rateLimit = DEFAULT_RATE_LIMIT, key = newKey(), expiresAt, models, budget },
      act = {},
    ) {
      if (!(await getUser(kv, userId))) throw new TypeError(`There is no user ${userId} to own the key`)
      const record: GatewayKey = {
        id: uuidv7(now()),
        name,
        user_id: userId,
        rate_limit: rateLimit,
        revoked: false,
        ...(expiresAt && { expires_at: expiresAt.toISOString() }),
        ...(models && { models }),
        ...(budget && { budget }),
        created_at: new Date(now()).toISOString(),
      }
      const { check, set } = await storing(record, key)
      const created = await kv.commit({ check, set: [...set, ...logged('key.create', record.id, act)] })
      return created ? { ...record, key } : null
    },
    verify(value) {
      if (!value.startsWith('gw-')) return null
      const hash = sha256(value)
      return typeof hash === 'string' ? verifyHash(hash) : hash.then(verifyHash)
    },
    async list(userId, { after, limit = 100 } = {}) {
      const prefix = ofUser(userId)
      const page = await kv.list(prefix, {
        reverse: true,
        limit,
        ...(after !== undefined && { after: [...prefix, after] }),
      })
      const ids = page.items.map(({ key }) => key[2]!)
      const [entries, uses] = await Promise.all([kv.getMany<GatewayKey>(ids.map(keyOf)), lastUsed(kv, 'key', ids)])
      const items = entries.flatMap((entry, i) => (entry ? { ...entry.value, last_used_at: uses[i]! } : []))
      return page.next ? { items, next: page.next[2]! } : { items }
    },
    async setRateLimit(id, rate_limit, act = {}) {
      await change(id, (key) => ({ ...key, rate_limit }), logged('key.update', id, act))
    },
    async rotate(id, { overlapMs = OVERLAP_MS } = {}, act = {}) {
      for (;;) {
        const entry = await kv.get<GatewayKey>(keyOf(id))
        if (!entry || entry.value.revoked || entry.value.rotated_at !== undefined || isOver(entry.value)) return null
        const key = newKey()
        const rotated_at = new Date(now()).toISOString()
        const record = { ...entry.value, id: uuidv7(now()), created_at: rotated_at }
        // Never later than it would have ended anyway.
        const end = new Date(Math.min(now() + overlapMs, Date.parse(entry.value.expires_at ?? '') || Infinity))
        const { check, set } = await storing(record, key)
        const rotated = await kv.commit({
          check: [...check, { key: keyOf(id), version: entry.version }],
          set: [
            ...set,
            { key: keyOf(id), value: { ...entry.value, expires_at: end.toISOString(), rotated_at } },
            ...logged('key.rotate', id, act),
          ],
        })
        if (!rotated) continue
        forget(id)
        return { ...record, key }
      }
    },
    async revokeAll(userId, act = {}) {
      for await (const { key } of entriesOf(kv, ofUser(userId))) await revoke(key[2]!, act)
      changes++
      for (const [hash, { holder }] of cache) if (holder.user.id === userId) cache.delete(hash)
    },
  }
}
