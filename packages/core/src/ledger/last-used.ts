import type { Key, KV } from '../kv/kv.js'
import type { UsageRecord } from './usage-record.js'

/** The kinds of entities whose last use is stored. */
type Used = 'user' | 'key' | 'session'

const lastUsedKey = (of: Used, id: string): Key => ['last-used', of, id]

/** The times of the last use of keys or sessions, or of the last request of users, in ISO 8601; null = never used. */
export async function lastUsed(kv: KV, of: Used, ids: string[]): Promise<(string | null)[]> {
  const entries = await kv.getMany<string>(ids.map((id) => lastUsedKey(of, id)))
  return entries.map((entry) => entry?.value ?? null)
}

/** The entries to store for the last use of the users, keys and sessions in `records`, which are sorted by time. */
export function lastUses(records: UsageRecord[]): { key: Key; value: string }[] {
  const users = new Map<string, string>()
  const keys = new Map<string, string>()
  const sessions = new Map<string, string>()
  for (const { user_id, key_id, session_id, in_session, timestamp } of records) {
    users.set(user_id, timestamp)
    if (key_id !== '') keys.set(key_id, timestamp)
    if (in_session) sessions.set(session_id, timestamp)
  }
  return [
    ...Array.from(users, ([id, value]) => ({ key: lastUsedKey('user', id), value })),
    ...Array.from(keys, ([id, value]) => ({ key: lastUsedKey('key', id), value })),
    ...Array.from(sessions, ([id, value]) => ({ key: lastUsedKey('session', id), value })),
  ]
}
