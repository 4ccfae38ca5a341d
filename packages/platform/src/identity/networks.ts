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

/** The first `bits` of groups of `width` bits; the rest is 0. */
const masked = (groups: number[], bits: number, width: number): number[] =>
  groups.map((group, i) => {
    const kept = Math.min(Math.max(bits - i * width, 0), width)
    return group - (group % 2 ** (width - kept))
  })

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const groups = (text: string | undefined): number[] =>
    text ? text.split(':').map((group) => parseInt(group, 16)) : []
  const [before, after] = [groups(head), groups(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array<number>(zeros).fill(0), ...after]
}

interface Level extends Omit<Network, 'name'> {
  bits: number
}

/** The kind of an address, and the names of the networks that it is in, by their bits. */
function parse(ip: string): { kind: 'ipv4' | 'ipv6'; nameOf: (bits: number) => string } {
  // Some proxies append the port.
  const four = /^(?:::ffff:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/i.exec(ip)?.[1]
  if (four !== undefined || !ip.includes(':')) {
    const address = four ?? ip
    const bytes = address.split('.').map(Number)
    return {
      kind: 'ipv4',
      nameOf: (bits) => (bits === 32 ? address : `${masked(bytes, bits, 8).join('.')}/${bits}`),
    }
  }
  const groups = groupsOf(/^\[(.*)\]/.exec(ip)?.[1] ?? ip)
  const nameOf = (bits: number): string => {
    const prefix = masked(groups, bits, 16).slice(0, 4)
    return `${prefix.map((group) => group.toString(16)).join(':')}::/${bits}`
  }
  return { kind: 'ipv6', nameOf }
}

/** The networks of an address, narrowest first: an IPv4 address and its network, or those of an IPv6 address. */
export function networksOf(ip: string): Network[] {
  const { kind, nameOf } = parse(ip)
  const levels: readonly Level[] = NETWORKS[kind]
  return levels.map(({ bits, ...level }) => ({ name: nameOf(bits), ...level }))
}

/** The name of the network of an address whose other addresses are likely to be of the same provider, in the same region. */
export function neighbourhoodOf(ip: string): string {
  const { kind, nameOf } = parse(ip)
  return nameOf(NEIGHBOURHOOD[kind])
}

/** The name of the address itself, or of its IPv6 network of 64 bits. */
export const addressOf = (ip: string): string => networksOf(ip)[0]!.name
