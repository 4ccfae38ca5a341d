import { addressOf } from '@turnpike/core/helpers'
import type { Head } from '@turnpike/http'
import { ORIGIN_LENGTH } from '../conventions.js'

/** What a sign-in was made by, and where. */
export type Origin = {
  /** `User-Agent`, cut to {@link ORIGIN_LENGTH}; absent = the request had none, or an earlier version has stored the sign-in. */
  user_agent?: string
  /** The address, of IPv6 the network of 64 bits; absent = not known. */
  address?: string
}

/** The address that a request came from, as it is stored; undefined = not known. */
const addressIn = (head: Head): string | undefined => {
  const ip = head.ip()
  return ip === '' ? undefined : addressOf(ip).slice(0, ORIGIN_LENGTH.address)
}

export function originOf(head: Head): Origin {
  const [agent, address] = [head.header('user-agent')?.slice(0, ORIGIN_LENGTH.agent), addressIn(head)]
  return { ...(agent && { user_agent: agent }), ...(address && { address }) }
}

/** What is stored of a later request of the sign-in. */
export function lastUseOf(head: Head): { last_address?: string } {
  const address = addressIn(head)
  return address ? { last_address: address } : {}
}
