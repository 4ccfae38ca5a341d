/**
 * Files: `npm run bench:files [-- --check] [--only ranges,whole]`, beside a bare server of node:http with `pipeline` from and to a file. `ranges` compares the CPU
 * time of 64 KiB of a file of 100 MB, in a folder, beside an empty store and one with a million entries. `whole` uploads and downloads files of 200 MB one after
 * another on each store, and prints the throughput and the memory that the platform's process needs beyond what it has at rest.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'
import { connect } from './client.mjs'
import { cpuSeconds } from './servers.mjs'

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    only: { type: 'string', default: 'ranges,whole' },
    rounds: { type: 'string', default: '3' },
    mb: { type: 'string', default: '200' },
  },
})
const MB = 1_000_000
const size = Number(flags.mb) * MB
/** Most memory over that at rest, in MB, least throughput beside the bare server, and most CPU time of a range beside it. */
const [MEMORY, THROUGHPUT, CPU] = [64, 0.6, 3]
const RANGE = 64 * 1_024

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const failures = []
const report = (what, value, isGood, bar) => {
  if (!isGood) failures.push(what)
  console.log(`${isGood ? 'ok   ' : 'FAIL '} ${what}: ${value} (${bar})`)
}

const memoryOf = async (pid) => Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))[1]) * 1_024

async function start(kind, where, { env = {}, entries = 0 } = {}) {
  const script = fileURLToPath(new URL('files-server.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, kind, where, String(entries)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const port = JSON.parse((await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()).value)
  return {
    port,
    /** The most memory that the process has while `run` runs. */
    async peakOf(run) {
      let most = 0
      const timer = setInterval(async () => (most = Math.max(most, await memoryOf(child.pid).catch(() => 0))), 20)
      await run()
      clearInterval(timer)
      return most
    },
    memory: () => memoryOf(child.pid),
    cpu: () => cpuSeconds(child.pid),
    async stop() {
      child.kill()
      await once(child, 'close')
    },
  }
}

const block = Buffer.alloc(256 * 1024, 'Turnpike')
const head =
  '--x\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\nContent-Type: application/zip\r\n\r\n'
const tail = '\r\n--x--\r\n'

/** Uploads a file of so many bytes. @returns its path */
async function upload({ port }, bytes) {
  const sent = request({
    port,
    method: 'POST',
    path: '/api/user-files',
    headers: {
      'content-type': 'multipart/form-data; boundary=x',
      'content-length': head.length + bytes + tail.length,
    },
  })
  const answered = once(sent, 'response')
  sent.write(head)
  for (let left = bytes; left > 0; left -= block.length)
    if (!sent.write(left < block.length ? block.subarray(0, left) : block)) await once(sent, 'drain')
  sent.end(tail)
  const [response] = await answered
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  if (response.statusCode !== 200) throw new Error(text)
  const { pathname, search } = new URL(JSON.parse(text).url, 'http://127.0.0.1')
  return pathname + search
}

async function download({ port }, path, bytes) {
  const sent = request({ port, path }).end()
  const [response] = await once(sent, 'response')
  let received = 0
  for await (const piece of response) received += piece.length
  if (response.statusCode !== 200 || received < bytes) throw new Error(`${response.statusCode}, ${received} bytes`)
}

/** Megabytes a second of an upload and of a download. */
async function speedOf(server) {
  const begin = performance.now()
  const path = await upload(server, size)
  const middle = performance.now()
  await download(server, path, size)
  const rate = (ms) => size / MB / (ms / 1_000)
  return { upload: rate(middle - begin), download: rate(performance.now() - middle) }
}

/** Milliseconds of the server's CPU for a range of a file, at random places, for 8 clients that ask one after another. */
async function costOfRange({ port, cpu }, path, bytes) {
  const connections = Array.from({ length: 8 }, () => connect(port))
  await Promise.all(connections.map(({ ready }) => ready))
  const load = async (count) => {
    let asked = 0
    const client = async ({ send }) => {
      while (asked++ < count) {
        const start = Math.floor(Math.random() * (bytes - RANGE))
        const head = `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nrange: bytes=${start}-${start + RANGE - 1}\r\n\r\n`
        const { status, body } = await send(Buffer.from(head))
        if (status !== 206 || body.length !== RANGE) throw new Error(`${status}, ${body.length} bytes`)
      }
    }
    await Promise.all(connections.map(client))
  }
  await load(300)
  const before = cpu()
  await load(2_000)
  const cost = (cpu() - before) / 2
  for (const { close } of connections) close()
  return cost
}

async function ranges(folder) {
  const bytes = 100 * MB
  const million = 1_000_000
  const env = (name) => ({ FILES: `fs:${folder}/${name}` })
  const servers = {
    bare: await start('bare', folder),
    empty: await start('turnpike', 'memory', { env: env('empty') }),
    million: await start('turnpike', 'memory', { env: env('million'), entries: million }),
  }
  const paths = {}
  for (const [name, server] of Object.entries(servers)) paths[name] = await upload(server, bytes)
  const ratios = { empty: [], million: [] }
  for (let round = 0; round < Number(flags.rounds); round++) {
    const costs = {}
    for (const [name, server] of Object.entries(servers)) costs[name] = await costOfRange(server, paths[name], bytes)
    console.log(
      `      64 KiB: ${Object.entries(costs)
        .map(([name, ms]) => `${name} ${ms.toFixed(2)} ms`)
        .join(', ')}`,
    )
    for (const name of Object.keys(ratios)) ratios[name].push(costs[name] / costs.bare)
  }
  for (const server of Object.values(servers)) await server.stop()
  for (const [name, store] of [
    ['empty', 'an empty store'],
    ['million', `a store of ${million} entries`],
  ]) {
    const ratio = median(ratios[name])
    report(`64 KiB of 100 MB beside ${store}, CPU ÷ bare node:http`, ratio.toFixed(2), ratio <= CPU, `at most ${CPU}`)
  }
}

async function whole(folder) {
  const { startRedis } = (await runnerImport(fileURLToPath(new URL('../support/redis.ts', import.meta.url)))).module
  const { s3Server, missing } = (await runnerImport(fileURLToPath(new URL('../storage/s3-server.ts', import.meta.url))))
    .module
  const redis = await startRedis({})
  const s3 = missing ? undefined : await s3Server()
  const stores = [
    { name: 'fs', storage: `fs:${folder}/kv`, env: { FILES: `fs:${folder}/files` }, isCompared: true },
    { name: 'redis', storage: redis.url, env: { FILES: redis.url } },
    ...(s3
      ? [
          {
            name: 's3',
            storage: 'memory',
            env: {
              FILES: `s3://files?endpoint=${s3.options.endpoint}&region=us-east-1`,
              AWS_ACCESS_KEY_ID: s3.options.accessKeyId,
              AWS_SECRET_ACCESS_KEY: s3.options.secretAccessKey,
            },
          },
        ]
      : []),
  ]
  const bare = await start('bare', folder)
  try {
    for (const { name, storage, env, isCompared } of stores) {
      const server = await start('turnpike', storage, { env })
      await speedOf(bare)
      await download(server, await upload(server, 10 * MB), 10 * MB)
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const atRest = await server.memory()
      const rounds = { upload: [], download: [] }
      const ratios = { upload: [], download: [] }
      const peak = await server.peakOf(async () => {
        for (let round = 0; round < Number(flags.rounds); round++) {
          const [ours, theirs] = [await speedOf(server), await speedOf(bare)]
          for (const what of ['upload', 'download']) {
            rounds[what].push(ours[what])
            ratios[what].push(ours[what] / theirs[what])
          }
        }
      })
      for (const what of ['upload', 'download']) {
        const ratio = median(ratios[what])
        const figures = `${median(rounds[what]).toFixed(0)} MB/s, ${ratio.toFixed(2)} of node:http`
        if (isCompared) report(`${name} ${what}`, figures, ratio >= THROUGHPUT, `at least ${THROUGHPUT}`)
        else console.log(`      ${name} ${what}: ${figures}`)
      }
      const more = (peak - atRest) / MB
      report(
        `${name} memory over ${(atRest / MB).toFixed(0)} MB at rest`,
        `${more.toFixed(0)} MB`,
        more <= MEMORY,
        `at most ${MEMORY}`,
      )
      await server.stop()
    }
  } finally {
    await bare.stop()
    await redis.stop()
    await s3?.close()
  }
}

const parts = { ranges, whole }
const folder = await mkdtemp(join(tmpdir(), 'turnpike-bench-'))
try {
  for (const name of flags.only.split(',')) await parts[name](folder)
} finally {
  await rm(folder, { recursive: true })
}
if (flags.check && failures.length > 0) process.exit(1)
