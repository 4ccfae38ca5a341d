import { parseUrl } from '@turnpike/core/helpers'
import { LINK_PAGE } from '../conventions.js'

/** Where the links of messages lead. */
export interface LinkPage {
  /** The host, such as `ai.example`, as messages name it. */
  place: string
  /** The address of the page itself. */
  address: string
  /** The address of a link. The token stands behind the `#`, which browsers send to nobody: it is in no log and no `Referer`. */
  urlOf(token: string): string
}

/**
 * @param page its address; default {@link LINK_PAGE} of `baseUrl` and, without that, of the server that is read from. Never a host that a request names.
 * @throws TypeError where messages are sent and the address has no host
 */
export function linkPage(
  { page, baseUrl }: { page: string | undefined; baseUrl: string | undefined },
  hasMail: boolean,
): LinkPage {
  const address = page ?? `${(baseUrl ?? '').replace(/\/+$/, '')}${LINK_PAGE}`
  const url = parseUrl(address)
  if (hasMail && !url)
    throw new TypeError('createPlatform: the option "mail" needs "baseUrl", which links in messages begin with')
  return {
    address,
    place: url?.host ?? '',
    urlOf: (token) => `${address}#/link?token=${token}`,
  }
}
