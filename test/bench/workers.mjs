/**
 * What more workers carry on each store that they can share: `npm run bench:workers [-- --rounds N] [--seconds N] [--connections N] [STORE …]`.
 *
 * The reference server, the store, the load and the mock upstream share the machine: the figure is what a host with everything on it carries.
 * Each round starts the server with 1, 2 and 4 workers on every store in turn, so that ratios are of one round. Each connection asks for
 * whole answers without a pause. SQLite needs Node 22.13. Exits 1 where answers are broken or usage records are missing.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { usageLedger } from '@turnpike/core'
import { runnerImport } from 'vite'
import { openStorage } from 'turnpike'
import { chatBytes, connect } from './client.mjs'
import { bodyCheck, chatRequest } from './payload.mjs'
import { cpuSeconds, startMock } from './servers.mjs'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const { startRedis } = (await runnerImport(file('../support/redis.ts'))).module
const { startPostgres } = (await runnerImport(file('../support/postgres.ts'))).module

const WORKERS = [1, 2, 4]
/** Answers of each worker before it is measured: V8 takes some thousands to reach its pace. */
const WARM_UP = 3_000
const KEY = 'gw-bench-0123456789abcdef0123456789'
const ADMIN_ID = '00000000-0000-7000-8000-000000000001'

const { values: flags, positionals: only } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    connections: { type: 'string', default: '64' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'turnpike-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
let files = 0
/** By name: how a store is started; `url` is its `STORAGE`. */
const all = {
  'redis everysec': () => startRedis({ appendfsync: ['everysec'] }),
  'redis always': () => startRedis({ appendfsync: ['always'] }),
  postgres: () => startPostgres(),
  ...(process.getBuiltinModule('node:sqlite') && {
    sqlite: async () => ({ url: `sqlite:${join(folder, String(files++))}`, stop() {} }),
  }),
}

const stores = Object.fromEntries(Object.entries(all).filter(([name]) => only.length === 0 || only.includes(name)))

let running
process.on('exit', () => running?.kill('SIGKILL'))

async function startServer(STORAGE, workers, upstream) {
  const child = spawn(process.execPath, [file('../../examples/server/dist/node.js')], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'production',
      PORT: '0',
      NODE_NO_WARNINGS: '1',
      LOG: 'silent',
      STORAGE,
      WORKERS: String(workers),
      OPENAI_API_KEY: 'bench',
      OPENAI_BASE_URL: `${upstream}/v1`,
      OPENAI_MODELS: 'gpt-4o-mini',
      BOOTSTRAP_GATEWAY_KEY: KEY,
      BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000000',
      ADMIN_PASSWORD: 'the password of the bench',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running = child
  let output = ''
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    output += piece
    const port = /listening on http:\/\/[^:]+:(\d+)/.exec(output)?.[1]
    if (port === undefined) continue
    child.stdout.resume()
    const workerIds = () => execFileSync('pgrep', ['-P', child.pid], { encoding: 'utf8' }).trim().split('\n')
    const pids = [child.pid, ...(workers > 1 ? workerIds() : [])]
    return {
      port,
      cpu: () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0),
      async stop() {
        child.kill('SIGTERM')
        await once(child, 'exit')
      },
    }
  }
  throw new Error(`The server does not start: ${output}`)
}

/** Asks over all connections while `more`, which gets the answers so far and the seconds. @returns both */
async function load(port, more) {
  const bytes = chatBytes({ port, headers: { authorization: `Bearer ${KEY}` } }, chatRequest())
  const check = bodyCheck()
  let answers = 0
  const begun = performance.now()
  const seconds = () => (performance.now() - begun) / 1_000
  await Promise.all(
    Array.from({ length: Number(flags.connections) }, async () => {
      const connection = connect(port)
      await connection.ready
      while (more(answers, seconds())) {
        const { status, body } = await connection.send(bytes)
        if (status !== 200 || !check(body)) throw new Error(`status ${status}: ${body.slice(-200)}`)
        answers++
      }
      connection.close()
    }),
  )
  return { answers, seconds: seconds() }
}

async function recordsIn(STORAGE) {
  const { kv } = await openStorage(STORAGE)
  const { requests } = await usageLedger(kv).totals('user', ADMIN_ID)
  await kv.close()
  return requests
}

/** @returns answers a second, and CPU milliseconds of the server's processes per answer */
async function measure(start, workers, upstream) {
  const store = await start()
  const server = await startServer(store.url, workers, upstream)
  const warm = await load(server.port, (answers) => answers < WARM_UP * workers)
  const cpuBefore = server.cpu()
  const measured = await load(server.port, (_, seconds) => seconds < Number(flags.seconds))
  const cpu = server.cpu() - cpuBefore
  await server.stop()
  const missing = warm.answers + measured.answers - (await recordsIn(store.url))
  await store.stop()
  if (missing !== 0) throw new Error(`${missing} answers without a record`)
  return { perSecond: measured.answers / measured.seconds, cpuMs: (cpu * 1_000) / measured.answers }
}

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]
const range = (values, digits) =>
  `${median(values).toFixed(digits)} [${Math.min(...values).toFixed(digits)}..${Math.max(...values).toFixed(digits)}]`

const upstream = await startMock()
const rounds = Array.from({ length: Number(flags.rounds) }, () => ({}))
const loads = []
for (const round of rounds)
  for (const [name, start] of Object.entries(stores)) {
    round[name] = []
    for (const workers of WORKERS) {
      loads.push(loadavg()[0])
      const figures = await measure(start, workers, upstream)
      round[name].push(figures)
      console.error(`${name}, ${workers}: ${Math.round(figures.perSecond)}/s, ${figures.cpuMs.toFixed(2)} ms`)
    }
  }

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0].model}), Node ${process.version}, ` +
    `${flags.connections} connections, ${rounds.length} rounds, load before each ${Math.min(...loads).toFixed(1)} to ${Math.max(...loads).toFixed(1)}\n`,
)
const print = (...cells) => console.log(`| ${cells.join(' | ')} |`)
print('store', 'workers', 'answers a second', '× 1 worker', 'CPU of the server per answer, ms')
print(...Array(5).fill('---'))
for (const name of Object.keys(stores))
  for (const [i, workers] of WORKERS.entries()) {
    const figures = rounds.map((round) => round[name][i])
    print(
      name,
      workers,
      range(
        figures.map(({ perSecond }) => perSecond),
        0,
      ),
      range(
        figures.map(({ perSecond }, r) => perSecond / rounds[r][name][0].perSecond),
        2,
      ),
      range(
        figures.map(({ cpuMs }) => cpuMs),
        2,
      ),
    )
  }
process.exit()
