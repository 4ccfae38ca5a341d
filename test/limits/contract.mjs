// Usage: node|bun contract.mjs STORAGE. Prints a line for each case of the contract that a rate limiter keeps, or how it breaks it.
import { postgresRateLimiter, redisRateLimiter, sqliteRateLimiter } from '@turnpike/storage'
import { rateLimiterContract } from '@turnpike/storage/testing'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

const [url] = process.argv.slice(2)
const openers = {
  redis: (window) => redisRateLimiter(new Redis(url), window && { window }),
  postgres: (window) => postgresRateLimiter(new Pool({ connectionString: url, max: 2 }), window && { window }),
  sqlite: (window) => sqliteRateLimiter(url.slice('sqlite:'.length), window && { window }),
}
const open = openers[/^\w+/.exec(url)[0]]
for (const { name, run } of rateLimiterContract)
  await run(open).then(
    () => console.log(`ok ${name}`),
    (error) => console.log(`not ok ${name}: ${error.stack}`),
  )
process.exit()
