import type { KV, RateLimiter } from '@turnpike/core'
import { sha256 } from '@turnpike/core/internal'
import { tooMany } from '../errors.js'

/** An address, or of IPv6 its network of 64 bits, which one customer of a provider has. */
export function networkOf(ip: string): string {
  // Some proxies append the port.
  const four = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(ip)
  if (four) return four[1]!
  if (!ip.includes(':')) return ip
  const address = /^\[(.*)\]/.exec(ip)?.[1] ?? ip
  const [head = '', tail] = address.toLowerCase().split('%')[0]!.split('::')
  const groups = (text: string | undefined): string[] => (text ? text.split(':') : [])
  const [before, after] = [groups(head), groups(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  const all = [...before, ...Array<string>(zeros).fill('0'), ...after]
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}

/** What failures are counted for, and how many a minute are free. */
export interface Subject {
  /** Hashed before it is stored (ruling 47). */
  name: string
  perMinute: number
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
  const keyOf = async ({ name }: Subject) => ['throttled', await sha256(name)]
  const refuse = (retryAfter: number) => tooMany('Too many failed attempts; try again later', retryAfter)

  return {
    async check(subjects) {
      const blocks = await kv.getMany<number>(await Promise.all(subjects.map(keyOf)))
      const until = Math.max(0, ...blocks.map((block) => block?.value ?? 0))
      if (until > now()) throw refuse(Math.max(1, Math.ceil((until - now()) / 1_000)))
    },
    async failed(subjects) {
      let wait = 0
      for (const subject of subjects) {
        const key = await keyOf(subject)
        const { ok, retryAfter } = await limiter.consume(key.join(' '), subject.perMinute)
        if (ok) continue
        wait = Math.max(wait, retryAfter)
        const until = now() + retryAfter * 1_000
        await kv.commit({ set: [{ key, value: until, expiresAt: until }] })
      }
      if (wait > 0) throw refuse(wait)
    },
  }
}
