/** Connections to Redis, for the store and for files. @module */
import type { Cluster, Redis } from 'ioredis'
import { urlsOfHosts } from './hosts.js'

/** Reconnects when the server has become a replica: its address may lead to the new primary by then. */
const reconnectOnError = ({ message }: Error): boolean => message.includes('READONLY')

/**
 * Connects to the Redis of a URL: a server; `?sentinel=NAME` with the hosts of its Sentinels; or `?cluster` with hosts of a Cluster.
 * @throws Error if there are several hosts without either of the two
 */
export async function connectRedis(url: string): Promise<Redis | Cluster> {
  const { Cluster, Redis } = await import('ioredis')
  const urls = urlsOfHosts(url).map((text) => new URL(text))
  const { protocol, username, password, pathname, searchParams } = urls[0]!
  // ioredis takes IPv6 addresses without their brackets.
  const nodes = (port: number) =>
    urls.map((it) => ({ host: it.hostname.replaceAll(/[[\]]/g, ''), port: Number(it.port || port) }))
  const options = {
    reconnectOnError,
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    // Without the second, ioredis ignores the first where Sentinels name the server.
    ...(protocol === 'rediss:' && { tls: {}, enableTLSForSentinelMode: true }),
  }
  if (searchParams.has('cluster'))
    return new Cluster(nodes(6379), {
      redisOptions: options,
      // Not resolved before the connection is made: certificates are for names.
      dnsLookup: (name, callback) => callback(null, name),
    })
  const name = searchParams.get('sentinel')
  if (name !== null) return new Redis({ ...options, db: Number(pathname.slice(1)), sentinels: nodes(26379), name })
  if (urls.length > 1) throw new Error('Several hosts of Redis need ?cluster or ?sentinel=NAME')
  return new Redis(url, { reconnectOnError })
}

/** The number of replicas that have to acknowledge a commit: `?replicas=1`. @throws Error if it is no whole number */
export function replicasOf(url: string): number {
  const text = new URL(urlsOfHosts(url)[0]!).searchParams.get('replicas') ?? '0'
  if (!/^\d+$/.test(text)) throw new Error('The replicas of a redis:// URL must be a whole number')
  return Number(text)
}
