/**
 * The cost of the usage ledger: `npm run bench:ledger [-- --check] [--rounds N] [--only requests,data]`. README.md describes the method.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'

import { measure, tally } from './scenarios.mjs'
import { startMock, startServer } from './servers.mjs'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    only: { type: 'string', default: 'requests,data' },
  },
})
const { startRedis } = (await runnerImport(file('../support/redis.ts'))).module
const { startPostgres } = (await runnerImport(file('../support/postgres.ts'))).module
const { resolve } = createRequire(new URL('../../examples/server/package.json', import.meta.url))
const load = (name) => import(resolve(name))
const folder = mkdtempSync(join(tmpdir(), 'turnpike-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
let places = 0

/** Start a new store and return its `STORAGE` value, by name. */
const stores = {
  memory: async () => ({ url: '', stop() {} }),
  fs: async () => ({ url: `fs:${join(folder, String(places++))}`, stop() {} }),
  redis: () => startRedis({ appendfsync: ['always'] }),
  postgres: () => startPostgres(),
}

const verdicts = []
/** Checks a figure against its limit. */
const bar = (what, figure, unit, most) =>
  verdicts.push({
    ok: figure <= most,
    text: `${figure <= most ? 'ok  ' : 'FAIL'}  ${what}: ${figure.toFixed(2)}${unit} (at most ${most}${unit})`,
  })
const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const quantiles = (times) => {
  const sorted = times.toSorted((a, b) => a - b)
  return { p50: sorted[Math.floor(sorted.length / 2)], p99: sorted[Math.floor(sorted.length * 0.99)] }
}
const print = (...cells) => console.log(`| ${cells.join(' | ')} |`)

/** Times of single commits of the size that the ledger makes for one request. */
async function commitTimes(url) {
  const { openStorage } = await load('turnpike')
  const { kv } = await openStorage(url || 'memory')
  const times = []
  for (let i = 0; i < 300; i++) {
    const begun = performance.now()
    await kv.commit({
      set: [{ key: ['bench', String(i)], value: { some: 'value'.repeat(100) } }],
      sum: [{ key: ['sum'], add: { requests: 1 } }],
    })
    times.push(performance.now() - begun)
  }
  await kv.close()
  return quantiles(times)
}

const loads = {
  chat1: { connections: 1, ms: 2_500, sleeps: true },
  chat64: { connections: 64, ms: 4_000, sleeps: true },
  chat512: { connections: 512, ms: 5_000, sleeps: true },
}

/** Runs all loads against a gateway without a ledger and with a ledger in each store. */
async function requests() {
  const upstream = await startMock()
  const problems = []
  const commits = {}
  const run = async (name) => {
    const store = name === 'off' ? undefined : await stores[name]()
    const server = await startServer(
      'server',
      upstream,
      name === 'off' ? { LEDGER: 'off' } : store.url ? { STORAGE: store.url } : {},
    )
    const count = tally()
    const results = {}
    await measure(server.target, { connections: 64, ms: 5_000 }, count)
    for (const [load, scenario] of Object.entries(loads))
      results[load] = await measure(server.target, scenario, count, { cpu: server.cpu })
    if (name !== 'off' && (await server.ask('records')) !== count.sent) count.fail('records are not requests')
    await server.stop()
    if (store && !commits[name]) commits[name] = await commitTimes(store.url)
    await store?.stop()
    if (count.failed > 0) problems.push(`${name}: ${count.failures.join('; ')}`)
    return results
  }
  const rounds = []
  for (let round = 0; round < Number(flags.rounds); round++) {
    const results = {}
    for (const name of ['off', ...Object.keys(stores)]) {
      results[name] = await run(name)
      console.error(
        `${round + 1}/${flags.rounds} ${name}`,
        Object.entries(results[name])
          .map(
            ([load, { cpu, perSecond, latency }]) =>
              `${load} ${cpu.toFixed(0)} µs ${perSecond.toFixed(0)}/s p50 ${latency.p50.toFixed(2)} ms`,
          )
          .join(', '),
      )
    }
    rounds.push(results)
  }
  /** The median over the rounds of a figure, relative to the one without a ledger in the same round. */
  const against = (name, load, of) => median(rounds.map((round) => of(round[name][load], round.off[load])))
  console.log('\nAgainst the same gateway without a ledger:\n')
  print('ledger in', 'CPU × (64)', 'CPU × (512)', 'added p50, ms (1)', 'a commit, ms', 'throughput × (512)')
  print(...Array(6).fill('---'))
  for (const name of Object.keys(stores)) {
    const cpu = against(name, 'chat64', (a, b) => a.cpu / b.cpu)
    const added = against(name, 'chat1', (a, b) => a.latency.p50 - b.latency.p50)
    const pace = against(name, 'chat512', (a, b) => a.perSecond / b.perSecond)
    print(
      name,
      cpu.toFixed(2),
      against(name, 'chat512', (a, b) => a.cpu / b.cpu).toFixed(2),
      added.toFixed(2),
      commits[name].p50.toFixed(2),
      pace.toFixed(2),
    )
    if (name === 'memory') bar('CPU per request', cpu, ' ×', 1.15)
    bar(`added p50, ${name}`, added, ' ms', Number((commits[name].p50 + 2).toFixed(2)))
    if (name === 'redis' || name === 'postgres')
      bar(`requests at 512 connections that are lost, ${name}`, 1 - pace, ' ×', 0.2)
  }
  return { rounds, commits, problems }
}

const USERS = 100_000
const RECORDS = 1_000_000

/** Measures reads with 1e5 users and 1e6 records, a tenth of which belong to one user. */
async function data() {
  const { createUser, usageLedger, listUsers, countUsers, getUser } = await load('@turnpike/core')
  const { usageRecord } = (await runnerImport(file('../support/usage-record.ts'))).module
  const { openStorage } = await load('turnpike')
  const results = {}
  console.log(
    `\nReading, with ${USERS.toLocaleString('en')} users and ${RECORDS.toLocaleString('en')} records, ms p50 / p99:\n`,
  )
  print(
    'store',
    'filled in',
    'opened in',
    'totals',
    'first page of 20',
    'of one with a tenth',
    'page in the middle of these',
    'users, first page of 100',
  )
  print(...Array(8).fill('---'))
  for (const [name, start] of Object.entries(stores).filter(([name]) => name !== 'memory')) {
    const store = await start()
    let { kv } = await openStorage(store.url)
    let ledger = usageLedger(kv)
    const begun = performance.now()
    const userOf = (i) => (i % 10 === 0 ? 'heavy' : `user-${(i * 7919) % USERS}`)
    for (let i = 0; i < USERS; i += 2_000)
      await Promise.all(Array.from({ length: 2_000 }, (_, n) => createUser(kv, { id: `user-${i + n}` })))
    await createUser(kv, { id: 'heavy' })
    for (let i = 0; i < RECORDS; i += 4_096) {
      const group = Array.from({ length: Math.min(4_096, RECORDS - i) }, (_, n) => i + n)
      await Promise.all(
        group.map((n) =>
          ledger.append(
            usageRecord({
              request_id: `r${n}`,
              user_id: userOf(n),
              key_id: `key-${userOf(n)}`,
              timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1_000).toISOString(),
            }),
          ),
        ),
      )
      if (i % 102_400 === 0) console.error(`${name}: ${i.toLocaleString('en')} records`)
    }
    const filled = (performance.now() - begun) / 1000
    await kv.close()
    const opening = performance.now()
    ;({ kv } = await openStorage(store.url))
    const opened = (performance.now() - opening) / 1000
    ledger = usageLedger(kv)
    const times = async (run) => {
      const all = []
      for (let i = 0; i < 1_000; i++) {
        const at = performance.now()
        await run(i)
        all.push(performance.now() - at)
      }
      return quantiles(all)
    }
    const anyUser = (i) => `user-${(i * 104_729) % USERS}`
    let after
    for (let i = 0; i < 100; i++) after = (await ledger.records('heavy', { limit: 500, after })).next
    const read = {
      totals: await times((i) => ledger.totals('user', anyUser(i))),
      page: await times((i) => ledger.records(anyUser(i), { limit: 20 })),
      heavy: await times(() => ledger.records('heavy', { limit: 20 })),
      middle: await times(() => ledger.records('heavy', { limit: 20, after })),
      users: await times(async () => {
        const { items } = await listUsers(kv, { limit: 100 })
        await Promise.all([
          countUsers(kv),
          ledger.totals('all', ''),
          ledger.totalsOfMany(
            'user',
            items.map(({ id }) => id),
          ),
        ])
      }),
    }
    const { requests } = await ledger.totals('all', '')
    if (requests !== RECORDS || !(await getUser(kv, 'heavy'))) throw new Error(`${name} has ${requests} records`)
    results[name] = { filled, opened, ...read }
    print(
      name,
      `${filled.toFixed(0)} s`,
      `${opened.toFixed(1)} s`,
      ...Object.values(read).map(({ p50, p99 }) => `${p50.toFixed(2)} / ${p99.toFixed(2)}`),
    )
    bar(`summary, ${name}, p50`, read.totals.p50, ' ms', 5)
    bar(`first page, ${name}, p50`, Math.max(read.page.p50, read.heavy.p50), ' ms', 20)
    await kv.close()
    await store.stop()
  }
  return results
}

const parts = { requests, data }
const asked = flags.only.split(',')
if (asked.includes('requests')) execFileSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' })
const facts = { startedAt: new Date().toISOString(), node: process.version }
for (const name of asked) facts[name] = await parts[name]()
for (const { text } of verdicts) console.log(text)
const problems = facts.requests?.problems ?? []
for (const problem of problems) console.error(`FAIL  ${problem}`)
mkdirSync(file('results'), { recursive: true })
writeFileSync(
  file(`results/ledger-${facts.startedAt.replaceAll(':', '-').slice(0, 19)}.json`),
  JSON.stringify({ ...facts, verdicts }, null, 1),
)
process.exit(problems.length > 0 || (flags.check && verdicts.some(({ ok }) => !ok)) ? 1 : 0)
