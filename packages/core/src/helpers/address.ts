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

/** The kind of an address, and the names of the networks that it is in, by their bits. */
export function parseAddress(ip: string): { kind: 'ipv4' | 'ipv6'; nameOf: (bits: number) => string } {
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

/** The name of an address itself, or of its IPv6 network of 64 bits, all of which one customer has. */
export function addressOf(ip: string): string {
  const { kind, nameOf } = parseAddress(ip)
  return nameOf(kind === 'ipv4' ? 32 : 64)
}
