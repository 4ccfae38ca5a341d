import type { Driver, StorageLike } from '../log/storage-like.js'

/** The part of an ioredis client that {@link redisItems} uses. */
export interface RedisItemsClient {
  get(key: string): Promise<string | null>
  getBuffer(key: string): Promise<Uint8Array | null>
  getrangeBuffer(key: string, start: number, end: number): Promise<Uint8Array>
  set(key: string, value: string | Buffer): Promise<unknown>
  unlink(key: string): Promise<unknown>
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', number: number): Promise<[string, string[]]>
}

/** The part of an ioredis `Cluster` that {@link redisItems} uses. */
export interface RedisItemsCluster extends Omit<RedisItemsClient, 'scan'> {
  nodes(role: 'master'): RedisItemsClient[]
}

/**
 * Items in Redis for {@link unstorageBlobs}, with bytes as they are: the driver of unstorage stores them as base64 text, which takes a third more space
 * and several times the memory on the way. On a Cluster, the items are spread over all nodes.
 * @param options.base prefix of the keys; default `turnpike-files`
 * @example const blobs = unstorageBlobs(redisItems(new Redis('redis://localhost')))
 */
export function redisItems(
  client: RedisItemsClient | RedisItemsCluster,
  { base = 'turnpike-files' }: { base?: string } = {},
): StorageLike & Driver {
  const keyOf = (key: string): string => `${base}:${key}`
  return {
    name: 'redis-items',
    copiesBytes: true,
    getItem: (key) => client.get(keyOf(key)),
    setItem: (key, value) => client.set(keyOf(key), value),
    removeItem: (key) => client.unlink(keyOf(key)),
    getItemRaw: (key) => client.getBuffer(keyOf(key)),
    async getItemPart(key, start, end) {
      const bytes = await client.getrangeBuffer(keyOf(key), start, Math.min(end, Number.MAX_SAFE_INTEGER) - 1)
      // Empty where there is no such item, too.
      return bytes.length > 0 ? bytes : null
    },
    setItemRaw: (key, { buffer, byteOffset, byteLength }) =>
      client.set(keyOf(key), Buffer.from(buffer, byteOffset, byteLength)),
    async getKeys() {
      // A set, because SCAN may return a key twice.
      const keys = new Set<string>()
      const pattern = `${keyOf('').replace(/[\\*?[\]]/g, '\\$&')}*`
      for (const node of 'nodes' in client ? client.nodes('master') : [client]) {
        let cursor = '0'
        do {
          const [next, found] = await node.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000)
          for (const key of found) keys.add(key.slice(base.length + 1))
          cursor = next
        } while (cursor !== '0')
      }
      return [...keys]
    },
  }
}
