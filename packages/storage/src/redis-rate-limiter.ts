import { redisConnection } from './redis-connection.js'
import type { RedisClient } from './redis-connection.js'
import type { Script } from './redis-scripts.js'
import type { RateLimiterOptions, SharedRateLimiter } from './rate-limiter.js'
import { sharedRateLimiter, WINDOW } from './rate-limiter.js'

/** Options of {@link redisRateLimiter}. */
export interface RedisRateLimiterOptions extends RateLimiterOptions {
  /** What every key begins with; default `{turnpike}`. The braces keep all keys in one slot of a Cluster. */
  base?: string
  /** Milliseconds that a request waits for an answer, also over a connection that breaks and comes back; default 10,000. */
  timeout?: number
}

/**
 * KEYS: the count of each key. ARGV: milliseconds of a window, then limit and number of requests for each key.
 * Returns for each how many were granted, and in how many milliseconds its window ends. A count goes when its window ends.
 */
const TAKE: Script = {
  name: 'take',
  lua: `
local taken = {}
for i, key in ipairs(KEYS) do
  local limit, count = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local used = redis.call('GET', key)
  local granted = math.max(0, math.min(count, limit - (used or 0)))
  if not used then
    redis.call('SET', key, granted, 'PX', ARGV[1])
  elseif granted > 0 then
    redis.call('INCRBY', key, granted)
  end
  taken[i] = { granted, redis.call('PTTL', key) }
end
return taken
`,
}

/**
 * Counts requests in a Redis, through a client of ioredis that stays the caller's to close: one script a round trip.
 * A Redis that has forgotten the script gets its text. Where the connection breaks before the answer, the script is sent again, so that its
 * requests may be counted twice, and none passes beyond the limit. The server's clock decides. It must evict nothing (`redisKV` looks).
 * @throws StorageError where Redis cannot be reached
 * @example const rateLimiter = await redisRateLimiter(new Redis('redis://localhost'))
 */
export async function redisRateLimiter(
  client: RedisClient,
  options: RedisRateLimiterOptions = {},
): Promise<SharedRateLimiter> {
  const { base = '{turnpike}', timeout = 10_000, window = WINDOW } = options
  const connection = await redisConnection(client, timeout, [TAKE])
  return sharedRateLimiter({
    async take(wants) {
      const taken = await connection.run(
        TAKE,
        wants.map(({ key }) => `${base}:rate:${key}`),
        [String(window), ...wants.flatMap(({ perMinute, count }) => [String(perMinute), String(count)])],
      )
      return (taken as [number, number][]).map(([granted, endsInMs]) => ({ granted, endsInMs }))
    },
    async close() {
      connection.close()
    },
  })
}
