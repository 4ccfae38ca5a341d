/**
 * One engine in a process of its own: `node storage-engine.mjs NAME WHERE fill | measure | paced MERGE_AFTER | records USERS COUNT | size | expire | start`, where
 * WHERE is a folder, a file or a URL. Prints its figures as JSON: commits per second, times in milliseconds, and sizes in bytes.
 */
import { readdirSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expireRecords, memoryKV, usageLedger } from '@turnpike/core'
import { durableFs, fsKV, openKV, postgresKV, redisKV, sqliteKV } from '@turnpike/storage'
import { Redis } from 'ioredis'
import { Pool } from 'pg'

const KEYS = 100_000
const SECONDS = 4
const PAGES = 2_000
const PACED_SECONDS = 20
const [MODELS, DAYS] = [10, 30]
/** Records that are appended together: ten commits of the ledger. */
const BATCH = 1_280

// Drivers of unstorage, as the reference server finds them.
const { resolve } = createRequire(new URL('../../examples/server/package.json', import.meta.url))
const driver = async (name, options) => (await import(resolve(`unstorage/drivers/${name}`))).default(options)

const engines = {
  memory: () => memoryKV(),
  fs: (folder) => fsKV(folder),
  'fs-lite': async (base) => openKV(await driver('fs-lite', { base })),
  'unstorage-redis': async (url) => openKV(await driver('redis', { url })),
  'sqlite-full': (file) => sqliteKV(file),
  'sqlite-normal': (file) => sqliteKV(file, { durability: 'process-crash' }),
  redis: (url) => redisKV(new Redis(url)),
  postgres: (url) => postgresKV(new Pool({ connectionString: url })),
}

/** 300 bytes of JSON. */
const VALUE = { text: 'x'.repeat(289) }
const numbered = (n) => String(n).padStart(9, '0')

/** Median, 99th percentile and longest of some times. */
function summary(times) {
  const sorted = Float64Array.from(times).toSorted()
  const at = (quantile) => sorted[Math.floor((sorted.length - 1) * quantile)] ?? 0
  return { p50: at(0.5), p99: at(0.99), longest: at(1) }
}

let written = 0
/** A commit like the usage ledger's: one new key, and an addition to a counter. */
const append = (kv, under, client) =>
  kv.commit({
    set: [{ key: [under, numbered(written++)], value: VALUE }],
    sum: [{ key: ['total', String(client)], add: { requests: 1 } }],
  })

/** `clients` that commit one after the other while `goesOn()`. */
async function load(kv, under, clients, goesOn) {
  const times = []
  const begin = performance.now()
  const client = async (_, number) => {
    for (let before = performance.now(); goesOn();) {
      await append(kv, under, number)
      const now = performance.now()
      times.push(now - before)
      before = now
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { perSecond: (times.length / (performance.now() - begin)) * 1_000, ...summary(times) }
}

function forSeconds(seconds) {
  const end = performance.now() + seconds * 1_000
  return () => performance.now() < end
}

const fill = (kv) => load(kv, 'filled', 256, () => written < KEYS)

/** Pages of 20 from anywhere, one after the other. */
async function pages(kv) {
  const times = []
  for (let page = 0; page < PAGES; page++) {
    const after = ['filled', numbered(Math.floor(Math.random() * (KEYS - 21)))]
    const before = performance.now()
    const { items } = await kv.list(['filled'], { after, limit: 20 })
    times.push(performance.now() - before)
    if (items.length !== 20) throw new Error(`A page of ${items.length}`)
  }
  return summary(times)
}

/** Opens a store of `KEYS` keys (one that forgets is filled first), reads pages, then commits. */
async function measure(open) {
  const before = performance.now()
  const kv = await open()
  const opened = performance.now() - before
  if (kv.capabilities.durability === 'none') await fill(kv)
  const page = await pages(kv)
  await load(kv, 'warm', 16, forSeconds(1))
  const loads = []
  for (const clients of [1, 16, 256]) loads.push(await load(kv, `load${clients}`, clients, forSeconds(SECONDS)))
  await kv.close()
  return { opened, page, loads }
}

/** Durable files that tell when merges write and remove: only a merge writes an item of several groups, and only it removes items. */
function watched(folder) {
  const files = durableFs({ base: folder })
  const merges = []
  const driver = {
    ...files,
    async setItemRaw(key, bytes) {
      const [, from, to] = /(\d+)-(\d+)-\d+-\d+$/.exec(key) ?? []
      const merge = { from: performance.now(), to: 0 }
      if (from !== to) merges.push(merge)
      await files.setItemRaw(key, bytes)
      merge.to = performance.now()
    },
    async removeItem(key, options) {
      await files.removeItem(key, options)
      if (merges.length > 0) merges.at(-1).to = performance.now()
    },
  }
  return { driver, merges }
}

/** One commit each millisecond, whether or not those before have ended; a commit waits from the time at which it is due. */
async function paced(folder, mergeAfter) {
  const { driver, merges } = watched(folder)
  // The size of items as in `fsKV`.
  const kv = await openKV(driver, { mergeAfter, itemSize: 2 ** 20 })
  merges.length = 0
  const begin = performance.now()
  const commits = []
  while (commits.length < PACED_SECONDS * 1_000) {
    for (; commits.length < performance.now() - begin;) {
      const from = begin + commits.length
      commits.push(append(kv, 'paced', commits.length % 100).then(() => ({ from, to: performance.now() })))
    }
    await sleep(1)
  }
  const done = await Promise.all(commits)
  await kv.close()
  const timesOf = (list) => summary(list.map(({ from, to }) => to - from))
  const meets = (commit) => merges.some(({ from, to }) => from < commit.to && commit.from < to)
  const merging = done.filter(meets)
  return {
    ...timesOf(done),
    merges: merges.length,
    merging: timesOf(merging),
    share: merging.length / done.length,
    otherwise: timesOf(done.filter((commit) => !meets(commit))),
  }
}

/** Stores `count` usage records, each in an entry of its own, as of `users` who ask one after the other for a month. */
async function records(kv, users, count) {
  const { runnerImport } = await import('vite')
  const { usageRecord } = (await runnerImport(fileURLToPath(new URL('../support/usage-record.ts', import.meta.url))))
    .module
  const ids = Array.from({ length: users }, () => crypto.randomUUID())
  const timeOf = (n) => Date.UTC(2026, 0, 1) + (n / count) * DAYS * 86_400_000
  const ledger = usageLedger(kv)
  const begin = performance.now()
  const append = (n) =>
    ledger.append(
      usageRecord({
        request_id: crypto.randomUUID(),
        user_id: ids[n % users],
        key_id: `key-${ids[n % users]}`,
        model: `model-${n % MODELS}`,
        timestamp: new Date(timeOf(n)).toISOString(),
      }),
    )
  for (let n = 0; n < count; n += BATCH) {
    const length = Math.min(BATCH, count - n)
    // Groups of records are dated by the clock of the process.
    Date.now = () => timeOf(n + length)
    await Promise.all(Array.from({ length }, (_, i) => append(n + i)))
  }
  await kv.close()
  return { filled: performance.now() - begin }
}

/** Bytes that a store takes: on the disk, or those of Redis in memory. */
const sizes = {
  fs: async (folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .reduce((sum, file) => sum + statSync(`${file.parentPath}/${file.name}`).size, 0),
  async redis(url) {
    const redis = new Redis(url)
    const [, bytes] = /used_memory:(\d+)/.exec(await redis.info('memory'))
    await redis.quit()
    return Number(bytes)
  },
  async postgres(url) {
    const pool = new Pool({ connectionString: url })
    await pool.query('vacuum full')
    const { rows } = await pool.query('select sum(pg_total_relation_size(relid)) as bytes from pg_stat_user_tables')
    await pool.end()
    return Number(rows[0].bytes)
  },
}

/** Removes the older half of the records. */
async function expire(kv) {
  const before = performance.now()
  await expireRecords(kv, new Date(Date.UTC(2026, 0, 1 + DAYS / 2)))
  const took = performance.now() - before
  await kv.close()
  return took
}

/** What a process takes to open a store, and has afterwards. */
async function start() {
  const files = readdirSync(where, { recursive: true, withFileTypes: true }).filter((file) => file.isFile()).length
  const before = performance.now()
  const { user, system } = process.cpuUsage()
  await open()
  const opened = performance.now() - before
  const cpu = process.cpuUsage()
  const { rss, heapUsed } = process.memoryUsage()
  return { files, opened, cpu: (cpu.user - user + cpu.system - system) / 1_000, rss, heapUsed }
}

const [name, where, task, number, count] = process.argv.slice(2)
const open = () => engines[name](where)
const tasks = {
  async fill() {
    const kv = await open()
    await fill(kv)
    await kv.close()
  },
  measure: () => measure(open),
  paced: () => paced(where, Number(number)),
  records: async () => records(await open(), Number(number), Number(count)),
  size: () => sizes[name](where),
  expire: async () => expire(await open()),
  start,
}
console.log(JSON.stringify((await tasks[task]()) ?? null))
process.exit()
