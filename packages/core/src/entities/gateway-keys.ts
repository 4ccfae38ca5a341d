import * as v from 'valibot'
import { DEFAULT_RATE_LIMIT, KEY_BYTES, KEY_OVERLAP_MS, KEY_PREFIX } from '../conventions.js'
import { uuidv7 } from '../helpers/ids.js'
import { invalid } from '../invalid.js'
import { keyEnd } from '../key-end.js'
import type { Commit, KV } from '../kv/kv.js'
import { entriesOf } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'
import type { Budget } from '../ledger/holds.js'
import { lastUsed } from '../ledger/last-used.js'
import { revocableCache } from '../helpers/revocable-cache.js'
import { GivenBudget } from '../schemas/budget.js'
import { count, perMinute } from '../schemas/integers.js'
import type { FieldSchemas } from '../helpers/options.js'
import { checkFields } from '../helpers/options.js'
import { repeated } from '../helpers/repeated.js'
import { sha256 } from '../helpers/sha256.js'
import type { Act } from './audit.js'
import { audit } from './audit.js'
import type { Counts } from './counts.js'
import { countEntries, counting, growth, ownedKey } from './counts.js'
import type { User } from './users.js'
import type { EndUserRules, EndUsers } from './end-users.js'
import { endUsers, firstIdOf } from './end-users.js'
import { getUser } from './users.js'

/** A gateway key as stored under `gwkey/<id>`: a GatewayKey without the key value, of which only the SHA-256 and the end are stored. */
export type GatewayKey = {
  id: string
  name: string
  user_id: string
  /** Requests per minute. */
  rate_limit: number
  /** Tokens of prompts and completions per minute; absent = any number. */
  token_limit?: number
  revoked: boolean
  /** When the key expires; absent = never. */
  expires_at?: string
  /** When the key was rotated; it then expires after the overlap. Absent = not rotated. */
  rotated_at?: string
  /** The first of the keys that were rotated to this one, whose budget goes on; absent = this one. */
  first_id?: string
  /** What its end users may have; absent = they are not told apart. */
  end_users?: EndUserRules
  /** The allowed models, each as an id, as `provider/id` or as the name of a group; absent = all. */
  models?: string[]
  /** Limit on the cost of its requests; absent = none. */
  budget?: Budget
  /** The last four characters of its value; absent where that is shorter than 24, or older than this field. */
  key_end?: string
  created_at: string
}

/** What a key is given, and changed in. */
export interface KeyChange {
  name?: string
  /** Requests per minute; default 60 ({@link DEFAULT_RATE_LIMIT}). */
  rateLimit?: number
  /** Tokens of prompts and completions per minute; default and null = any number. */
  tokenLimit?: number | null
  /** When the key expires; default and null = never. */
  expiresAt?: Date | null
  /** The allowed models, each as an id, as `provider/id` or as the name of a group; default and null = all. */
  models?: string[] | null
  /** Limit on the cost of its requests; default and null = none. */
  budget?: Budget | null
  /** What its end users may have; default and null = they are not told apart. */
  endUsers?: EndUserRules | null
}

/** What the owner of a new or changed key may have. */
export interface KeySpace {
  /** How many keys that are not revoked, this one included; default any number. */
  atMost?: number
  /** How many bytes of data, with this key; default any number. */
  bytesAtMost?: number
}

/** Input of {@link GatewayKeys.create}. */
export interface KeyInput extends KeyChange, KeySpace {
  name: string
  /** The key value, for a bootstrap; default `gw-` and 32 random bytes. */
  key?: string
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
   * @returns the stored record and the key value, which cannot be read again
   * @throws ApiError 400 if there is no such user, or another key has this value; 403 where it would be more than `atMost` or `bytesAtMost`
   * @throws TypeError for a field that does not exist or has a wrong value
   */
  create(userId: string, input: KeyInput, act?: Act): Promise<GatewayKey & { key: string }>
  /** The key with this id, also if it is revoked or expired; null if there is none. */
  get(id: string): Promise<GatewayKey | null>
  /** The key with this value and its owner; null if the key is unknown, revoked, expired or suspended, or its owner was deleted. */
  verify(value: string): Promise<KeyHolder | null> | KeyHolder | null
  /** The keys of a user, or for null of all users, newest first, including revoked ones, with the time of their last use. */
  list(userId: string | null, page?: PageOptions): Promise<ListPage<GatewayKey & { last_used_at: string | null }>>
  /**
   * Changes the given fields of a key, unless it is revoked: immediately in this process, within five seconds in others.
   * @returns the stored key; null if there is none with this id
   * @throws TypeError for a field that does not exist or has a wrong value; ApiError 400 where a rotated key would live longer, 403 where it would be more than `bytesAtMost`
   */
  update(id: string, change: KeyChange, act?: Act, space?: Pick<KeySpace, 'bytesAtMost'>): Promise<GatewayKey | null>
  /**
   * Creates a key with the same limits as an old one, which then expires after `overlapMs`, by default one day. The budget of both is one.
   * @returns the new record and its value; null if the old key is unknown, revoked, expired or already rotated
   * @throws ApiError 403 where it would be more than `atMost` or `bytesAtMost`
   */
  rotate(
    id: string,
    options?: { overlapMs?: number } & KeySpace,
    act?: Act,
  ): Promise<(GatewayKey & { key: string }) | null>
  /** Revokes a key: immediately in this process, within five seconds in others. False if there is no key with this id. */
  revoke(id: string, act?: Act): Promise<boolean>
  endUsers: EndUsers
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

const endOf = (key: string): Pick<GatewayKey, 'key_end'> => {
  const key_end = keyEnd(key)
  return key_end === undefined ? {} : { key_end }
}

const changeFields: FieldSchemas<KeyChange> = {
  name: v.optional(v.string()),
  rateLimit: v.optional(perMinute),
  tokenLimit: v.nullish(perMinute),
  expiresAt: v.nullish(v.date()),
  models: v.nullish(v.array(v.string())),
  budget: v.nullish(GivenBudget),
  endUsers: v.nullish(
    v.strictObject({
      required: v.optional(v.literal(true)),
      budget: v.optional(GivenBudget),
      rate_limit: v.optional(perMinute),
    }),
  ),
}

const inputFields: FieldSchemas<KeyInput> = {
  ...changeFields,
  name: v.string(),
  key: v.optional(v.pipe(v.string(), v.startsWith(KEY_PREFIX))),
  atMost: v.optional(count),
  bytesAtMost: v.optional(v.number()),
}

/** A key with what it is given; null takes a limit away. */
function changedKey(key: GatewayKey, change: KeyChange): GatewayKey {
  const { token_limit, end_users, models: formerModels, budget: formerBudget, expires_at: formerEnd, ...kept } = key
  const { name = key.name, rateLimit = key.rate_limit, tokenLimit = token_limit } = change
  const { models = formerModels, budget = formerBudget, endUsers = end_users } = change
  const end = change.expiresAt === undefined ? formerEnd : change.expiresAt?.toISOString()
  return {
    ...kept,
    name,
    rate_limit: rateLimit,
    ...(tokenLimit != null && { token_limit: tokenLimit }),
    ...(end !== undefined && { expires_at: end }),
    ...(models && { models }),
    ...(budget && { budget }),
    ...(endUsers && { end_users: endUsers }),
  }
}

/**
 * Gateway keys over a `KV`, with a short in-process cache.
 * @example const { key } = await gatewayKeys(kv).create(user.id, { name: 'ci', rateLimit: 600 })
 */
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

  const auditEntry = (action: string, id: string, act: Act & { detail?: string }): NonNullable<Commit['set']> =>
    audit(action, id, { now: now(), ...act })

  /** Changes a key, unless it is revoked. @returns the stored key; null if there is none */
  const change = async (
    id: string,
    to: (key: GatewayKey) => GatewayKey,
    log: NonNullable<Commit['set']>,
    { limits, again }: { limits?: Partial<Counts>; again?: Act['again'] } = {},
  ): Promise<GatewayKey | null> => {
    for (let isFirst = true; ; isFirst = false) {
      if (!isFirst) await again?.()
      const entry = await find(id)
      if (!entry || entry.value.revoked) return entry && entry.value
      const value = to(entry.value)
      const set = [{ key: keyOf(id), value }]
      const amounts = { ...(value.revoked && { keys: -1 }), ...growth(set, [entry]) }
      const { check, sum } = await counted(value, amounts, limits)
      const changed = await kv.commit({
        check: [{ key: keyOf(id), version: entry.version }, ...check],
        set: [...set, ...log],
        sum,
      })
      if (!changed) continue
      evict(id)
      return value
    }
  }

  const revoke = async (id: string, act: Act = {}): Promise<boolean> =>
    (await change(id, (key) => ({ ...key, revoked: true }), auditEntry('key.revoke', id, act))) !== null

  return {
    revoke,
    get: async (id) => (await find(id))?.value ?? null,
    async create(userId, input, act = {}) {
      checkFields('keys.create', input, inputFields)
      const { rateLimit = DEFAULT_RATE_LIMIT, key = newKey(), atMost: keys, bytesAtMost: bytes, ...given } = input
      if (!(await getUser(kv, userId))) throw invalid(`There is no user ${userId} to own the key`)
      const bare = {
        id: uuidv7(now()),
        name: given.name,
        user_id: userId,
        rate_limit: rateLimit,
        revoked: false,
        ...endOf(key),
        created_at: new Date(now()).toISOString(),
      }
      const record = changedKey(bare, given)
      const log = auditEntry('key.create', record.id, act)
      const attempt = async () => {
        const { hash, set, ...commit } = await newKeyCommit(record, key, { keys, bytes })
        if (await kv.commit({ ...commit, set: [...set, ...log] })) return { ...record, key }
        if (await kv.get(hash)) throw invalid('Another key has this value')
        return undefined
      }
      return repeated(`data ${userId}`, attempt, act.again)
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
    async update(id, fields, act = {}, { bytesAtMost: bytes } = {}) {
      checkFields('keys.update', fields, changeFields)
      const to = (key: GatewayKey): GatewayKey => {
        const changed = changedKey(key, fields)
        // Whoever has the value of a key that was replaced must not keep it.
        if (key.rotated_at !== undefined && !(Date.parse(changed.expires_at ?? '') <= Date.parse(key.expires_at!)))
          throw invalid('A rotated key cannot live longer')
        return changed
      }
      return change(id, to, auditEntry('key.update', id, { ...act, detail: Object.keys(fields).join(', ') }), {
        limits: { bytes },
        again: act.again,
      })
    },
    async rotate(id, { overlapMs = KEY_OVERLAP_MS, atMost: keys, bytesAtMost: bytes } = {}, act = {}) {
      for (let isFirst = true; ; isFirst = false) {
        if (!isFirst) await act.again?.()
        const entry = await find(id)
        if (!entry || entry.value.revoked || entry.value.rotated_at !== undefined || isExpired(entry.value)) return null
        const key = newKey()
        const rotated_at = new Date(now()).toISOString()
        const record = {
          ...entry.value,
          id: uuidv7(now()),
          created_at: rotated_at,
          first_id: firstIdOf(entry.value),
          ...endOf(key),
        }
        // A rotation never extends the life of the old key.
        const end = new Date(Math.min(now() + overlapMs, Date.parse(entry.value.expires_at ?? '') || Infinity))
        const old = [{ key: keyOf(id), value: { ...entry.value, expires_at: end.toISOString(), rotated_at } }]
        const { check, set, sum } = await newKeyCommit(record, key, { keys, bytes })
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
    endUsers: endUsers(kv, now),
    forget,
    async revokeAll(userId, act = {}) {
      for await (const { key } of entriesOf(kv, userKeysOf(userId))) await revoke(key[2]!, act)
      forget(userId)
    },
  }
}
