// Usage: node|bun burst.mjs STORAGE LIMIT KEYS REQUESTS CALLERS. Says `ready`, waits for a line, asks once, says `begun`, waits for a line, and then asks the server's own rate limiter
// in turn for `key-0` to `key-KEYS`. Prints how many requests of each key passed, and the waits that the others were told.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStorage } from 'turnpike'

const [url, ...numbers] = process.argv.slice(2)
const [limit, keys, requests, callers] = numbers.map(Number)
const { kv, rateLimiter } = await openStorage(url)
console.log('ready')
await once(process.stdin, 'data')

const passed = Array.from({ length: keys }, () => 0)
const waits = []
let next = 0
const ask = async (i) => {
  const { ok, retryAfter } = await rateLimiter.consume(`key-${i % keys}`, limit)
  if (ok) passed[i % keys]++
  else waits.push(retryAfter)
}
const caller = async () => {
  for (let i = next++; i < requests; i = next++) {
    await ask(i)
    await sleep(1)
  }
}
// No process goes on before each has begun.
await ask(next++)
console.log('begun')
await once(process.stdin, 'data')
await Promise.all(Array.from({ length: callers }, caller))
await kv.close()
console.log(JSON.stringify({ passed, waits }))
