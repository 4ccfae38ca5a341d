// The gateway on HatTip's adapters, with a ledger that only counts its records, so that any growth of the heap is a leak.
// It prints its address. For each line on standard input it collects garbage and prints the remaining heap.
import { createInterface } from 'node:readline'
import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createRouter, fetchTransport, openai } from '@turnpike/providers'

const isBun = 'Bun' in globalThis
const { OPENAI_BASE_URL, GATEWAY_KEY } = process.env

const transport = isBun ? fetchTransport() : (await import('@turnpike/providers/undici')).undiciTransport()
const kv = await memoryKV()
let records = 0
const gateway = createGateway({
  router: createRouter({
    providers: [openai({ apiKey: 'sk-upstream', baseURL: OPENAI_BASE_URL, models: ['gpt-4o-mini'], transport })],
  }),
  kv,
  ledger: {
    append: async () => void records++,
    ready: async () => {},
  },
})
const user = await createUser(kv, {})
await gateway.keys.create(user.id, { name: 'leaks', rateLimit: 1_000_000, key: GATEWAY_KEY })

async function listenOnNode() {
  const { hattipListener } = await import('@turnpike/example-server/hattip-listener')
  const { createServer } = await import('@turnpike/http/node')
  const server = createServer(gateway, { listener: hattipListener(gateway, { origin: 'http://localhost' }) })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

async function listenOnBun() {
  const server = import.meta.resolve('../../examples/server/package.json')
  const { default: bunAdapter } = await import(
    globalThis.Bun.resolveSync('@hattip/adapter-bun', new URL('.', server).pathname)
  )
  return globalThis.Bun.serve({ ...bunAdapter(gateway.hattip), hostname: '127.0.0.1', port: 0, idleTimeout: 0 }).port
}

/** Bytes of the heap that are in use after everything that can go is gone. */
async function heapUsed() {
  // What a collection finalises only goes with the next one, promises settle between them, and V8 drops code that has not run
  // for some collections: with three of them, Node 22 kept it for six cycles and then fell below the first.
  for (let i = 0; i < 12; i++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    if (isBun) globalThis.Bun.gc(true)
    else globalThis.gc()
  }
  return isBun ? (await import('bun:jsc')).heapStats().heapSize : process.memoryUsage().heapUsed
}

createInterface({ input: process.stdin }).on('line', async () => {
  console.log(JSON.stringify({ heapUsed: await heapUsed(), rss: process.memoryUsage().rss, records }))
})
console.log(`http://127.0.0.1:${isBun ? await listenOnBun() : await listenOnNode()}`)
