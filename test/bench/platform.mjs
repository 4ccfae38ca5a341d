/**
 * The platform: `npm run bench:platform [-- --check]`. README.md tells how it measures. It prints the CPU of an authenticated request beside a
 * bare server of node:http, and on each store the times of pages and sign-ins among 1e5 users, of projects with many tasks and messages, and of changes of one
 * task by many clients.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'
import { createUser, memoryKV } from '../../packages/core/dist/index.js'
import { createPlatform, passwordAuth } from '../../packages/platform/dist/index.js'
import { openStorage } from 'turnpike'
import { connect } from './client.mjs'

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    users: { type: 'string', default: '100000' },
    messages: { type: 'string', default: '100000' },
  },
})
const file = (name) => fileURLToPath(new URL(name, import.meta.url))

const CONNECTIONS = 64
/** Clients that change tasks at once, and how often each does. */
const [CHANGING, CHANGES] = [16, 100]
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
async function costOf(server, path, headers, expected = 200) {
  const bytes = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers}\r\n`)
  const connections = Array.from({ length: CONNECTIONS }, () => connect(server.port))
  await Promise.all(connections.map(({ ready }) => ready))
  const load = async (ms) => {
    const until = performance.now() + ms
    let requests = 0
    await Promise.all(
      connections.map(async (connection) => {
        while (performance.now() < until) {
          const { status, body } = await connection.send(bytes)
          if (status !== expected) throw new Error(`${status} ${body}`)
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
  const status = `/api/tasks/${platform.task}/status`
  const list = `/api/tasks?projectId=${platform.project}`
  const authorized = { headers: { authorization: `Bearer ${platform.token}` } }
  const known = (await fetch(`http://127.0.0.1:${platform.port}${list}`, authorized)).headers.get('etag')
  const unchanged = `if-none-match: ${known}\r\n`
  const rounds = []
  for (let round = 0; round < Number(flags.rounds); round++) {
    const costs = {
      bare: await costOf(bare, '/api/account', bearer),
      bearer: await costOf(platform, '/api/account', bearer),
      cookie: await costOf(platform, '/api/account', cookie),
      status: await costOf(platform, status, bearer),
      bareUnchanged: await costOf(bare, list, bearer + unchanged, 304),
      unchanged: await costOf(platform, list, bearer + unchanged, 304),
      unchangedByCookie: await costOf(platform, list, cookie + unchanged, 304),
    }
    console.log(
      Object.entries(costs)
        .map(([name, cost]) => `${name} ${cost.toFixed(1)} µs`)
        .join('  '),
    )
    rounds.push(costs)
  }
  await Promise.all([bare.stop(), platform.stop()])
  for (const [name, what, most, than = 'bare'] of [
    ['bearer', 'GET /api/account by bearer', 3],
    ['cookie', 'GET /api/account by cookie', 3],
    ['status', 'GET /api/tasks/{id}/status', 2.5],
    ['unchanged', 'GET /api/tasks as 304 by bearer', 1.5, 'bareUnchanged'],
    ['unchangedByCookie', 'GET /api/tasks as 304 by cookie', 1.5, 'bareUnchanged'],
  ])
    hold(`${what}, CPU ÷ bare node:http`, median(rounds.map((round) => round[name] / round[than])), most)
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
async function timeOf(task, count = TIMES) {
  const times = []
  for (let i = 0; i < count; i++) {
    const begin = performance.now()
    await task(i)
    times.push(performance.now() - begin)
  }
  return median(times)
}

/** @param own milliseconds of a sign-in that are not the store's; @returns those of this one */
async function users(name, kv, own = 0) {
  const count = Number(flags.users)
  // No work for a password: what is left is that of the store and of signing the token.
  const hasher = { hash: async () => 'x', verify: async () => true, needsRehash: () => false }
  const identity = passwordAuth({ kv, hasher })
  const platform = createPlatform({ kv, identity, apiRateLimits: { user: 1e9, address: 1e9 } })
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
  const time = await timeOf(() => signIn(random()))
  hold(`${name}: ms, the store's part of a sign-in (${time.toFixed(2)} without its hash)`, time - own, 5)
  return time
}

/** Projects with 1,000 and 10,000 tasks, and a conversation with many messages. */
async function work(name, kv) {
  const user = (await createUser(kv, { name: 'Ada' })).id
  const identity = { authenticate: () => ({ userId: user, via: 'custom' }) }
  const { fetch, operations } = createPlatform({ kv, identity, apiRateLimits: { user: 1e9, address: 1e9 } })
  const { projects, tasks, conversations } = operations
  const projectOf = async (count) => {
    const { id } = await projects.create(user, { name: `${count} tasks` })
    await many(count, (i) => tasks.create(user, id, { title: `Task ${i}`, description: 'x'.repeat(200) }))
    return id
  }
  const [small, large] = [await projectOf(1_000), await projectOf(10_000)]
  const { thread, id: conversation } = await conversations.get(user, large)
  const messages = Number(flags.messages)
  const begin = parseInt(conversation.replaceAll('-', '').slice(0, 12), 16)
  const timestamp = new Date(begin).toISOString()
  const idOf = (i) => {
    const time = (begin + i).toString(16).padStart(12, '0')
    return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
  }
  await many(messages / 500, (part) =>
    kv.commit({
      set: Array.from({ length: 500 }, (_, i) => {
        const message = { id: idOf(part * 500 + i), role: 'user', text: 'x'.repeat(200), timestamp }
        return { key: ['in-project', large, 'message', thread, message.id], value: message }
      }),
    }),
  )
  const ask = async (path) => {
    const response = await fetch(new Request(`http://127.0.0.1${path}`))
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
    return text
  }
  const show = (what, ms) => console.log(`     ${name}: ms, ${what}: ${ms.toFixed(1)}`)
  hold(`${name}: ms, a list of 1,000 tasks`, await timeOf(() => ask(`/api/tasks?projectId=${small}`)), 30)
  show('a list of 10,000 tasks', await timeOf(() => ask(`/api/tasks?projectId=${large}`), 10))
  show('100 tasks of 10,000', await timeOf(() => ask(`/api/tasks?projectId=${large}&limit=100`)))
  show(`the last 50 of ${messages} messages`, await timeOf(() => ask(`/api/projects/${large}/conversation?limit=50`)))
  show(`a conversation of ${messages} messages`, await timeOf(() => ask(`/api/projects/${large}/conversation`), 3))
  show('sending a message to it', await timeOf(() => conversations.send(user, large, { text: 'x' })))
  const { id } = await tasks.create(user, small, { title: 'Changed' })
  show('changing a task', await timeOf((i) => tasks.update(user, id, () => ({ output: `${i}` }))))
  const start = performance.now()
  await projects.remove(user, large)
  show(`deleting a project with 10,000 tasks and ${messages} messages`, performance.now() - start)
}

/** The CPU time of a change of a task where all clients change the same one, beside that where each changes one of its own. */
async function changes(name, kv) {
  const user = (await createUser(kv, { name: 'Ada' })).id
  const identity = { authenticate: () => ({ userId: user, via: 'custom' }) }
  const { fetch, operations } = createPlatform({ kv, identity, apiRateLimits: { user: 1e9, address: 1e9 } })
  const { id: project } = await operations.projects.create(user, { name: 'Changes' })
  const ids = []
  for (let i = 0; i < CHANGING; i++) ids.push((await operations.tasks.create(user, project, { title: `${i}` })).id)
  const patch = async (id, output) => {
    const body = JSON.stringify({ output })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(new Request(`http://127.0.0.1/api/tasks/${id}`, { method: 'PATCH', headers, body }))
    const text = await response.text()
    if (response.status !== 200) throw new Error(text)
  }
  const costOfChanges = async (idOf) => {
    const before = process.cpuUsage()
    const client = async (_, i) => {
      for (let at = 0; at < CHANGES; at++) await patch(idOf(i), `${i} ${at}`)
    }
    await Promise.all(Array.from({ length: CHANGING }, client))
    const used = process.cpuUsage(before)
    return (used.user + used.system) / (CHANGING * CHANGES)
  }
  await costOfChanges((i) => ids[i])
  const ratios = []
  for (let round = 0; round < Number(flags.rounds); round++) {
    const apart = await costOfChanges((i) => ids[i])
    const together = await costOfChanges(() => ids[0])
    console.log(
      `     ${name}: a change by one of ${CHANGING}: ${apart.toFixed(0)} µs, of the same task ${together.toFixed(0)} µs`,
    )
    ratios.push(together / apart)
  }
  hold(`${name}: a change of the same task by ${CHANGING}, CPU ÷ of different tasks`, median(ratios), 2)
}

await requests()
const folder = await mkdtemp(join(tmpdir(), 'turnpike-bench-'))
const { kv: onDisk } = await openStorage(`fs:${folder}/store`)
await changes('fs', onDisk)
await onDisk.close()
await rm(folder, { recursive: true })
const memory = await memoryKV()
const own = await users('memory', memory)
await work('memory', memory)
await changes('memory', memory)
for (const [name, module, startServer] of [
  ['redis', '../support/redis.ts', (m) => m.startRedis({ appendfsync: ['always'] })],
  ['postgres', '../support/postgres.ts', (m) => m.startPostgres()],
]) {
  const server = await startServer((await runnerImport(file(module))).module)
  const { kv } = await openStorage(server.url)
  await users(name, kv, own)
  await work(name, kv)
  await changes(name, kv)
  await kv.close()
  await server.stop()
}
if (failures.length > 0 && flags.check) process.exitCode = 1
