import { uuidv7 } from '../helpers/ids.js'
import type { JsonValue, KV } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageOfIndex } from '../kv/pages.js'
import { toUsd } from '../prices/cost.js'
import { lastUsed } from '../ledger/last-used.js'
import type { Fields } from '../ledger/totals.js'
import { totalKey, totalsOf } from '../ledger/totals.js'
import { countEntries, counting, growth, ownedKey } from './counts.js'

/** A gateway session as stored under `session/<id>`. */
type StoredSession = {
  id: string
  user_id: string
  label: string | null
  metadata: { [key: string]: JsonValue } | null
  expires_at: string | null
  created_at: string
}

/** The stored session and its usage so far. */
export type Session = StoredSession & {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  request_count: number
  cost_usd: number
  /** When the session was last used; if never, when it was created. */
  updated_at: string
}

const sessionKey = (id: string) => ['session', id]
const userSessions = (userId: string) => ['user-sessions', userId]

async function withTotals(kv: KV, sessions: StoredSession[]): Promise<Session[]> {
  const ids = sessions.map(({ id }) => id)
  const [counters, uses] = await Promise.all([
    kv.getMany<Fields>(ids.map((id) => totalKey('session', id))),
    lastUsed(kv, 'session', ids),
  ])
  return sessions.map((session, i) => {
    const { requests, prompt_tokens, completion_tokens, tokens, cost_nano_usd } = totalsOf(counters[i]?.value)
    return {
      ...session,
      prompt_tokens,
      completion_tokens,
      total_tokens: tokens,
      request_count: requests,
      cost_usd: toUsd(cost_nano_usd),
      updated_at: uses[i] ?? session.created_at,
    }
  })
}

/**
 * Creates a session for a user.
 * @param input.expiresAt from when on requests are no longer counted in it; default never
 * @param input.atMost how many sessions the user may have, this one included; default any number
 * @param input.bytesAtMost how many bytes of data the user may have, with this session; default any number
 * @throws ApiError 403 where it would be more
 * @example const session = await createSession(kv, user.id, { label: 'Support' })
 */
export async function createSession(
  kv: KV,
  userId: string,
  input: {
    label?: string | null
    metadata?: { [key: string]: JsonValue } | null
    expiresAt?: Date | null
    atMost?: number | null
    bytesAtMost?: number
  } = {},
  now: number = Date.now(),
): Promise<Session> {
  const { label = null, metadata = null, expiresAt = null, atMost: sessions, bytesAtMost: bytes } = input
  const session: StoredSession = {
    id: uuidv7(now),
    user_id: userId,
    label,
    metadata,
    expires_at: expiresAt ? expiresAt.toISOString() : null,
    created_at: new Date(now).toISOString(),
  }
  const set = [
    { key: sessionKey(session.id), value: session },
    { key: [...userSessions(userId), session.id], value: true },
  ]
  const uncounted = { sessions: () => countEntries(kv, userSessions(userId)) }
  const made = { sessions: 1, ...growth(set) }
  for (let isStored = false; !isStored;) {
    const count = await counting(kv, ownedKey(userId), made, { limits: { sessions, bytes }, uncounted })
    isStored = await kv.commit({ ...count, set })
  }
  return (await withTotals(kv, [session]))[0]!
}

/**
 * The session with this id and its usage, or null.
 * @example const costs = (await getSession(kv, id))?.cost_usd
 */
export async function getSession(kv: KV, id: string): Promise<Session | null> {
  const entry = await kv.get<StoredSession>(sessionKey(id))
  return entry ? (await withTotals(kv, [entry.value]))[0]! : null
}

/**
 * The user's sessions, newest first.
 * @example const { items, next } = await listSessions(kv, user.id, { limit: 20 })
 */
export async function listSessions(kv: KV, userId: string, page?: PageOptions): Promise<ListPage<Session>> {
  const { items, next } = await pageOfIndex<StoredSession>(kv, userSessions(userId), ({ key }) => sessionKey(key[2]!), {
    ...page,
    reverse: true,
  })
  return { items: await withTotals(kv, items), next }
}
