import { uuidv7 } from '../ids.js'
import type { Commit, KV } from '../kv/kv.js'

/** What an administrator did. */
export type AuditEntry = {
  id: string
  /** Who: the id of a user, or the name of another credential, such as `admin-token`. */
  actor: string
  /** Such as `user.create`. */
  action: string
  /** The id of what it was done to. */
  target: string
  timestamp: string
}

/** On whose behalf something is done, and when. */
export interface Act {
  /** Whom the audit log names; default nobody, and nothing is logged. */
  by?: string | undefined
  /** Milliseconds since the epoch; default now. */
  now?: number
}

/** The part of a commit that logs what the commit does. */
export function audit(action: string, target: string, { by, now = Date.now() }: Act): NonNullable<Commit['set']> {
  if (by === undefined) return []
  const entry: AuditEntry = { id: uuidv7(now), actor: by, action, target, timestamp: new Date(now).toISOString() }
  return [{ key: ['audit', entry.id], value: entry }]
}

/** What administrators did, newest first; `next` is the `after` of the following page. */
export async function listAudit(
  kv: KV,
  { after, limit = 100 }: { after?: string | undefined; limit?: number | undefined } = {},
): Promise<{ items: AuditEntry[]; next?: string }> {
  const page = await kv.list<AuditEntry>(['audit'], {
    reverse: true,
    limit,
    ...(after !== undefined && { after: ['audit', after] }),
  })
  const items = page.items.map(({ value }) => value)
  return page.next ? { items, next: page.next[1]! } : { items }
}
