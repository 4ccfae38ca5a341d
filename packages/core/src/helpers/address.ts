/** The first `bits` of groups of `width` bits; the rest is 0. */
const masked = (groups: number[], bits: number, width: number): number[] =>
  groups.map((group, i) => {
    const kept = Math.min(Math.max(bits - i * width, 0), width)
    return group - (group % 2 ** (width - kept))
  })

/** The eight groups of an IPv6 address, the last two of which may be written as IPv4. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('%')[0]!.split('::')
  const group = (text: string): number | number[] => {
    if (!text.includes('.')) return parseInt(text, 16)
    const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
    return [a * 256 + b, c * 256 + d]
  }
  const groups = (text: string | undefined): number[] => (text ? text.split(':').flatMap(group) : [])
  const [before, after] = [groups(head), groups(tail)]
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length)
  return [...before, ...Array<number>(zeros).fill(0), ...after]
}

/** What IPv4 addresses have before them in IPv6: as mapped ones, and behind a translator (RFC 4291, section 2.5.5.2; RFC 6052). */
const AROUND_IPV4 = ['0,0,0,0,0,65535', `${0x64},${0xff9b},0,0,0,0`]

/** The kind of an address, and the names of the networks that it is in, by their bits. */
export function parseAddress(ip: string): { kind: 'ipv4' | 'ipv6'; nameOf: (bits: number) => string } {
  // Some proxies append the port.
  const four = /^(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(ip.replace(/^::ffff:/i, ''))?.[1]
  if (four !== undefined || !ip.includes(':')) return ofIpv4(four ?? ip)
  const groups = groupsOf(/^\[(.*)\]/.exec(ip)?.[1] ?? ip)
  if (AROUND_IPV4.includes(groups.slice(0, 6).join())) {
    const [high = 0, low = 0] = groups.slice(6)
    return ofIpv4([high >> 8, high & 255, low >> 8, low & 255].join('.'))
  }
  const nameOf = (bits: number): string => {
    const prefix = masked(groups, bits, 16).slice(0, 4)
    return `${prefix.map((group) => group.toString(16)).join(':')}::/${bits}`
  }
  return { kind: 'ipv6', nameOf }
}

function ofIpv4(address: string): ReturnType<typeof parseAddress> {
  const bytes = address.split('.').map(Number)
  return {
    kind: 'ipv4',
    nameOf: (bits) => (bits === 32 ? address : `${masked(bytes, bits, 8).join('.')}/${bits}`),
  }
}

/** The name of an address itself, or of its IPv6 network of 64 bits, all of which one customer has. */
export function addressOf(ip: string): string {
  const { kind, nameOf } = parseAddress(ip)
  return nameOf(kind === 'ipv4' ? 32 : 64)
}
