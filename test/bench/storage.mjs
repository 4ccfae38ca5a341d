/**
 * Figures of the storage engines as Markdown: `npm run bench:storage [-- NAME …]`, where a name is one of the first column, `paced`, `growth`
 * or `large`.
 * README.md tells how it measures.
 */
import { execFile } from 'node:child_process'
import { closeSync, cpSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runnerImport } from 'vite'

const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const { startRedis } = (await runnerImport(file('../support/redis.ts'))).module
const { startPostgres } = (await runnerImport(file('../support/postgres.ts'))).module

const folder = mkdtempSync(join(tmpdir(), 'turnpike-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
let places = 0
/** A store in a folder or file of its own. */
const local = async () => ({ url: join(folder, String(places++)), stop() {} })

/** What a command prints. */
const output = async (command, args) => (await promisify(execFile)(command, args)).stdout.trim()
const pathOf = (version, name) => output('npx', ['--yes', '-p', version, '--', 'which', name])
const node = () => process.execPath
const node22 = () => pathOf('node@22.23.3', 'node')
const bun = () => pathOf('bun@1.4.5', 'bun')
const redis = (appendfsync) => () => startRedis({ appendfsync: [appendfsync] })

/** By name: the engine, where it keeps its store, and what runs it. */
const rows = {
  memory: ['memory', local, node],
  fs: ['fs', local, node],
  'unstorage fs-lite': ['fs-lite', local, node],
  'unstorage redis, everysec': ['unstorage-redis', redis('everysec'), node],
  'sqlite FULL, Node 22': ['sqlite-full', local, node22],
  'sqlite NORMAL, Node 22': ['sqlite-normal', local, node22],
  'sqlite FULL, Bun': ['sqlite-full', local, bun],
  'sqlite NORMAL, Bun': ['sqlite-normal', local, bun],
  'redis always': ['redis', redis('always'), node],
  'redis everysec': ['redis', redis('everysec'), node],
  postgres: ['postgres', startPostgres, node],
}
const asked = process.argv.slice(2)
const isAsked = (name) => asked.length === 0 || asked.includes(name)

const run = async (runtime, ...args) => JSON.parse(await output(runtime, [file('storage-engine.mjs'), ...args]))

const ms = (time) => (time < 0.995 ? time.toFixed(2) : time < 9.95 ? time.toFixed(1) : time.toFixed(0))
const pair = ({ p50, p99 }) => `${ms(p50)} / ${ms(p99)}`
const print = (...cells) => console.log(`| ${cells.join(' | ')} |`)
const head = (...cells) => {
  print(...cells)
  print(...cells.map(() => '---'))
}

/** What the disk takes to keep 4 KB, in milliseconds. */
function syncTimes() {
  const fd = openSync(join(folder, 'sync'), 'w')
  const times = Array.from({ length: 500 }, () => {
    const before = performance.now()
    writeSync(fd, 'x'.repeat(4_096))
    fdatasyncSync(fd)
    return performance.now() - before
  }).toSorted((a, b) => a - b)
  closeSync(fd)
  return { p50: times[250], p99: times[495] }
}

console.log(
  `${new Date().toISOString().slice(0, 10)}, ${cpus().length} cores (${cpus()[0].model}), Node ${process.version}, ` +
    `fdatasync p50 / p99 ${pair(syncTimes())} ms, load before ${loadavg()[0].toFixed(2)}\n`,
)

head('engine', '1 client', '16 clients', '256 clients', 'page of 20', 'open')
for (const [name, [engine, start, runtime]] of Object.entries(rows).filter(([name]) => isAsked(name))) {
  const server = await start()
  try {
    const command = [await runtime(), engine, server.url]
    if (engine !== 'memory') await run(...command, 'fill')
    const { opened, page, loads } = await run(...command, 'measure')
    const cells = loads.map((load) => `${Math.round(load.perSecond)}/s; ${pair(load)}`)
    print(name, ...cells, pair(page), engine === 'memory' ? '–' : ms(opened))
  } finally {
    await server.stop()
  }
}

if (isAsked('paced')) {
  console.log('\n1,000 commits/s for 20 s on fs with 100,000 keys; waits in ms\n')
  head(
    'merging',
    'p50 / p99',
    'longest',
    'merged items',
    'commits beside a merge',
    'their longest',
    'longest of the others',
  )
  const { url: filled } = await local()
  await run(process.execPath, 'fs', filled, 'fill')
  for (const mergeAfter of [Infinity, 256, Infinity, 256]) {
    const { url } = await local()
    cpSync(filled, url, { recursive: true })
    const waits = await run(process.execPath, 'fs', url, 'paced', String(mergeAfter))
    const { merges, share, merging, otherwise } = waits
    const beside = merges > 0 ? [`${Math.round(share * 100)} %`, ms(merging.longest)] : ['–', '–']
    print(
      mergeAfter === 256 ? 'after 256 groups' : 'never',
      pair(waits),
      ms(waits.longest),
      merges,
      ...beside,
      ms(otherwise.longest),
    )
  }
}

if (isAsked('growth')) {
  const COUNT = 200_000
  console.log(
    `\n${COUNT.toLocaleString('en')} usage records of 200 users in a month, then without those of its first half; bytes by record\n`,
  )
  head('engine', 'bytes', 'heap of a process', 'the half removed in', 'bytes', 'heap')
  const each = (bytes) => Math.round(bytes / COUNT)
  for (const [engine, start] of [
    ['fs', local],
    ['redis', redis('everysec')],
    ['postgres', startPostgres],
  ]) {
    const server = await start()
    try {
      const command = [process.execPath, engine, server.url]
      const heap = async () => (engine === 'fs' ? each((await run(...command, 'start')).heapUsed) : '–')
      await run(...command, 'records', '200', String(COUNT))
      const before = [each(await run(...command, 'size')), await heap()]
      const took = `${((await run(...command, 'expire')) / 1_000).toFixed(1)} s`
      print(engine, ...before, took, each(await run(...command, 'size')), await heap())
    } finally {
      await server.stop()
    }
  }
}

if (isAsked('large')) {
  console.log('\nStarts on fs with 1,000,000 usage records; times in seconds, sizes in MB\n')
  head('users', 'filled in', 'files', 'start', 'CPU time', 'heap', 'RSS')
  const inMB = (bytes) => Math.round(bytes / 1e6)
  for (const users of [200, 100_000]) {
    const { url } = await local()
    const { filled } = await run(process.execPath, 'fs', url, 'records', String(users), '1000000')
    for (let round = 0; round < 3; round++) {
      const { files, opened, cpu, rss, heapUsed } = await run(process.execPath, 'fs', url, 'start')
      print(users, (filled / 1_000).toFixed(0), files, ms(opened / 1_000), ms(cpu / 1_000), inMB(heapUsed), inMB(rss))
    }
  }
}
