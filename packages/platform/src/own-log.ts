import type { KV, RateLimiter } from '@turnpike/core'
import { audit } from '@turnpike/core/internal'
import { AUDIT_LOG } from './conventions.js'

/** The detail of the first entry for which there is no place. */
export const MORE_LEFT_OUT = 'more, which are left out'

/** Makes a change with an entry in the audit log, if the log takes one. @param change receives the actor for it; null and false = there was nothing to change */
export type Logged = <T>(action: string, userId: string, change: (by: string | undefined) => Promise<T>) => Promise<T>

/**
 * The audit log's entries of what users do to what is theirs: so many of each a minute, so that nobody fills the store. What changes nothing
 * takes none of them; the first change beyond them has an entry that says so.
 */
export function ownLog(kv: KV, limiter: RateLimiter, now: () => number): Logged {
  return async (action, userId, change) => {
    const name = `audit ${action} ${userId}`
    const { ok } = await limiter.consume(name, AUDIT_LOG.perUser)
    let isChanged = false
    try {
      const changed = await change(ok ? userId : undefined)
      isChanged = changed !== null && changed !== false
      return changed
    } finally {
      if (ok && !isChanged) await limiter.adjust(name, AUDIT_LOG.perUser, -1)
      if (!ok && isChanged && (await limiter.consume(`${name}: more`, AUDIT_LOG.same)).ok)
        await kv.commit({ set: audit(action, userId, { by: userId, now: now(), detail: MORE_LEFT_OUT }) })
    }
  }
}
