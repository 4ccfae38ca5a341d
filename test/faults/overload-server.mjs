// The gateway composed as in examples/server, with the options of OPTIONS, two keys of two users and a third of the first.
// It prints its address and the keys as JSON, and then a line for each usage record.
import { createUser, memoryKV, usageLedger } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createRouter, fetchTransport, openai } from '@turnpike/providers'

const isBun = 'Bun' in globalThis
const { OPENAI_BASE_URL: baseURL, OPTIONS } = process.env

const transport = isBun ? fetchTransport() : (await import('@turnpike/providers/undici')).undiciTransport()
const kv = await memoryKV()
const ledger = usageLedger(kv)
const gateway = createGateway({
  router: createRouter({ providers: [openai({ apiKey: 'sk-upstream', baseURL, models: ['gpt-4o-mini'], transport })] }),
  kv,
  ledger: {
    ...ledger,
    async append(record, hold) {
      await ledger.append(record, hold)
      console.log(JSON.stringify(record))
    },
  },
  ...JSON.parse(OPTIONS),
})
const users = [await createUser(kv, {}), await createUser(kv, {})]
const make = async (user, name) => (await gateway.keys.create(user.id, { name, rateLimit: 1_000_000 })).key
const keys = [await make(users[0], 'one'), await make(users[1], 'two'), await make(users[0], 'more')]

async function listenOnNode() {
  const { createServer } = await import('@turnpike/http/node')
  const server = createServer(gateway, JSON.parse(OPTIONS))
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

const port = await (isBun ? listenOnBun() : listenOnNode())
console.log(JSON.stringify({ url: `http://127.0.0.1:${port}`, keys }))
