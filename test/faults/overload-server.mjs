// The gateway composed as in examples/server, with the options of OPTIONS and two keys. It prints its address and the keys as JSON.
import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createRouter, fetchTransport, openai } from '@turnpike/providers'

const isBun = 'Bun' in globalThis
const { OPENAI_BASE_URL: baseURL, OPTIONS } = process.env

const transport = isBun ? fetchTransport() : (await import('@turnpike/providers/undici')).undiciTransport()
const kv = await memoryKV()
const gateway = createGateway({
  router: createRouter({ providers: [openai({ apiKey: 'sk-upstream', baseURL, transport })] }),
  kv,
  ...JSON.parse(OPTIONS),
})
const user = await createUser(kv, {})
const make = async (name) => (await gateway.keys.create(user.id, { name, rateLimit: 1_000_000 })).key
const keys = [await make('one'), await make('two')]

async function listenOnNode() {
  const { createServer } = await import('@turnpike/http/node')
  const server = createServer(gateway)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server.address().port
}

const listenOnBun = () =>
  globalThis.Bun.serve({
    fetch: (request) => gateway.fetch(request),
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
  }).port

const port = isBun ? listenOnBun() : await listenOnNode()
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}`, keys }))
