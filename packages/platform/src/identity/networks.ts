import { parseAddress } from '@turnpike/core/helpers'
import { NEIGHBOURHOOD, NETWORKS } from '../conventions.js'

/** A network that an address is in. */
export interface Network {
  /** Such as `192.0.2.0/24`; of an IPv4 address itself, the address. */
  name: string
  /** Attempts that may be in the queue at a time. */
  places: number
  /** How many times the failures of an address are free; absent = they are not counted, as all customers of a provider are in it. */
  failures?: number
}

interface Level extends Omit<Network, 'name'> {
  bits: number
}

/** The networks of an address, narrowest first: an IPv4 address and its network, or those of an IPv6 address. */
export function networksOf(ip: string): Network[] {
  const { kind, nameOf } = parseAddress(ip)
  const levels: readonly Level[] = NETWORKS[kind]
  return levels.map(({ bits, ...level }) => ({ name: nameOf(bits), ...level }))
}

/** The name of the network of an address whose other addresses are likely to be of the same provider, in the same region. */
export function neighbourhoodOf(ip: string): string {
  const { kind, nameOf } = parseAddress(ip)
  return nameOf(NEIGHBOURHOOD[kind])
}
