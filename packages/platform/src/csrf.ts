import { forbidden } from './errors.js'
import type { Head } from './identity/identity.js'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The origin of a URL; undefined for one that has none, such as `null`. */
const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined

/**
 * Refuses requests that a page of another site made a browser send, with the cookies of this one: by Fetch Metadata or, in browsers without
 * it, by `Origin` or `Referer`. Not needed for bearer tokens, which no browser sends by itself.
 * SameSite does not do: it lets through what comes from another port of the host.
 * @param trustedOrigins such as `https://console.example`, besides the origin that is called
 * @throws ApiError 403
 */
export function requireSameOrigin(head: Head, trustedOrigins: readonly string[]): void {
  if (SAFE.has(head.method)) return
  const origin = originOf(head.header('origin') ?? head.header('referer'))
  if (origin !== undefined && trustedOrigins.includes(origin)) return
  const site = head.header('sec-fetch-site')
  const same =
    site === undefined
      ? origin !== undefined && new URL(origin).host === head.header('host')?.toLowerCase()
      : site === 'same-origin'
  if (!same) throw forbidden('The request comes from another site')
}
