import { isObject } from '@turnpike/core/helpers'

/** What a header can carry: a line break, as at the end of a file, would make every request fail. */
export const HEADER_VALUE = /^([\x20-\x7e]*[\x21-\x7e])?$/

/** A token of RFC 9110. */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** What HTTP clients, adapters and signatures send themselves. */
const owned =
  /^(accept|accept-encoding|authorization|connection|content-(encoding|length|type)|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|user-agent|x-amz-(content-sha256|date|security-token))$/

/**
 * Further headers of requests, with names in lower case.
 * @param of what is made with them, for errors, which do not have their values
 * @param sent what is sent besides
 * @throws TypeError for a name or value that no header has, and for a header that is sent in any case
 */
export function checkHeaders(
  of: string,
  headers: Readonly<Record<string, string>> = {},
  sent: Readonly<Record<string, string>>,
): Record<string, string> {
  if (!isObject(headers)) throw new TypeError(`${of}: the option "headers" must have values by the names of headers`)
  return Object.fromEntries(
    Object.entries(headers).map(([given, value]) => {
      const name = given.toLowerCase()
      const place = `${of}: the option "headers": ${JSON.stringify(given)}`
      if (!HEADER_NAME.test(name)) throw new TypeError(`${place} is no name of a header`)
      if (owned.test(name) || Object.hasOwn(sent, name)) throw new TypeError(`${place} is sent by the adapter itself`)
      if (typeof value !== 'string' || value === '' || !HEADER_VALUE.test(value))
        throw new TypeError(`${place} must be visible ASCII characters, without a space or line break at its end`)
      return [name, value]
    }),
  )
}
