/** Attributes of a cookie (RFC 6265bis, section 4.1). The defaults are the safe ones. */
export interface CookieOptions {
  /** Seconds until the browser drops it; 0 = at once; absent = when the browser ends. */
  maxAge?: number
  /** Default `/`. */
  path?: string
  /** Default the host that sets it, without its subdomains. */
  domain?: string
  /** Sent over TLS only; default true. */
  secure?: boolean
  /** Kept from scripts; default true. */
  httpOnly?: boolean
  /** Default `Lax`. */
  sameSite?: 'Strict' | 'Lax' | 'None'
}

const NAME = /^[\w!#$%&'*.^`|~+-]+$/
const VALUE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/
const ATTRIBUTE = /^[\x20-\x3a\x3c-\x7e]*$/

/** Without spaces and tabs around it, and no others: to a browser, U+00A0 in front of `__Host-` makes another name, which any site may set. */
function bare(text: string): string {
  let [start, end] = [0, text.length]
  while (text[start] === ' ' || text[start] === '\t') start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(start, end)
}

/**
 * The cookies of a request's `cookie` header by name. Of a name that comes twice the first counts: browsers send the one with the longest
 * path first (RFC 6265bis, section 5.8.3). Values are not decoded. What is no name of a cookie is left out.
 * @example parseCookies('theme=dark; lang=de').get('lang') // 'de'
 */
export function parseCookies(header: string | undefined): Map<string, string> {
  const cookies = new Map<string, string>()
  for (const pair of header?.split(';') ?? []) {
    const at = pair.indexOf('=')
    if (at === -1) continue
    const name = bare(pair.slice(0, at))
    const value = bare(pair.slice(at + 1))
    if (NAME.test(name) && !cookies.has(name)) cookies.set(name, value.replace(/^"(.*)"$/, '$1'))
  }
  return cookies
}

/**
 * A `set-cookie` header.
 * @throws TypeError for a name, value or attribute that the header cannot carry
 * @example call.addHeader('set-cookie', setCookie('theme', 'dark', { maxAge: 86_400 }))
 */
export function setCookie(name: string, value: string, options: CookieOptions = {}): string {
  const { maxAge, path = '/', domain, secure = true, httpOnly = true, sameSite = 'Lax' } = options
  if (!NAME.test(name) || !VALUE.test(value) || !ATTRIBUTE.test(path) || !ATTRIBUTE.test(domain ?? ''))
    throw new TypeError(`The cookie "${name}" has a character that a set-cookie header cannot carry`)
  return [
    `${name}=${value}`,
    ...(maxAge === undefined ? [] : [`Max-Age=${Math.trunc(maxAge)}`]),
    `Path=${path}`,
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    ...(secure ? ['Secure'] : []),
    ...(httpOnly ? ['HttpOnly'] : []),
    `SameSite=${sameSite}`,
  ].join('; ')
}
