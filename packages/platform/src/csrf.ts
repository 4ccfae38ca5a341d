import { forbidden } from './errors.js'
import type { Head } from './identity/identity.js'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The origin of a URL; undefined for one that has none, such as `null`. */
const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined

/**
 * Refuses requests that a page of another site made a browser send, with the cookies of this one: by Fetch Metadata or, in browsers without
 * it, by `Origin` or `Referer`. Not needed for bearer tokens, which no browser sends by itself.
 * SameSite is not enough: it lets through what comes from another port of the host.
 * @param options.trustedOrigins such as `https://console.example`, besides the origin that is called
 * @param options.unknown allows requests with none of these headers, which no browser sends; default false
 * @throws ApiError 403
 */
export function requireSameOrigin(
  { method, header }: Head,
  { trustedOrigins, unknown = false }: { trustedOrigins: readonly string[]; unknown?: boolean },
): void {
  if (SAFE.has(method)) return
  const [site, from] = [header('sec-fetch-site'), header('origin') ?? header('referer')]
  if (unknown && site === undefined && from === undefined) return
  const origin = originOf(from)
  if (origin !== undefined && trustedOrigins.includes(origin)) return
  const isSame =
    site === undefined
      ? origin !== undefined && new URL(origin).host === header('host')?.toLowerCase()
      : site === 'same-origin'
  if (!isSame)
    throw forbidden(
      "With a session cookie, the headers Sec-Fetch-Site or Origin must show that a request comes from this platform's own pages",
    )
}
