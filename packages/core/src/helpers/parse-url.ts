/** Most characters of the host of a URL, with credentials and port: names have at most 253 (RFC 1035, section 2.3.4). */
const AUTHORITY_LENGTH = 1_000

/** What stands between the scheme, or the first slash of an address without one, and the path, with the spaces, tabs and line breaks that are ignored in a URL. */
const authority = /^[\0-\x20]*(?:[a-z][a-z\d+.\t\n\r-]*:|[\\/])[\\/\t\n\r]*([^\\/?#]*)/i

/**
 * A URL that somebody wrote; undefined for one that is none, or whose host is too long: to normalise it takes time that grows with its square.
 * Not by `URL.canParse`: once Node 20 or 22 has compiled it, it refuses hosts with letters such as `ü`.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  const [, host = ''] = authority.exec(text) ?? []
  if (host.length > AUTHORITY_LENGTH) return undefined
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}
