/**
 * What becomes of a server that is asked for 20 times what it can do: `npm run bench:overload [-- --seconds N] [--rude] [--connections N]`.
 *
 * The server (this file again, with UPSTREAM set) has core 0 to itself; load and mock upstream share core 1. Its capacity is the most
 * connections, doubled from level to level, up to which throughput grows and next to nothing is refused; `--connections` says it instead.
 * Each connection asks for a whole answer, which the upstream has at once, and a stream of 32 chunks, one each 10 ms, in turn, without
 * a pause. Under overload 20 times as many do the same, for 60 s; who is refused asks again after Retry-After, or at once if `--rude`.
 * Every body is checked to its end. Exits 1 where a bar is missed; raw figures are in `results/<time>-overload.json`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg } from 'node:os'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { chatBytes, connect } from './client.mjs'
import { bodyCheck, chatRequest } from './payload.mjs'
import { startMock } from './servers.mjs'

const SERVER_CORE = '0'
const LOAD_CORE = '1'
const KEY = 'gw-overload-0123456789abcdef'
const OPTIONS = { maxLoopDelayMs: 50 }

const STREAM = { chunks: 32, ms: 10 }
/** How much more than at its capacity is asked of the server. */
const TIMES = 20
/** Throughput grows from one level to the next, of twice the connections, if it grows by this. */
const GROWTH = 1.2
/** Connections to begin with, and milliseconds of each level. */
const FIRST_LEVEL = 32
const LEVEL_MS = 5_000
const CAPACITY_MS = 15_000
/** Milliseconds over which they begin. */
const SPREAD_MS = 1_000
/** New connections at a time: node:http takes one a turn, so that a crowd of them would wait for each other. */
const BATCH = 200

/** By what p99 may grow, and memory after the first half. */
const P99_BAR = 2
const RSS_BAR = 1.2

const MAX_REASONS = 5

async function serve(upstream) {
  const { resolve } = createRequire(new URL('../../examples/server/package.json', import.meta.url))
  const load = (name) => import(resolve(name))
  const { createUser, memoryKV } = await load('@turnpike/core')
  const { createGateway } = await load('@turnpike/gateway')
  const { createServer } = await load('@turnpike/http/node')
  const { createRouter, openai } = await load('@turnpike/providers')
  const { undiciTransport } = await load('@turnpike/providers/undici')

  const provider = openai({ apiKey: 'bench', baseURL: `${upstream}/v1`, models: [], transport: undiciTransport() })
  const kv = await memoryKV()
  let records = 0
  const gateway = createGateway({
    router: createRouter({ providers: [provider] }),
    kv,
    // Counted and not kept, so that memory tells of what runs.
    ledger: { append: async () => void records++, ready: async () => {} },
    ...OPTIONS,
  })
  const user = await createUser(kv, {})
  await gateway.keys.create(user.id, { name: 'bench', rateLimit: 1e9, key: KEY })
  const server = createServer(gateway).listen(0, '127.0.0.1')
  await once(server, 'listening')
  console.log(server.address().port)
  createInterface({ input: process.stdin })
    .on('line', () => console.log(records))
    .on('close', () => process.exit())
}

async function startServer(upstream) {
  // taskset becomes the server, so that the process id is the server's.
  const child = spawn('taskset', ['-c', SERVER_CORE, process.execPath, fileURLToPath(import.meta.url)], {
    env: { ...process.env, NODE_ENV: 'production', UPSTREAM: upstream },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  process.on('exit', () => child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const number = async () => Number((await once(lines, 'line'))[0])
  return {
    port: await number(),
    records() {
      child.stdin.write('\n')
      return number()
    },
    rssMB() {
      const [, kB] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
      return Math.round(Number(kB) / 1024)
    },
  }
}

const PROBE = Buffer.from('GET /health HTTP/1.1\r\nhost: x\r\n\r\n')

/** Connections that the server has taken. */
async function openAll(port, count) {
  const open = []
  while (open.length < count) {
    const more = Array.from({ length: Math.min(BATCH, count - open.length) }, () => connect(port))
    await Promise.all(more.map(({ ready }) => ready))
    await Promise.all(more.map(({ send }) => send(PROBE)))
    open.push(...more)
  }
  return open
}

/** p50 and p99 in whole milliseconds. */
function quantiles(times) {
  const sorted = Float64Array.from(times).toSorted()
  const at = (q) => Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0)
  return { p50: at(0.5), p99: at(0.99) }
}

/**
 * Each of `connections` asks for a chat and a stream in turn, for `ms`, as soon as it has its answer. Who is refused waits as told,
 * unless `rude`.
 */
async function load(server, connections, ms, rude = false) {
  const target = { port: server.port, headers: { authorization: `Bearer ${KEY}` } }
  const kinds = [undefined, STREAM].map((stream) => ({
    bytes: chatBytes(target, chatRequest(stream)),
    check: bodyCheck(stream),
    times: [],
  }))
  const refused = []
  const broken = []
  const rss = []
  const open = await openAll(server.port, connections)
  const recordsBefore = await server.records()
  const sampler = setInterval(() => rss.push(server.rssMB()), 1_000)
  const startedAt = performance.now()
  const until = startedAt + ms

  const ask = async (connection, { bytes, check, times }) => {
    const { status, body, ms, retryAfter } = await connection.send(bytes)
    if (status === 503) {
      refused.push(ms)
      if (!rude) await delay(Math.min(retryAfter * 1_000, until - performance.now()))
    } else if (status === 200 && check(body)) times.push(ms)
    else broken.push(`status ${status}: … ${body.slice(-200)}`)
  }
  const work = async (connection, i) => {
    await delay((SPREAD_MS * i) / connections)
    for (let turn = i; performance.now() < until; turn++) {
      try {
        await ask(connection, kinds[turn % kinds.length])
      } catch (error) {
        broken.push(error.message)
        connection = connect(server.port)
        await connection.ready
      }
    }
    connection.close()
  }
  await Promise.all(open.map(work))

  const seconds = (performance.now() - startedAt) / 1000
  clearInterval(sampler)
  const [chats, streams] = kinds.map(({ times }) => times)
  const accepted = [...chats, ...streams]
  return {
    connections,
    seconds,
    accepted: accepted.length,
    perSecond: accepted.length / seconds,
    refused: refused.length,
    broken: broken.length,
    reasons: [...new Set(broken)].slice(0, MAX_REASONS),
    unrecorded: accepted.length - ((await server.records()) - recordsBefore),
    all: quantiles(accepted),
    chats: quantiles(chats),
    streams: quantiles(streams),
    refusals: quantiles(refused),
    rss,
  }
}

function show(name, { connections, perSecond, accepted, refused, broken, rss, ...times }) {
  const inWords = ['all', 'chats', 'streams', 'refusals']
    .map((kind) => `${kind} ${times[kind].p50} / ${times[kind].p99}`)
    .join(', ')
  console.log(
    `${name}: ${connections} connections, ${Math.round(perSecond)}/s; ${accepted} accepted, ${refused} refused, ${broken} broken; ` +
      `p50 / p99 in ms: ${inWords}; ${Math.min(...rss)} to ${Math.max(...rss)} MB`,
  )
}

/** The most connections up to which throughput grows and next to nothing is refused. */
async function findCapacity(server) {
  let best
  for (let connections = FIRST_LEVEL; ; connections *= 2) {
    const level = await load(server, connections, LEVEL_MS)
    show('level', level)
    if (best && (level.refused > level.accepted / 100 || level.perSecond < best.perSecond * GROWTH))
      return best.connections
    best = level
  }
}

const largest = (values) => Math.max(...values)

function checkBars(capacity, overload) {
  const { rss, reasons, broken, unrecorded } = overload
  const half = Math.floor(rss.length / 2)
  const growth = largest(rss.slice(half)) / largest(rss.slice(0, half))
  const p99 = overload.all.p99 / capacity.all.p99
  return [
    { ok: overload.refused > 0, text: `${overload.refused} refused` },
    { ok: broken === 0, text: `${broken} accepted requests broken, bar 0 ${reasons.join('; ')}` },
    { ok: unrecorded === 0, text: `${unrecorded} accepted requests without a record, bar 0` },
    { ok: p99 <= P99_BAR, text: `p99 of accepted requests ${p99.toFixed(2)} times that at capacity, bar ${P99_BAR}` },
    { ok: growth <= RSS_BAR, text: `memory of the second half ${growth.toFixed(2)} times the first, bar ${RSS_BAR}` },
  ]
}

async function main() {
  const { values: flags } = parseArgs({
    options: {
      seconds: { type: 'string', default: '60' },
      rude: { type: 'boolean', default: false },
      connections: { type: 'string' },
    },
  })
  execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' })
  const here = fileURLToPath(new URL('.', import.meta.url))
  const startedAt = new Date().toISOString().replaceAll(':', '-').slice(0, 19)
  const loadBefore = loadavg()[0]
  const server = await startServer(await startMock())

  // V8 takes some thousands of requests to reach its pace.
  await load(server, FIRST_LEVEL, LEVEL_MS)
  const connections = flags.connections ? Number(flags.connections) : await findCapacity(server)
  const capacity = await load(server, connections, CAPACITY_MS)
  show('capacity', capacity)
  const overload = await load(server, connections * TIMES, Number(flags.seconds) * 1000, flags.rude)
  show('overload', overload)

  const verdicts = checkBars(capacity, overload)
  for (const { ok, text } of verdicts) console.log(`${ok ? 'ok   ' : 'FAIL '} ${text}`)
  const facts = { startedAt, flags, options: OPTIONS, node: process.version, cpu: cpus()[0].model, load: loadBefore }
  mkdirSync(`${here}results`, { recursive: true })
  const file = `${here}results/${startedAt}-overload.json`
  writeFileSync(file, JSON.stringify({ ...facts, verdicts, capacity, overload }, null, 1))
  process.exit(verdicts.every(({ ok }) => ok) ? 0 : 1)
}

const { UPSTREAM } = process.env
await (UPSTREAM ? serve(UPSTREAM) : main())
