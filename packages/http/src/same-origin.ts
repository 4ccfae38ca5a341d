import type { Identified } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { parseUrl } from '@turnpike/core/helpers'
import type { Exchange } from './shells/exchange.js'

/** What an identity reads of a request. */
export type Head = Pick<Exchange, 'method' | 'header' | 'ip' | 'origin'>

/** Which pages may send requests with a credential that a browser sends by itself. */
export interface SameOriginOptions {
  /** Where browsers reach the server; needed where a proxy that serves TLS, or changes `Host`, does not say so. */
  baseUrl?: string | undefined
  /** Origins such as `https://console.example`, besides the one that is called; default none. */
  trustedOrigins?: readonly string[] | undefined
  /** Called for each request whose caller {@link identify} does not find or refuses, such as to count it. What it throws is the answer. Default nothing. */
  refused?: ((head: Head) => Promise<void>) | undefined
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** The origin that a request comes from: that of `Origin` as it is, as `URL` knows none of apps such as `capacitor://localhost`. */
function originOf({ header }: Head): string | undefined {
  const [origin, referer] = [header('origin'), header('referer')]
  return origin ?? parseUrl(referer ?? '')?.origin
}

/**
 * Whether an origin is that of the server's own pages: that of `baseUrl`, or the one that was called. A proxy may have changed the host; on
 * that of `baseUrl` only its scheme counts.
 */
function isOwn(origin: string | undefined, { origin: called }: Head, baseUrl: string | undefined): boolean {
  const { origin: own, host } = new URL(called())
  if (baseUrl === undefined) return origin === own
  const base = new URL(baseUrl)
  return origin === base.origin || (origin === own && host !== base.host)
}

/**
 * Whether a page of another origin makes a browser send a request, by Fetch Metadata.
 * @example if (isByOtherPage(exchange)) return new Response(null, { status: 403 })
 */
export const isByOtherPage = ({ header }: Pick<Head, 'header'>): boolean =>
  /^(?:cross|same)-site$/.test(header('sec-fetch-site') ?? '') && header('sec-fetch-dest') !== undefined

/**
 * Refuses requests that a page of another site made a browser send, with the cookies of this one: by Fetch Metadata or, in browsers without
 * it, by `Origin` or `Referer`. Not needed for bearer tokens, which no browser sends by itself; but to sign in takes no credential that a page
 * would need, and failures count.
 * SameSite is not enough: it lets through what comes from another port of the host.
 * @param options.unknown allows requests with none of these headers, which no browser sends; default false
 * @throws ApiError 403
 * @example requireSameOrigin(exchange, { baseUrl: 'https://ai.example' })
 */
export function requireSameOrigin(
  head: Head,
  { baseUrl, trustedOrigins = [], unknown = false }: SameOriginOptions & { unknown?: boolean } = {},
): void {
  const { method, header } = head
  // It could not read the answer, but use up what its visitor may ask for.
  if (SAFE.has(method) && !isByOtherPage(head)) return
  const names = ['sec-fetch-site', 'origin', 'referer']
  if (unknown && names.every((name) => header(name) === undefined)) return
  const [site, origin] = [header('sec-fetch-site'), originOf(head)]
  if (origin !== undefined && origin !== 'null' && trustedOrigins.includes(origin)) return
  const isSame = site === undefined ? isOwn(origin, head, baseUrl) : site === 'same-origin'
  if (!isSame)
    throw new ApiError(
      403,
      'permission_error',
      "To sign in, and with a session cookie, the headers Sec-Fetch-Site or Origin of a browser must show that a request comes from this server's own pages, by the same scheme: behind a proxy that serves TLS, trustedHops or baseUrl has to be set (TRUSTED_HOPS or BASE_URL of the reference server)",
      { code: 'forbidden' },
    )
}

/** Finds out who sends a request. */
export interface Authenticator {
  /**
   * @param waited milliseconds since the request came, where its caller is looked up again: a credential that was revoked meanwhile is not good any more, and
   * one that has only expired still is. Who does not look at it refuses both.
   * @returns null where the request has no credential of this kind
   * @throws ApiError 401 for a credential of this kind that is not valid: no other one is tried
   */
  authenticate(head: Head, waited?: number): Promise<Identified | null> | Identified | null
}

/**
 * Whether a credential has this scope, or no scopes at all. To write a part is to read it, too.
 * @param part absent = one that is closed to credentials with scopes
 * @example const mayRead = hasScope(identified, 'files', 'read')
 */
export const hasScope = ({ scopes }: Identified, part: string | undefined, to: 'read' | 'write'): boolean =>
  !scopes || (part !== undefined && (scopes.includes(`${part}:write`) || scopes.includes(`${part}:${to}`)))

/**
 * Refuses a credential that has scopes, but not this one.
 * @param part absent = one that is closed to credentials with scopes
 * @throws ApiError 403
 * @example requireScope(identified, 'projects', 'write')
 */
export function requireScope(identified: Identified, part: string | undefined, to: 'read' | 'write'): void {
  if (hasScope(identified, part, to)) return
  const needed = part === undefined ? '' : `: it needs ${part}:${to}`
  throw new ApiError(403, 'permission_error', `This token is not for that${needed}`, { code: 'forbidden' })
}

/**
 * Whom the credential of a request belongs to.
 * @param options.waited see {@link Authenticator.authenticate}
 * @param options.part the part of the server that the request is for, such as `tasks`; absent = one that is closed to credentials with scopes
 * @throws ApiError 403 where a page of another site made a browser send it (see {@link requireSameOrigin}), or where it has other scopes
 * @example const who = await identify(authenticator, exchange, { baseUrl: 'https://ai.example' })
 */
export async function identify(
  authenticator: Authenticator,
  head: Head,
  { part, waited, ...options }: SameOriginOptions & { part?: string | undefined; waited?: number | undefined },
): Promise<Identified | null> {
  try {
    const who = await authenticator.authenticate(head, waited)
    if (who) {
      if ((who.via ?? 'cookie') === 'cookie') requireSameOrigin(head, options)
      requireScope(who, part, SAFE.has(head.method) ? 'read' : 'write')
      return who
    }
  } catch (error) {
    if (waited === undefined) await options.refused?.(head)
    throw error
  }
  if (waited === undefined) await options.refused?.(head)
  return null
}
