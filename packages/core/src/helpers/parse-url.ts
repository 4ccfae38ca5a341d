/** Most characters of the host of a URL, with credentials and port: names have at most 253 (RFC 1035, section 2.3.4). */
const AUTHORITY_LENGTH = 1_000

/** What stands between the scheme and the path, with the spaces and line breaks that are ignored in a URL. */
const authority = /^[\0-\x20]*[a-z][a-z\d+.-]*:[\\/\t\n\r]*([^\\/?#]*)/i

/** A URL that a caller wrote; undefined for one that is none, or whose host is too long: to normalise it takes time that grows with its square. */
export function parseUrl(text: string): URL | undefined {
  const [, host] = authority.exec(text) ?? []
  return host !== undefined && host.length <= AUTHORITY_LENGTH && URL.canParse(text) ? new URL(text) : undefined
}
