/**
 * Turnpike as the reference server composes it (examples/server), without a request log. Environment variables: MODE is `server` (the
 * listener of the reference server on Node), `hattip` (HatTip's adapter alone) or `bun`; STORAGE is the store of the ledger, as in the server,
 * default in memory; LEDGER=off disables the ledger. Commands on stdin: `records USER`, `profile`, `profile FILE`, `exit`.
 */
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'

const { MODE, PORT, UPSTREAM, KEY } = process.env
const USER = '00000000-0000-7000-8000-000000000001'

// The built packages, as the reference server finds them.
const { resolve } = createRequire(new URL('../../examples/server/package.json', import.meta.url))
const load = (name) => import(resolve(name))

const { createUser, memoryKV, usageLedger } = await load('@turnpike/core')
const { createGateway } = await load('@turnpike/gateway')
const { anthropic, createRouter, fetchTransport, google, googleEndpoints, openai } = await load('@turnpike/providers')

const transport = MODE === 'bun' ? fetchTransport() : (await load('@turnpike/providers/undici')).undiciTransport()
const { kv, rateLimiter } = process.env.STORAGE
  ? await (await load('turnpike')).openStorage(process.env.STORAGE)
  : { kv: await memoryKV() }
/** A ledger that records nothing. */
const noLedger = { append: async () => {}, failed() {}, ready: async () => {}, totals: async () => ({}) }
// The upstream has no list of models.
const to = (path, model) => ({ apiKey: 'bench', baseURL: UPSTREAM + path, models: [model], transport })
const gateway = createGateway({
  router: createRouter({
    providers: [
      openai(to('/v1', 'gpt-4o-mini')),
      anthropic(to('', 'claude-sonnet-4-5')),
      google({ ...to('/v1beta', 'gemini-2.5-flash'), endpoints: googleEndpoints() }),
    ],
  }),
  kv,
  ...(rateLimiter && { rateLimiter }),
  ledger: process.env.LEDGER === 'off' ? noLedger : usageLedger(kv),
  onError: (error) => console.error(error),
})
await createUser(kv, { id: USER, role: 'admin', name: 'Bench' })
await gateway.keys.create(USER, { name: 'bench', rateLimit: 1e9, key: KEY })

async function listenOnNode() {
  const { createServer } = await load('@turnpike/http/node')
  const { serverListener } = await load('@turnpike/example-server/listener')
  const { hattipListener } = await load('@turnpike/example-server/hattip-listener')
  const compose = { server: (gateway, rest) => serverListener(gateway.node, rest), hattip: hattipListener }[MODE]
  const listener = compose(gateway, { handler: gateway.hattip, origin: 'http://localhost' })
  createServer(gateway, { listener }).listen(PORT, '127.0.0.1')
}

if (MODE === 'bun') {
  const { default: bunAdapter } = await load('@hattip/adapter-bun')
  Bun.serve({ ...bunAdapter(gateway.hattip), hostname: '127.0.0.1', port: PORT, idleTimeout: 0 })
} else await listenOnNode()

let stopProfile
/** Starts a CPU profile, or ends it and writes it to `file`. */
async function profile(file) {
  if (file) return stopProfile(file)
  const { Session } = await import('node:inspector/promises')
  const { writeFile } = await import('node:fs/promises')
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.setSamplingInterval', { interval: 200 })
  await session.post('Profiler.start')
  stopProfile = async (file) => {
    const { profile } = await session.post('Profiler.stop')
    session.disconnect()
    await writeFile(file, JSON.stringify(profile))
  }
}

const commands = {
  records: async () => (await gateway.ledger.totals('user', USER)).requests,
  profile,
}
const lines = createInterface({ input: process.stdin })
lines.on('line', async (line) => {
  const [command, argument] = line.split(' ')
  console.log(JSON.stringify((await commands[command](argument)) ?? null))
})
lines.on('close', () => process.exit())
