import type { Head } from '@turnpike/http'
import { parseCookies, setCookie } from '@turnpike/http'

/** Whether browsers refuse a `__Host-` cookie: over plain HTTP from another machine. */
const isPlain = (baseUrl: string | undefined): boolean => {
  if (baseUrl === undefined) return false
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'http:' && !/^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
}

/** A cookie of a platform at `baseUrl`, which a browser keeps for so many days. */
export function hostCookie(names: { host: string; plain: string }, baseUrl: string | undefined, days: number) {
  const plain = isPlain(baseUrl)
  const name = plain ? names.plain : names.host
  return {
    /** The value that a request has; '' where there is none. */
    of: (head: Pick<Head, 'header'>): string => parseCookies(head.header('cookie')).get(name) ?? '',
    /** The `set-cookie` header that gives it a value, or with '' ends it. */
    set: (value: string): string =>
      setCookie(name, value, { secure: !plain, maxAge: value === '' ? 0 : days * 86_400 }),
  }
}
