import type { KV, RateLimiter } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { emailId } from '@turnpike/core/internal'
import type { Head } from '@turnpike/http'
import { LINK_MINUTES, LINKS_PER_ADDRESS, LINKS_PER_EMAIL } from '../conventions.js'
import { tooMany } from '../errors.js'
import type { StoredLink } from '../sign-in/stored-links.js'
import { countNetworks } from './count-networks.js'

/** Counts a link of a kind that somebody asks for. @throws ApiError 429 where there are too many */
export type CountLinkRequest = (kind: StoredLink['kind'], email: string, head: Pick<Head, 'ip'>) => Promise<void>

const refuse = (retryAfter: number) => tooMany('Too many links were asked for; try again later', retryAfter)

/**
 * Limits the links that people ask for, by the network of their address and by kind and e-mail, whether anybody has that or not. Of an e-mail, as many
 * of a kind as are good at a time: whoever is refused has one that is, whatever else was asked for with the e-mail.
 */
export function linkRequests(kv: KV, limiter: RateLimiter, now: () => number): CountLinkRequest {
  const countEmail = async (kind: StoredLink['kind'], email: string): Promise<void> => {
    const key = ['links-asked', kind, await sha256(emailId(email))]
    const period = LINK_MINUTES * 60_000
    for (;;) {
      const entry = await kv.get<number[]>(key)
      const time = now()
      const recent = (entry?.value ?? []).filter((one) => one > time - period)
      if (recent.length >= LINKS_PER_EMAIL) throw refuse(Math.ceil((recent[0]! + period - time) / 1_000))
      const set = [{ key, value: [...recent, time], expiresAt: time + period }]
      if (await kv.commit({ check: [{ key, version: entry?.version ?? null }], set })) return
    }
  }

  return async (kind, email, head) => {
    await countNetworks(limiter, 'links', LINKS_PER_ADDRESS, head, refuse)
    await countEmail(kind, email)
  }
}
