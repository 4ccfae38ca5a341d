import type { KV, RateLimiter } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { QUIET_MINUTES } from '../conventions.js'
import { tooMany } from '../errors.js'

/** What failures are counted for, and how many a minute are free. */
export interface Subject {
  /** Hashed before it is stored. */
  name: string
  perMinute: number
  /** Who tries it: a block holds only for those that have failed while the subject was blocked, or blocked it. Absent = for everybody. */
  by?: string
}

/** See {@link throttle}. */
export interface Throttle {
  /** @throws ApiError 429 if one of the subjects is blocked */
  check(subjects: Subject[]): Promise<void>
  /** Counts a failure of each subject. @throws ApiError 429 if it is one too many for one of them */
  failed(subjects: Subject[]): Promise<void>
}

/**
 * Blocks subjects that fail too often, in all processes that share the store: failures are counted by the rate limiter, and one too many
 * blocks the subject until its minute has passed.
 */
export function throttle(kv: KV, limiter: RateLimiter, now: () => number): Throttle {
  const keyOf = async (name: string) => ['throttled', await sha256(name)]
  const refuse = (retryAfter: number) => tooMany('Too many failed attempts; try again later', retryAfter)
  /** The names whose blocks must all stand, so that a subject is blocked. */
  const namesOf = ({ name, by }: Subject): string[] => (by === undefined ? [name] : [name, `${name} by ${by}`])

  const count = async (subject: Subject): Promise<number> => {
    const [key, ofTrier] = await Promise.all(namesOf(subject).map(keyOf))
    const { ok, retryAfter } = await limiter.consume(key!.join(' '), subject.perMinute)
    if (ok) return 0
    const until = now() + retryAfter * 1_000
    const quietAt = now() + QUIET_MINUTES * 60_000
    await kv.commit({
      set: [
        { key: key!, value: until, expiresAt: until },
        ...(ofTrier ? [{ key: ofTrier, value: quietAt, expiresAt: quietAt }] : []),
      ],
    })
    return retryAfter
  }

  return {
    async check(subjects) {
      const names = subjects.map(namesOf)
      const blocks = await kv.getMany<number>(await Promise.all(names.flat().map(keyOf)))
      const untils = names.map((own) => Math.min(...blocks.splice(0, own.length).map((block) => block?.value ?? 0)))
      const until = Math.max(0, ...untils)
      if (until > now()) throw refuse(Math.max(1, Math.ceil((until - now()) / 1_000)))
    },
    async failed(subjects) {
      const wait = Math.max(0, ...(await Promise.all(subjects.map(count))))
      if (wait > 0) throw refuse(wait)
    },
  }
}
