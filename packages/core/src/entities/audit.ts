import { uuidv7 } from '../helpers/ids.js'
import type { Commit, KV } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'

/** Actors that are no users, so that no user has their names. */
export const ACTORS: readonly string[] = ['admin-token', 'single-sign-on', 'mail']

/** An entry of the audit log: one action of an administrator or a user. */
export type AuditEntry = {
  id: string
  /** Who did it: the id of a user, or the name of another credential, such as `admin-token`. */
  actor: string
  /** What was done, such as `user.create`. */
  action: string
  /** The id of the entity that was changed. */
  target: string
  timestamp: string
  /** What else is known, such as the address of a sign-in or a new role. */
  detail?: string
}

/** Who makes a change, and when. */
export interface Act {
  /** The actor for the audit log; if it is absent, nothing is logged. */
  by?: string | undefined
  /** Milliseconds since the epoch; default now. */
  now?: number
  /** What else is written in the same commit, such as the password of a new user; default nothing. */
  also?: NonNullable<Commit['set']>
  /**
   * Called before each further attempt of what has to wait, because others change the same entries: throws where who acts may no longer do so.
   * Default nothing.
   */
  again?: (() => unknown) | undefined
}

/** What an audit entry has besides its act. */
interface Logged extends Act {
  detail?: string | undefined
  /** Milliseconds since the epoch; absent = never. */
  expiresAt?: number
}

/** What is written in the same commit as a change: its audit entry, and what the act has in `also`. */
export function audit(
  action: string,
  target: string,
  { by, now = Date.now(), also = [], detail, expiresAt }: Logged,
): NonNullable<Commit['set']> {
  if (by === undefined) return also
  const timestamp = new Date(now).toISOString()
  const value: AuditEntry = { id: uuidv7(now), actor: by, action, target, timestamp, ...(detail && { detail }) }
  return [{ key: ['audit', value.id], value, ...(expiresAt && { expiresAt }) }, ...also]
}

/**
 * A page of the audit log, newest first.
 * @example const { items } = await listAudit(kv, { limit: 20 })
 */
export async function listAudit(kv: KV, page?: PageOptions): Promise<ListPage<AuditEntry>> {
  const { items, next } = await pageBelow<AuditEntry>(kv, ['audit'], { ...page, reverse: true })
  return { items: items.map(({ value }) => value), next }
}
