import type { Commit, KV, RateLimiter } from '@turnpike/core'
import { addressOf, sha256 } from '@turnpike/core/helpers'
import { audit } from '@turnpike/core/internal'
import { AUDIT_LOG, SIGN_IN_LOG_DAYS } from '../conventions.js'
import { MORE_LEFT_OUT } from '../own-log.js'
import type { SignIn } from './sign-ins.js'

/** Who fails to sign in, and on what: an e-mail that nobody has may be a password. */
const UNKNOWN = 'unknown'

/** When an entry of the audit log expires that anybody can make. */
export const logEnd = (now: number): number => now + SIGN_IN_LOG_DAYS * 86_400_000

/**
 * The audit log's entries of sign-ins, sign-outs and failures. They expire, and a minute has so many of them at most, so that nobody fills
 * the store; of a user's, the first one beyond them says so.
 */
export function signInLog(kv: KV, limiter: RateLimiter, now: () => number) {
  const entry = (action: string, by: string, target: string, detail?: string): NonNullable<Commit['set']> => {
    const time = now()
    return audit(action, target, { by, now: time, detail, expiresAt: logEnd(time) })
  }

  return {
    /** The entry of a sign-in, or of its end: by its user, or because somebody used an old token. @param ip where from */
    async of(
      action: 'sign-in' | 'sign-out' | 'sign-in.reuse',
      { id, user_id }: SignIn,
      ip: string,
    ): Promise<NonNullable<Commit['set']>> {
      const name = `audit ${action} ${user_id}`
      if ((await limiter.consume(name, AUDIT_LOG.perUser)).ok) return entry(action, user_id, id, addressOf(ip))
      const isFirst = await limiter.consume(`${name}: more`, AUDIT_LOG.same)
      return isFirst.ok ? entry(action, user_id, id, MORE_LEFT_OUT) : []
    },

    /** Logs a failure. Known and unknown e-mails take the same time. @param userId null for an unknown e-mail */
    async failed(email: string, userId: string | null, ip: string): Promise<void> {
      const { same, ofUsers, ofUnknown } = AUDIT_LOG
      const isFirst = await limiter.consume(`audit failures of ${await sha256(email)}`, same)
      if (!isFirst.ok) return
      // Made up e-mails must not use up what is logged of those that somebody has.
      const [whose, perMinute] = userId === null ? (['nobody', ofUnknown] as const) : (['users', ofUsers] as const)
      const { ok } = await limiter.consume(`audit failures: ${whose}`, perMinute)
      // As much is done whether there is an entry or not, or it is written in another place.
      const isFirstLeftOut = (await limiter.consume(`audit failures: ${ok ? 'logged' : 'more'}, ${whose}`, same)).ok
      const unlogged = { key: ['sign-in-unlogged'], value: addressOf(ip), expiresAt: now() + 60_000 }
      const logged = (target: string, detail: string) => entry('sign-in.fail', UNKNOWN, target, detail)
      await kv.commit({
        set: ok
          ? logged(userId ?? UNKNOWN, addressOf(ip))
          : isFirstLeftOut
            ? logged(UNKNOWN, MORE_LEFT_OUT)
            : [unlogged],
      })
    },

    /** Logs a wrong token of administrators. */
    async guessed(ip: string): Promise<void> {
      const address = addressOf(ip)
      const isFirst = await limiter.consume(`audit guesses from ${await sha256(address)}`, AUDIT_LOG.same)
      if (!isFirst.ok || !(await limiter.consume('audit guesses', AUDIT_LOG.ofUnknown)).ok) return
      await kv.commit({ set: entry('admin-token.fail', UNKNOWN, 'admin-token', address) })
    },
  }
}
