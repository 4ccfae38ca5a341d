/** Fetches images from URLs that callers supplied, on Node and Bun, with protection of the internal network (SSRF). @module */
import { inSmallPieces, parseUrl, PIECE_COST } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import type { LookupAddress } from 'node:dns'
import { Resolver } from 'node:dns/promises'
import { get } from 'node:https'
import type { LookupFunction } from 'node:net'
import { BlockList, isIP } from 'node:net'
import type { RemoteContent } from './google/remote-content.js'

/** Options of {@link remoteContent}. */
export interface RemoteContentOptions {
  /** Time-out per image in milliseconds; default 10,000. */
  timeout?: number
  /** Whether an IP address may be connected to; default only public ones. */
  allows?: (address: string) => boolean
}

/** Special-purpose addresses (IANA registries for IPv4 and IPv6). */
const special = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  special.addSubnet(network, prefix, 'ipv4')
for (const [network, prefix] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  special.addSubnet(network, prefix, 'ipv6')

const unicast = new BlockList()
unicast.addSubnet('2000::', 3, 'ipv6')

/**
 * Whether an IP address is on the public internet. IPv6 addresses that embed an IPv4 address are not.
 * @example isPublic('127.0.0.1') // false
 */
export function isPublic(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

const ascii = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))

/** Detects the media type from the bytes, because `content-type` is not reliable; undefined for unsupported types. */
function sniff(bytes: Uint8Array): string | undefined {
  const start = ascii(bytes, 0, 12)
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (start.startsWith('GIF8')) return 'image/gif'
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'image/webp'
  if (start.endsWith('ftypheic')) return 'image/heic'
  if (start.endsWith('ftypmif1')) return 'image/heif'
  return undefined
}

/** How long a name server may take, in milliseconds; it is asked twice. */
const NAME_SERVER_MS = 2_000

/**
 * The addresses of a host name. Of its name servers: `lookup` would keep one of the few threads in which Node and Bun look up providers, for as long
 * as nobody answers.
 */
async function addressesOf(hostname: string): Promise<LookupAddress[]> {
  const resolver = new Resolver({ timeout: NAME_SERVER_MS, tries: 2 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  return [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ]
}

/** One message for all failures before a response, so that callers cannot probe internal addresses. */
const unreachable = () => invalid('An image could not be fetched from its URL')

/**
 * Creates a fetcher of images over https from public addresses only. All addresses of a host name are checked, and the connection uses
 * the checked address (no second lookup). Redirects are not followed.
 * @example google({ apiKey, remoteContent: remoteContent() })
 */
export function remoteContent(options: RemoteContentOptions = {}): RemoteContent {
  const { timeout = 10_000, allows = isPublic } = options

  const checkedLookup: LookupFunction = (hostname, { all, family }, callback) => {
    void addressesOf(hostname).then((found) => {
      const addresses = family === 4 || family === 6 ? found.filter((one) => one.family === family) : found
      const [first] = addresses
      if (!first || !found.every(({ address }) => allows(address))) callback(new Error('Not a public address'), '', 0)
      else if (all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }

  return (given, { signal, limit, memory }) =>
    new Promise((resolve, reject) => {
      const url = parseUrl(given)
      if (url?.protocol !== 'https:' || url.username || url.password) {
        reject(invalid('Images are fetched from https URLs without credentials only'))
        return
      }
      // A literal IP address causes no lookup, so it is checked here.
      const host = url.hostname.replace(/^\[|\]$/g, '')
      if (isIP(host) && !allows(host)) {
        reject(unreachable())
        return
      }
      if (signal.aborted) {
        reject(signal.reason)
        return
      }
      const end = (settle: () => void): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', abort)
        settle()
        request.destroy()
      }
      const fail = (error: unknown): void => end(() => reject(error))
      const abort = (): void => fail(signal.reason)
      const headers = { 'user-agent': 'turnpike', accept: 'image/*' }
      const request = get(url, { lookup: checkedLookup, agent: false, headers }, (response) => {
        if (response.statusCode !== 200) {
          fail(invalid(`An image's URL answered with status ${response.statusCode}`))
          return
        }
        const pieces: Buffer[] = []
        let size = 0
        response.on('data', (piece: Buffer) => {
          pieces.push(piece)
          size += piece.length
          if (size > limit) return fail(invalid('The images of a request are too large'))
          if (inSmallPieces(pieces.length, size)) return fail(invalid('An image arrives in too many small pieces'))
          try {
            memory?.take(PIECE_COST + piece.length)
          } catch (error) {
            fail(error)
          }
        })
        response.on('end', () => {
          const bytes = Buffer.concat(pieces, size)
          const type = sniff(bytes)
          if (type) end(() => resolve({ type, data: bytes.toString('base64') }))
          else fail(invalid("What is at an image's URL is not an image of a known kind"))
        })
        response.on('error', () => fail(unreachable()))
      })
      request.on('error', () => fail(unreachable()))
      const timer = setTimeout(() => fail(unreachable()), timeout)
      signal.addEventListener('abort', abort)
    })
}
