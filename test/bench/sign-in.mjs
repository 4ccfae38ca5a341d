/**
 * Who signs in during a flood: `npm run bench:sign-in [-- --check] [--attackers N] [--rounds N] [--pause MS] [--store redis] [--workers N] [--ms N]`.
 *
 * Attackers send wrong passwords to the reference server, each from a network of its own kind and without waiting for anybody: a third of
 * them for the administrator's e-mail, the others for e-mails that nobody has. A quarter connect from addresses of 127.0.0.0/8; the others
 * name theirs in `X-Forwarded-For`, as the proxy would: single IPv4 addresses, 20 networks of one IPv6 /59, and a /48 whose networks change
 * with each request. Meanwhile, from the first second on, the administrator signs in by the right password, once a round from the known
 * device and once from a network that nobody has seen. Passwords cost what they cost by default; everything shares the machine. With
 * `--check`, exits 1 unless all sign-ins succeed within `--ms` (3,000) at the first attempt.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { cpus, loadavg } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const EMAIL = 'admin@localhost'
const PASSWORD = 'the password of the bench'

const { values: flags } = parseArgs({
  options: {
    attackers: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '50' },
    /** Milliseconds that an attacker waits after an answer. */
    pause: { type: 'string', default: '0' },
    store: { type: 'string', default: 'memory' },
    workers: { type: 'string', default: '1' },
    ms: { type: 'string', default: '3000' },
    check: { type: 'boolean', default: false },
    /** Set for the process of the attackers. */
    port: { type: 'string' },
  },
})
const file = (name) => fileURLToPath(new URL(name, import.meta.url))

/** Sends a sign-in. @returns its status and cookies */
function signIn(port, { email, password, from, cookie, ...options }) {
  const body = JSON.stringify({ email, password })
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...(from && { 'x-forwarded-for': from }),
    ...(cookie && { cookie }),
  }
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method: 'POST', path: '/api/auth', headers, ...options }, (response) => {
      response.resume().on('end', () => {
        const cookies = response.headers['set-cookie'] ?? []
        resolve({ status: response.statusCode, cookie: cookies.map((one) => one.split(';', 1)[0]).join('; ') })
      })
    })
      .on('error', reject)
      .end(body)
  })
}

/** Where the attacker `i` sends its request `n` from. */
function sourceOf(i, n) {
  const part = i >> 2
  if (i % 4 === 0) return { localAddress: `127.${1 + (part % 50)}.${part}.7` }
  if (i % 4 === 1) return { from: `100.64.${part}.${i % 250}` }
  if (i % 4 === 2) return { from: `2001:db8:0:${(part % 20).toString(16)}::${i}` }
  return { from: `2001:db8:1:${(n % 65_536).toString(16)}::${i}` }
}

async function attack(port) {
  const statuses = {}
  const count = (status) => (statuses[status] = (statuses[status] ?? 0) + 1)
  const attacker = async (i) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let n = 0; ; n++) {
      const email = i % 3 === 0 ? EMAIL : `nobody-${i}-${n}@example.org`
      const attempt = signIn(port, { email, password: `guess ${n}`, agent, ...sourceOf(i, n) })
      count(
        await attempt.then(
          ({ status }) => status,
          (error) => error.code,
        ),
      )
      await delay(Number(flags.pause))
    }
  }
  for (let i = 0; i < Number(flags.attackers); i++) void attacker(i)
  process.on('message', () => process.send(statuses))
}

async function startServer() {
  const store = flags.store === 'memory' ? { url: 'memory', stop() {} } : await startStore()
  const child = spawn(process.execPath, [file('../../examples/server/dist/node.js')], {
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      HOST: '127.0.0.1',
      LOG: 'silent',
      STORAGE: store.url,
      FILES: 'memory',
      WORKERS: flags.workers,
      TRUSTED_HOPS: '1',
      ADMIN_PASSWORD: PASSWORD,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  let output = ''
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    output += piece
    const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(output)
    if (found) return { port: Number(found[1]), stop: async () => (child.kill('SIGKILL'), store.stop()) }
  }
  throw new Error('The server does not start')
}

async function startStore() {
  const { runnerImport } = await import('vite')
  const { startRedis } = (await runnerImport(file('../support/redis.ts'))).module
  return startRedis()
}

async function measure() {
  const server = await startServer()
  const own = { email: EMAIL, password: PASSWORD }
  const { status, cookie } = await signIn(server.port, { ...own, from: '203.0.113.1' })
  if (status !== 200) throw new Error(`The first sign-in is answered with ${status}`)
  const attackers = fork(file('sign-in.mjs'), [...process.argv.slice(2), '--port', String(server.port)])
  process.on('exit', () => attackers.kill('SIGKILL'))
  const answers = async () => {
    attackers.send('statuses')
    return (await once(attackers, 'message'))[0]
  }
  const kinds = {
    'known device': () => ({ cookie, from: '203.0.113.9' }),
    'unknown quiet network': (round) => ({ from: `198.${18 + (round >> 8)}.${round & 255}.1` }),
  }
  const results = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]))
  await delay(1_000)
  for (let round = 0; round < Number(flags.rounds); round++) {
    await Promise.all(
      Object.entries(kinds).map(async ([kind, of]) => {
        const start = performance.now()
        const { status } = await signIn(server.port, { ...own, ...of(round) })
        results[kind].push({ status, ms: performance.now() - start })
      }),
    )
    await delay(200)
  }
  const statuses = await answers()
  attackers.kill('SIGKILL')
  await server.stop()
  console.log(`${cpus().length} cores, load ${loadavg()[0].toFixed(1)}, ${flags.store}, ${flags.workers} worker(s)`)
  console.log(`${flags.attackers} attackers were answered: ${JSON.stringify(statuses)}`)
  let failed = 0
  for (const [kind, all] of Object.entries(results)) {
    const good = all.filter(({ status, ms }) => status === 200 && ms <= Number(flags.ms))
    const times = all.map(({ ms }) => Math.round(ms)).toSorted((a, b) => a - b)
    const refused = all.filter(({ status }) => status !== 200).map(({ status }) => status)
    failed += all.length - good.length
    console.log(
      `${kind}: ${good.length} of ${all.length} within ${flags.ms} ms; ms p50 ${times[times.length >> 1]}, highest ${times.at(-1)}${refused.length > 0 ? `; refused: ${refused.join(' ')}` : ''}`,
    )
  }
  return failed === 0
}

if (flags.port) await attack(Number(flags.port))
else process.exit((await measure()) || !flags.check ? 0 : 1)
