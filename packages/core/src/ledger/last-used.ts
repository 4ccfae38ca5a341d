import type { Key, KV } from '../kv/kv.js'
import type { UsageRecord } from './usage-record.js'

/** What it is known of when it was last used. */
type Used = 'key' | 'session'

const lastUsedKey = (of: Used, id: string): Key => ['last-used', of, id]

/** When keys or sessions were last used; null = never. */
export async function lastUsed(kv: KV, of: Used, ids: string[]): Promise<(string | null)[]> {
  const entries = await kv.getMany<string>(ids.map((id) => lastUsedKey(of, id)))
  return entries.map((entry) => entry?.value ?? null)
}

/** What records tell of when keys and sessions were last used. */
export function lastUses(records: UsageRecord[]): { key: Key; value: string }[] {
  const uses = new Map<string, { key: Key; value: string }>()
  for (const { key_id, session_id, in_session, timestamp: value } of records) {
    if (key_id !== '') uses.set(key_id, { key: lastUsedKey('key', key_id), value })
    if (in_session) uses.set(session_id, { key: lastUsedKey('session', session_id), value })
  }
  return [...uses.values()]
}
