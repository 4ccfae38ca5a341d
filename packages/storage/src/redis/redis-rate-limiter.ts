import { redisConnection } from './redis-connection.js'
import type { RedisClient } from './redis-connection.js'
import type { Script } from './redis-scripts.js'
import type { RateLimiterOptions, SharedRateLimiter } from '../rate-limiter.js'
import { sharedRateLimiter, WINDOW } from '../rate-limiter.js'

/** Options of {@link redisRateLimiter}. */
export interface RedisRateLimiterOptions extends RateLimiterOptions {
  /** Prefix of all keys; default `{turnpike}`. The braces (a hash tag) keep all keys in one slot of a Cluster. */
  base?: string
  /** Time-out of a request in milliseconds, including reconnects; default 10,000. */
  timeout?: number
}

/**
 * KEYS: the counter of each key. ARGV: the window in milliseconds, then the limit and the count of each key.
 * Returns for each key how much was granted, how much is left, and the milliseconds until its window ends, when its counter expires.
 */
const TAKE: Script = {
  name: 'take',
  lua: `
local taken = {}
for i, key in ipairs(KEYS) do
  local limit, count = tonumber(ARGV[2 * i]), tonumber(ARGV[2 * i + 1])
  local used = redis.call('GET', key)
  local granted = math.max(math.min(count, 0), 0 - (used or 0), math.min(count, limit - (used or 0)))
  if not used then
    redis.call('SET', key, granted, 'PX', ARGV[1])
  elseif granted ~= 0 then
    redis.call('INCRBY', key, granted)
  end
  taken[i] = { granted, math.max(0, limit - (used or 0) - granted), redis.call('PTTL', key) }
end
return taken
`,
}

/**
 * Counts requests in Redis with one script per round trip, through an ioredis client that the caller closes.
 * The script is loaded again if Redis has lost it. If the connection breaks before the reply, it is sent again: its requests may be counted
 * twice, but the limit is never exceeded. Windows follow the server's clock. Redis must not evict keys, which `redisKV` checks.
 * @throws StorageError if Redis cannot be reached
 * @example const rateLimiter = await redisRateLimiter(new Redis('redis://localhost'))
 */
export async function redisRateLimiter(
  client: RedisClient,
  options: RedisRateLimiterOptions = {},
): Promise<SharedRateLimiter> {
  const { base = '{turnpike}', timeout = 10_000, window = WINDOW } = options
  const connection = await redisConnection(client, timeout, [TAKE], `${base}:rate`)
  return sharedRateLimiter({
    async take(wants) {
      const taken = await connection.run(
        TAKE,
        wants.map(({ key }) => `${base}:rate:${key}`),
        [String(window), ...wants.flatMap(({ perMinute, count }) => [String(perMinute), String(count)])],
      )
      return (taken as [number, number, number][]).map(([granted, left, endsInMs]) => ({ granted, left, endsInMs }))
    },
    async close() {
      connection.close()
    },
  })
}
