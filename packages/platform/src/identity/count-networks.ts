import type { ApiError, RateLimiter } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import type { Head } from '@turnpike/http'
import { networksOf } from './networks.js'

/**
 * Counts what is asked for from an address and its networks, as far as the failures of these count.
 * @param what such as `links`
 * @param perMinute for an address
 * @throws what `refuse` makes, where there is too much
 */
export async function countNetworks(
  limiter: RateLimiter,
  what: string,
  perMinute: number,
  head: Pick<Head, 'ip'>,
  refuse: (retryAfter: number) => ApiError,
): Promise<void> {
  // Where the host tells no address, all would share one.
  if (head.ip() === '') return
  for (const { name, failures: times } of networksOf(head.ip())) {
    if (times === undefined) continue
    const { ok, retryAfter } = await limiter.consume(`${what} for ${await sha256(name)}`, times * perMinute)
    if (!ok) throw refuse(retryAfter)
  }
}
