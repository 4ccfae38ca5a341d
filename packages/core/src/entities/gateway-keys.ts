import { DEFAULT_RATE_LIMIT, KEY_BYTES, KEY_OVERLAP_MS, KEY_PREFIX } from '../conventions.js'
import { uuidv7 } from '../ids.js'
import type { Commit, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'
import type { Budget } from '../ledger/holds.js'
import { lastUsed } from '../ledger/last-used.js'
import { revocableCache } from '../revocable-cache.js'
import { checkBudget } from '../schemas/budget.js'
import { sha256 } from '../sha256.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'
import type { Counts } from './counts.js'
import { countEntries, counting, growth, ownedKey } from './counts.js'
import type { User } from './users.js'
import { getUser } from './users.js'

/** A gateway key as stored under `gwkey/<id>`: spec.md's GatewayKey without the key value, of which only the SHA-256 is stored. */
export type GatewayKey = {
  id: string
  name: string
  user_id: string
  /** Requests per minute. */
  rate_limit: number
  revoked: boolean
  /** When the key expires; absent = never. */
  expires_at?: string
  /** When the key was rotated; it then expires after the overlap. Absent = not rotated. */
  rotated_at?: string
  /** The allowed models, each as an id or as `provider/id`; absent = all. */
  models?: string[]
  /** Limit on the cost of its requests; absent = none. */
  budget?: Budget
  created_at: string
}

/** Input of {@link GatewayKeys.create}. */
export interface KeyInput {
  name: string
  /** Requests per minute; default {@link DEFAULT_RATE_LIMIT}. */
  rateLimit?: number
  /** The key value, for a bootstrap; default `gw-` and 32 random bytes. */
  key?: string
  /** When the key expires; default never. */
  expiresAt?: Date
  /** The allowed models, each as an id or as `provider/id`; default all. */
  models?: string[]
  /** Limit on the cost of its requests; default none. */
  budget?: Budget
  /** How many keys the user may have that are not revoked, this one included; default any number. */
  atMost?: number
  /** How many bytes of data the user may have, with this key; default any number. */
  bytesAtMost?: number
}

/** A verified key and its owner. */
export interface KeyHolder {
  key: GatewayKey
  user: User
}

/** Creates, verifies, lists, rotates and revokes gateway keys. */
export interface GatewayKeys {
  /**
   * Creates a key for a user.
   * @returns the stored record and the key value, which cannot be read again; null if another key has this value
   * @throws TypeError if the user does not exist, ApiError 403 where it would be more than `atMost` or `bytesAtMost`
   */
  create(userId: string, input: KeyInput, act?: Act): Promise<(GatewayKey & { key: string }) | null>
  /** The key with this id, also if it is revoked or expired; null if there is none. */
  get(id: string): Promise<GatewayKey | null>
  /** The key with this value and its owner; null if the key is unknown, revoked, expired or suspended, or its owner was deleted. */
  verify(value: string): Promise<KeyHolder | null> | KeyHolder | null
  /** The keys of a user, or for null of all users, newest first, including revoked ones, with the time of their last use. */
  list(userId: string | null, page?: PageOptions): Promise<ListPage<GatewayKey & { last_used_at: string | null }>>
  /** Changes the rate limit of a key, in requests per minute. */
  setRateLimit(id: string, rateLimit: number, act?: Act): Promise<void>
  /**
   * Creates a key with the same limits as an old one, which then expires after `overlapMs`, by default one day.
   * @returns the new record and its value; null if the old key is unknown, revoked, expired or already rotated
   */
  rotate(id: string, options?: { overlapMs?: number }, act?: Act): Promise<(GatewayKey & { key: string }) | null>
  /** Revokes a key: immediately in this process, within five seconds in others. False if there is no key with this id. */
  revoke(id: string, act?: Act): Promise<boolean>
  /** Reads a user again, whose role has changed, at the next request with each of the keys: the change counts at once in this process. */
  forget(userId: string): void
  /** Revokes all keys of a user. */
  revokeAll(userId: string, act?: Act): Promise<void>
}

/** `gw-` and 32 random bytes in base64url. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return `${KEY_PREFIX}${btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')}`
}

/** Gateway keys over a `KV`, with a short in-process cache. */
export function gatewayKeys(kv: KV, options: { now?: () => number } = {}): GatewayKeys {
  const { now = Date.now } = options
  const cache = revocableCache<KeyHolder>(now)
  const keyOf = (id: string) => ['gwkey', id]
  const hashOf = (hash: string) => ['gwkey-hash', hash]
  const userKeysOf = (userId: string) => ['user-gwkeys', userId]

  const find = (id: string) => kv.get<GatewayKey>(keyOf(id))
  const isExpired = ({ expires_at }: GatewayKey): boolean => expires_at !== undefined && Date.parse(expires_at) <= now()

  const lookUp = async (hash: string): Promise<KeyHolder | null> => {
    const id = (await kv.get<string>(hashOf(hash)))?.value
    const key = id === undefined ? undefined : (await find(id))?.value
    if (!key || key.revoked || isExpired(key)) return null
    const user = await getUser(kv, key.user_id)
    return user && !user.keys_suspended ? { key, user } : null
  }

  const forget = (userId: string): void => cache.revoke(({ user }) => user.id === userId)
  const evict = (id: string): void => cache.revoke(({ key }) => key.id === id)

  const verifyHash = (hash: string): Promise<KeyHolder | null> | KeyHolder | null => {
    const holder = cache.get(hash)
    if (!holder) return cache.load(hash, () => lookUp(hash))
    return isExpired(holder.key) ? null : holder
  }

  const countLive = (userId: string): Promise<number> =>
    countEntries(kv, userKeysOf(userId), async ({ key: [, , id] }) => (await find(id!))?.value.revoked === false)
  /** What counts keys of a user that are not revoked, and the bytes of all. */
  const counted = ({ user_id }: GatewayKey, amounts: Counts, limits: Partial<Counts> = {}) =>
    counting(kv, ownedKey(user_id), amounts, { limits, uncounted: { keys: () => countLive(user_id) } })

  /** The checks and writes that store a new key. */
  const newKeyCommit = async (record: GatewayKey, value: string, limits?: Partial<Counts>) => {
    const hash = hashOf(await sha256(value))
    const set = [
      { key: keyOf(record.id), value: record },
      { key: hash, value: record.id },
      { key: [...userKeysOf(record.user_id), record.id], value: true },
    ]
    const { check, sum } = await counted(record, { keys: 1, ...growth(set) }, limits)
    return { hash, sum, check: [{ key: hash, version: null }, ...check], set }
  }

  const auditEntry = (action: string, id: string, act: Act): NonNullable<Commit['set']> =>
    audit(action, id, { now: now(), ...act })

  /** Changes a key, unless it is revoked. False if there is none. */
  const change = async (
    id: string,
    to: (key: GatewayKey) => GatewayKey,
    log: NonNullable<Commit['set']>,
  ): Promise<boolean> => {
    for (let changed = false; !changed;) {
      const entry = await find(id)
      if (!entry) return false
      if (entry.value.revoked) break
      const value = to(entry.value)
      const set = [{ key: keyOf(id), value }]
      const { check, sum } = await counted(value, { ...(value.revoked && { keys: -1 }), ...growth(set, [entry]) })
      changed = await kv.commit({
        check: [{ key: keyOf(id), version: entry.version }, ...check],
        set: [...set, ...log],
        sum,
      })
    }
    evict(id)
    return true
  }

  const revoke = (id: string, act: Act = {}): Promise<boolean> =>
    change(id, (key) => ({ ...key, revoked: true }), auditEntry('key.revoke', id, act))

  return {
    revoke,
    get: async (id) => (await find(id))?.value ?? null,
    async create(
      userId,
      {
        name,
        rateLimit = DEFAULT_RATE_LIMIT,
        key = newKey(),
        expiresAt,
        models,
        budget,
        atMost: keys,
        bytesAtMost: bytes,
      },
      act = {},
    ) {
      checkBudget(budget)
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
      const log = auditEntry('key.create', record.id, act)
      for (;;) {
        const { hash, set, ...commit } = await newKeyCommit(record, key, { keys, bytes })
        if (await kv.commit({ ...commit, set: [...set, ...log] })) return { ...record, key }
        if (await kv.get(hash)) return null
      }
    },
    verify(value) {
      if (!value.startsWith(KEY_PREFIX)) return null
      const hash = sha256(value)
      return typeof hash === 'string' ? verifyHash(hash) : hash.then(verifyHash)
    },
    async list(userId, page) {
      const prefix = userId === null ? ['gwkey'] : userKeysOf(userId)
      const { items, next } = await pageBelow(kv, prefix, { ...page, reverse: true })
      const ids = items.map(({ key }) => key.at(-1)!)
      const [entries, uses] = await Promise.all([kv.getMany<GatewayKey>(ids.map(keyOf)), lastUsed(kv, 'key', ids)])
      return { items: entries.flatMap((entry, i) => (entry ? { ...entry.value, last_used_at: uses[i]! } : [])), next }
    },
    async setRateLimit(id, rate_limit, act = {}) {
      await change(id, (key) => ({ ...key, rate_limit }), auditEntry('key.update', id, act))
    },
    async rotate(id, { overlapMs = KEY_OVERLAP_MS } = {}, act = {}) {
      for (;;) {
        const entry = await find(id)
        if (!entry || entry.value.revoked || entry.value.rotated_at !== undefined || isExpired(entry.value)) return null
        const key = newKey()
        const rotated_at = new Date(now()).toISOString()
        const record = { ...entry.value, id: uuidv7(now()), created_at: rotated_at }
        // A rotation never extends the life of the old key.
        const end = new Date(Math.min(now() + overlapMs, Date.parse(entry.value.expires_at ?? '') || Infinity))
        const old = [{ key: keyOf(id), value: { ...entry.value, expires_at: end.toISOString(), rotated_at } }]
        const { check, set, sum } = await newKeyCommit(record, key)
        const rotated = await kv.commit({
          check: [...check, { key: keyOf(id), version: entry.version }],
          set: [...set, ...old, ...auditEntry('key.rotate', id, act)],
          sum: [...sum, { key: ownedKey(record.user_id), add: growth(old, [entry]) }],
        })
        if (!rotated) continue
        evict(id)
        return { ...record, key }
      }
    },
    forget,
    async revokeAll(userId, act = {}) {
      for await (const { key } of entriesOf(kv, userKeysOf(userId))) await revoke(key[2]!, act)
      forget(userId)
    },
  }
}
