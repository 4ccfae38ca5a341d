import type { Driver, StorageLike } from './storage-like.js'

/** The part of an ioredis client that {@link redisItems} uses. */
export interface RedisItemsClient {
  get(key: string): Promise<string | null>
  getBuffer(key: string): Promise<Uint8Array | null>
  set(key: string, value: string | Buffer): Promise<unknown>
  unlink(key: string): Promise<unknown>
  scan(cursor: string, match: 'MATCH', pattern: string, count: 'COUNT', number: number): Promise<[string, string[]]>
}

/**
 * Items in Redis for {@link unstorageBlobs}, with bytes as they are: the driver of unstorage stores them as base64 text, which takes a third more space
 * and several times the memory on the way. Not for a Cluster, whose keys one node does not list.
 * @param options.base prefix of the keys; default `turnpike-files`
 * @example const blobs = unstorageBlobs(redisItems(new Redis('redis://localhost')))
 */
export function redisItems(
  client: RedisItemsClient,
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
    setItemRaw: (key, { buffer, byteOffset, byteLength }) =>
      client.set(keyOf(key), Buffer.from(buffer, byteOffset, byteLength)),
    async getKeys() {
      const keys: string[] = []
      const pattern = `${keyOf('').replace(/[\\*?[\]]/g, '\\$&')}*`
      for (let cursor = '0'; ;) {
        const [next, found] = await client.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000)
        for (const key of found) keys.push(key.slice(base.length + 1))
        if (next === '0') return keys
        cursor = next
      }
    },
  }
}
