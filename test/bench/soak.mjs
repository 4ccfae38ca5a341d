/**
 * Whether a server keeps its memory and its handles: `npm run bench:soak [-- --minutes N] [--check] [--svg FILE]`.
 *
 * The reference server, on a Redis of its own and in front of the mock upstream, has ten minutes of mixed load by 32 clients: whole answers,
 * streams, streams that are left after their first piece, changes of tasks, uploads that are deleted again, and lists. Every five seconds its
 * memory (RSS) and its open files are read. The figures of the last quarter must not exceed those of the second; the first is for warming up.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { runnerImport } from 'vite'
import { chatRequest } from './payload.mjs'
import { startMock } from './servers.mjs'

const { values: flags } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    check: { type: 'boolean', default: false },
    svg: { type: 'string' },
  },
})
const file = (name) => fileURLToPath(new URL(name, import.meta.url))
const load = async (name) => (await runnerImport(file(`../support/${name}.ts`))).module
const { startRedis } = await load('redis')
const { startServer } = await load('server')

const CLIENTS = 32
const SAMPLE_MS = 5_000
/** By what memory and open files of the last quarter may exceed those of the second. */
const GROWTH = 1.15

const redis = await startRedis()
const server = await startServer({
  STORAGE: `${redis.url}/1`,
  OPENAI_API_KEY: 'bench',
  OPENAI_BASE_URL: `${await startMock()}/v1`,
  OPENAI_MODELS: 'gpt-4o-mini',
  LOG_LEVEL: 'silent',
  API_RATE_LIMIT: '1000000000',
  BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000000',
  ADMIN_EMAIL: 'soak@example.org',
})
const { pid } = server.process
const json = { 'content-type': 'application/json' }

const counts = {}
async function send(what, path, init, read = (response) => response.arrayBuffer()) {
  const response = await fetch(server.url + path, init)
  if (!response.ok) throw new Error(`${what}: ${response.status} ${await response.text()}`)
  counts[what] = (counts[what] ?? 0) + 1
  return read(response)
}
const asJson = (response) => response.json()

const credentials = { email: 'soak@example.org', password: 'the password of the tests' }
const { access_token } = await send(
  'sign-in',
  '/api/auth',
  { method: 'POST', headers: json, body: JSON.stringify(credentials) },
  asJson,
)
const own = { authorization: `Bearer ${access_token}` }
const post = (what, path, body) =>
  send(what, path, { method: 'POST', headers: { ...own, ...json }, body: JSON.stringify(body) }, asJson)
const project = await post('project', '/api/projects', { name: 'Soak' })
const tasks = await Promise.all(
  Array.from({ length: CLIENTS }, (_, i) => post('task', '/api/tasks', { projectId: project.id, title: `Task ${i}` })),
)

const model = (stream) => ({
  method: 'POST',
  headers: { ...json, authorization: `Bearer ${server.key}` },
  body: chatRequest(stream),
})
const STREAM = { chunks: 32, ms: 10 }
const chat = () => send('whole answer', '/v1/chat/completions', model())
const stream = () => send('stream', '/v1/chat/completions', model(STREAM))
async function abandoned() {
  const leave = new AbortController()
  await send(
    'abandoned stream',
    '/v1/chat/completions',
    { ...model(STREAM), signal: leave.signal },
    async ({ body }) => {
      await body.getReader().read()
      leave.abort()
    },
  )
}
const patch = (i) =>
  send('change', `/api/tasks/${tasks[i].id}`, {
    method: 'PATCH',
    headers: { ...own, ...json },
    body: JSON.stringify({ status: 'running', draft_output: 'x'.repeat(2_000) }),
  })
async function upload() {
  const body = new FormData()
  body.set('file', new Blob([new Uint8Array(200_000)]), 'soak.bin')
  const { id } = await send('upload', '/api/user-files', { method: 'POST', headers: own, body }, asJson)
  await send('deletion', `/api/user-files/${id}?permanent=true`, { method: 'DELETE', headers: own })
}
const list = () => send('list', `/api/tasks?projectId=${project.id}`, { headers: own })
const acts = [chat, chat, chat, stream, stream, abandoned, abandoned, patch, patch, upload, list]

const status = () => {
  const [, kB] = /VmRSS:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return { rssMB: Math.round(Number(kB) / 1_024), files: readdirSync(`/proc/${pid}/fd`).length }
}

const end = Date.now() + Number(flags.minutes) * 60_000
const samples = []
const begun = Date.now()
const clients = Array.from({ length: CLIENTS }, async (_, i) => {
  for (let turn = i; Date.now() < end; turn++) await acts[turn % acts.length](i)
})
const sampling = (async () => {
  for (; Date.now() < end; await delay(SAMPLE_MS))
    samples.push({ seconds: Math.round((Date.now() - begun) / 1_000), ...status() })
})()
await Promise.all([...clients, sampling])

const quarter = (n, of) =>
  samples.slice((samples.length * (n - 1)) / 4, (samples.length * n) / 4).map((sample) => sample[of])
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
console.log(counts)
let failed = false
for (const of of ['rssMB', 'files']) {
  const [second, last] = [2, 4].map((n) => median(quarter(n, of)))
  const ok = last <= second * GROWTH
  failed ||= !ok
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${of}: ${second} in the second quarter, ${last} in the last (at most ${GROWTH} times)`,
  )
}

/** The memory as a line, and open files as another, each from 0 to its highest. */
function svg() {
  const [width, height, margin] = [720, 240, 40]
  const line = (of, colour) => {
    const highest = Math.max(...samples.map((sample) => sample[of])) * 1.1
    const points = samples.map((sample) => {
      const x = margin + (sample.seconds / samples.at(-1).seconds) * (width - 2 * margin)
      return `${x.toFixed(1)},${(height - margin - (sample[of] / highest) * (height - 2 * margin)).toFixed(1)}`
    })
    return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.join(' ')}"/>`
  }
  const highest = (of) => Math.max(...samples.map((sample) => sample[of]))
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui" font-size="12">
<rect width="${width}" height="${height}" fill="#fff"/>
<path d="M${margin} ${margin}V${height - margin}H${width - margin}" fill="none" stroke="#888"/>
${line('rssMB', '#2563eb')}
${line('files', '#d97706')}
<text x="${margin}" y="20" fill="#2563eb">memory (RSS), at most ${highest('rssMB')} MB</text>
<text x="${width / 2}" y="20" fill="#d97706">open files, at most ${highest('files')}</text>
<text x="${width - margin}" y="${height - 15}" text-anchor="end" fill="#555">${flags.minutes} minutes</text>
</svg>
`
}
mkdirSync(file('results'), { recursive: true })
writeFileSync(
  file(`results/${new Date(begun).toISOString().replaceAll(':', '-').slice(0, 19)}-soak.json`),
  JSON.stringify(samples),
)
if (flags.svg) writeFileSync(flags.svg, svg())
await server.stop()
await redis.stop()
process.exit(flags.check && failed ? 1 : 0)
