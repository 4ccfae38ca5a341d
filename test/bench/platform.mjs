/**
 * The platform: `npm run bench:platform [-- --check]`. README.md tells how it measures. It prints the CPU of an authenticated request beside a
 * bare server of node:http, and the times of pages and sign-ins among 1e5 users on each store.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'
import { createUser, memoryKV } from '../../packages/core/dist/index.js'
import { createPlatform, passwordAuth } from '../../packages/platform/dist/index.js'
import { openStorage } from '../../examples/server/dist/open-storage.js'
import { connect } from './client.mjs'

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    users: { type: 'string', default: '100000' },
  },
})
const file = (name) => fileURLToPath(new URL(name, import.meta.url))

const CONNECTIONS = 64
const MS = 3_000
const TIMES = 200

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const failures = []
const hold = (what, value, most) => {
  const ok = value <= most
  if (!ok) failures.push(what)
  console.log(`${ok ? 'ok   ' : 'FAIL '} ${what}: ${value.toFixed(2)} (at most ${most})`)
}

/** Starts platform-server.mjs. */
async function start(kind) {
  const child = spawn(process.execPath, [file('platform-server.mjs'), kind], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => JSON.parse((await lines.next()).value)
  const server = await next()
  return {
    ...server,
    cpu() {
      child.stdin.write('\n')
      return next()
    },
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

/** The CPU time of a server per request, in microseconds, where `CONNECTIONS` clients ask one after another. */
async function costOf(server, headers) {
  const bytes = Buffer.from(`GET /api/account HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`)
  const connections = Array.from({ length: CONNECTIONS }, () => connect(server.port))
  await Promise.all(connections.map(({ ready }) => ready))
  const load = async (ms) => {
    const until = performance.now() + ms
    let requests = 0
    await Promise.all(
      connections.map(async (connection) => {
        while (performance.now() < until) {
          const { status, body } = await connection.send(bytes)
          if (status !== 200) throw new Error(`${status} ${body}`)
          requests++
        }
      }),
    )
    return requests
  }
  await load(MS / 3)
  const before = await server.cpu()
  const requests = await load(MS)
  const cost = ((await server.cpu()) - before) / requests
  for (const connection of connections) connection.close()
  return cost
}

async function requests() {
  const [bare, platform] = [await start('bare'), await start('platform')]
  const [bearer, cookie] = [`authorization: Bearer ${platform.token}\r\n`, `cookie: ${platform.cookie}\r\n`]
  const rounds = []
  for (let round = 0; round < Number(flags.rounds); round++) {
    const floor = await costOf(bare, bearer)
    const costs = { bare: floor, bearer: await costOf(platform, bearer), cookie: await costOf(platform, cookie) }
    console.log(
      Object.entries(costs)
        .map(([name, cost]) => `${name} ${cost.toFixed(1)} µs`)
        .join('  '),
    )
    rounds.push(costs)
  }
  await Promise.all([bare.stop(), platform.stop()])
  for (const name of ['bearer', 'cookie'])
    hold(
      `GET /api/account by ${name}, CPU ÷ bare node:http`,
      median(rounds.map((round) => round[name] / round.bare)),
      3,
    )
}

/** Runs `task` with 0 to `count` - 1, up to 64 at a time. */
async function many(count, task) {
  let next = 0
  await Promise.all(
    Array.from({ length: 64 }, async () => {
      while (next < count) await task(next++)
    }),
  )
}

/** p50 of so many runs, one after another, in milliseconds. */
async function timeOf(task) {
  const times = []
  for (let i = 0; i < TIMES; i++) {
    const begin = performance.now()
    await task(i)
    times.push(performance.now() - begin)
  }
  return median(times)
}

async function users(name, kv) {
  const count = Number(flags.users)
  // No work for a password: what is left is that of the store and of signing the token.
  const hasher = { hash: async () => 'x', verify: async () => true, needsRehash: () => false }
  const identity = passwordAuth({ kv, hasher })
  const platform = createPlatform({ kv, identity })
  const emailOf = (i) => `person-${i}@example.org`
  const begin = performance.now()
  await many(count, async (i) => {
    const id = `${String(i).padStart(12, '0')}`
    const also = [{ key: ['password', id], value: { hash: 'x' } }]
    await createUser(kv, { id, email: emailOf(i), role: i === 0 ? 'admin' : 'user' }, { also })
  })
  console.log(`${name}: ${count} users after ${((performance.now() - begin) / 1_000).toFixed(0)} s`)
  const head = { method: 'POST', header: () => undefined, ip: () => '' }
  const signIn = (i) => identity.sessions.signIn({ email: emailOf(i), password: 'correct horse' }, head)
  const { session } = await signIn(0)
  const headers = { authorization: `Bearer ${session.access_token}` }
  const ask = async (path) => {
    const response = await platform.fetch(new Request(`http://127.0.0.1${path}`, { headers }))
    if (response.status !== 200) throw new Error(await response.text())
    return response.json()
  }
  const random = () => Math.floor(Math.random() * count)
  hold(
    `${name}: ms, a page of 100 users`,
    await timeOf(() => ask(`/api/users?limit=100&after=${String(random()).padStart(12, '0')}`)),
    20,
  )
  hold(`${name}: ms, a user by e-mail`, await timeOf(() => ask(`/api/users?email=${emailOf(random())}`)), 20)
  hold(`${name}: ms, a sign-in without its hash`, await timeOf(() => signIn(random())), 5)
}

await requests()
await users('memory', await memoryKV())
for (const [name, module, startServer] of [
  ['redis', '../support/redis.ts', (m) => m.startRedis({ appendfsync: ['always'] })],
  ['postgres', '../support/postgres.ts', (m) => m.startPostgres()],
]) {
  const server = await startServer((await runnerImport(file(module))).module)
  const { kv } = await openStorage(server.url)
  await users(name, kv)
  await kv.close()
  await server.stop()
}
if (failures.length > 0 && flags.check) process.exitCode = 1
