// Usage: node|bun deployments.mjs STORAGE TIME REQUESTS CALLERS. Says `ready`, waits for a line, and then sends requests to two deployments, one with a limit of tokens and one of
// requests, by the server's own rate limiter, at a time that does not pass. Prints the calls of each, and how many requests were refused.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRouter } from '@turnpike/providers'
import { openStorage } from 'turnpike'

const [url, ...numbers] = process.argv.slice(2)
const [time, requests, callers] = numbers.map(Number)
const { kv, rateLimiter } = await openStorage(url)
const refuse = () => Promise.reject(new Error('not called'))
const provider = (name) => ({
  id: 'p',
  name,
  models: async () => [],
  owns: () => true,
  chat: { oneChoice: false, preview: () => [], complete: refuse, stream: refuse },
})
const router = createRouter({
  providers: [
    { provider: provider('tokens'), tokensPerMinute: 10_000 },
    { provider: provider('requests'), requestsPerMinute: 30 },
  ],
  rateLimiter,
  now: () => time,
})
console.log('ready')
await once(process.stdin, 'data')

const outcome = { tokens: 0, requests: 0, refused: 0 }
const need = { task: 'chat', request: { model: 'm' }, expected: () => ({ input: 200, output: 100 }) }
let next = 0
const caller = async () => {
  while (next++ < requests) {
    const { targets } = await router.candidates(need)
    try {
      const { target } = await router.attempt(targets, new AbortController().signal, async ({ provider: { name } }) => {
        outcome[name]++
        await sleep(1)
      })
      router.report(target, undefined, { prompt_tokens: 150, completion_tokens: 50 })
    } catch (error) {
      if (error.status !== 429 || !(error.retryAfter > 0)) throw error
      outcome.refused++
    }
    await sleep(1)
  }
}
await Promise.all(Array.from({ length: callers }, caller))
await kv.close()
console.log(JSON.stringify(outcome))
