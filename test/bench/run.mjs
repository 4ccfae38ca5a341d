/**
 * The benchmark: `npm run bench -- [--check] [--rounds N] [--quick] [--profile] [--only NAME,NAME]`. README.md tells how it measures.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { install } from './install.mjs'
import { checkBars, tables } from './report.mjs'
import { measure, quick, scenarios, tally } from './scenarios.mjs'
import { servers, startMock, startServer } from './servers.mjs'

const LOAD_CORE = '1'
/** What warms a server up. */
const chats = { connections: 16, ms: 5_000 }
const streams = { connections: 16, ms: 800, stream: { chunks: 64, ms: 0 } }

const here = fileURLToPath(new URL('.', import.meta.url))
const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})

const stop = (message) => {
  console.error(message)
  process.exit(1)
}

/** The names of a table that `--only` leaves: all, unless it names some of them. */
const only = flags.only.split(',').filter(Boolean)
const chosen = (names) =>
  only.some((name) => names.includes(name)) ? names.filter((name) => only.includes(name)) : names
const serverNames = chosen(Object.keys(servers))
const scenarioNames = chosen(Object.keys(scenarios))
const unknown = only.filter((name) => !(name in servers) && !(name in scenarios))
if (unknown.length > 0) stop(`--only: ${unknown} is none of ${[...Object.keys(servers), ...Object.keys(scenarios)]}`)
const roundCount = Number(flags.rounds ?? (flags.quick || flags.profile ? 1 : 3))

if (process.platform !== 'linux' || cpus().length < 2) stop('The benchmark needs Linux and two cores.')
if (!existsSync(`${here}../../packages/gateway/dist/index.js`)) stop('Build first: npm run build')
install()
execFileSync('taskset', ['-acp', LOAD_CORE, String(process.pid)], { stdio: 'ignore' })

const startedAt = new Date().toISOString().replaceAll(':', '-').slice(0, 19)
const output = `${here}results/${startedAt}`
mkdirSync(flags.profile ? output : `${here}results`, { recursive: true })

const upstream = await startMock()
const scenarioOf = (name) => (flags.quick ? quick(scenarios[name]) : scenarios[name])
const problems = []

const show = (round, server, scenario, { cpu, heap, perSecond, busy, latency, first }) =>
  console.log(
    `${round}/${roundCount} ${server.padEnd(11)} ${scenario.padEnd(6)} ${cpu.toFixed(1).padStart(7)} µs ${(Number.isNaN(heap) ? '-' : heap.toFixed(1)).padStart(6)} kB` +
      `${perSecond.toFixed(0).padStart(8)}/s  busy ${busy.toFixed(2)}  p50 ${latency.p50.toFixed(2)} ms` +
      (first ? `  first ${first.p50.toFixed(2)} ms` : ''),
  )

/** All scenarios against one fresh process of a server. */
async function runServer(round, name) {
  const server = await startServer(name, upstream)
  const count = tally()
  const results = {}
  try {
    // Only streams are measured of what is not OpenAI's.
    const serves = (scenario) => !server.target.model || scenario.stream
    // Portkey takes about 4,000 requests to reach its pace, which it must be measured at; all are given the same time.
    const warmUp = [serves(chats) ? chats : { ...streams, ms: chats.ms }, streams]
    for (const scenario of warmUp) await measure(server.target, scenario, count)
    for (const scenario of scenarioNames.filter((one) => serves(scenarios[one]))) {
      const profiled = flags.profile && server.control && name !== 'bun'
      results[scenario] = await measure(server.target, scenarioOf(scenario), count, {
        cpu: server.cpu,
        heap: server.heap,
        begin: () => profiled && server.ask('profile'),
        end: () => profiled && server.ask(`profile ${output}/${name}-${scenario}.cpuprofile`),
      })
      show(round, name, scenario, results[scenario])
    }
    if (server.control) {
      const records = await server.ask('records')
      if (records !== count.sent) count.fail(`${count.sent} requests left ${records} usage records`)
    }
  } catch (error) {
    count.fail(error.message)
  }
  await server.stop()
  if (count.failed > 0) problems.push(`round ${round}, ${name}: ${count.failed} failures: ${count.failures.join('; ')}`)
  return { ...results, requests: count.sent, failed: count.failed }
}

async function runDirect() {
  const count = tally()
  const target = { port: Number(new URL(upstream).port), headers: {} }
  const first = await measure(target, scenarioOf('first'), count)
  if (count.failed > 0) problems.push(`direct: ${count.failures.join('; ')}`)
  return { first }
}

const rounds = []
for (let round = 1; round <= roundCount; round++) {
  const results = { load: loadavg()[0] }
  if (scenarioNames.includes('first')) results.direct = await runDirect()
  for (const name of serverNames) results[name] = await runServer(round, name)
  rounds.push(results)
}

for (const [i, { floor }] of rounds.entries())
  if (floor?.paced?.readsPerChunk < 0.8)
    console.warn(`Warning: round ${i + 1}: even the floor merged paced chunks; the machine does other work.`)

const verdicts = checkBars(rounds)
const facts = { startedAt, flags, node: process.version, cpu: cpus()[0].model, problems, verdicts, rounds }
writeFileSync(`${output}.json`, JSON.stringify(facts, null, 1))

console.log(`\nMedian [min..max] over ${roundCount} rounds\n\n${tables(rounds, serverNames, scenarioNames)}\n`)
for (const { text } of verdicts) console.log(text)
for (const problem of problems) console.error(`FAIL  ${problem}`)
console.log(`Raw figures: ${relative(process.cwd(), output)}.json`)
process.exit(problems.length > 0 || (flags.check && verdicts.some(({ ok }) => !ok)) ? 1 : 0)
