import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { KV } from '@turnpike/core'
import { usageLedger } from '@turnpike/core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Engine } from '../../support/engines.js'
import { endEngines, engines } from '../../support/engines.js'
import { needs, testAll } from '../../support/needs.js'
import type { PlannedUpstream } from '../../support/planned-upstream.js'
import { plannedUpstream } from '../../support/planned-upstream.js'
import { runtime, runtimePath } from '../../support/runtime.js'
import { killStores, startStore } from '../../support/store-process.js'
import { compare, recordsOf, verify, verifyTotals } from './audit.js'
import type { Asked, Holder } from './journal.js'
import { send } from './journal.js'

const script = fileURLToPath(new URL('await-points.mjs', import.meta.url))

/** Concurrent processes, each with its own store. */
const LANES = 2
/** With `LEDGER_RUNS`, each continuation of a promise is also a point. Bun does not report them. */
const awaits = process.env['LEDGER_RUNS'] !== undefined && runtime === 'node'

interface Kind {
  name: string
  stream: boolean
  usage: boolean
  /** The first point at which the process is killed. */
  from: 'read' | 'commit'
  /** All points from there on, in order. */
  points: string[]
}

const recording = ['append', 'commit', 'committed', 'appended']
const whole = ['read', ...recording, 'end', 'ended']
// The last text event arrives with the end of the stream, so there is one read.
const streamed = ['read', 'write', 'written', ...recording, 'write', 'written', 'end', 'ended']
const kinds: Kind[] = [
  { name: 'an answer', stream: false, usage: true, from: 'read', points: whole },
  { name: 'an answer without usage', stream: false, usage: false, from: 'read', points: whole },
  { name: 'a stream', stream: true, usage: true, from: 'read', points: streamed },
  { name: 'a stream without usage', stream: true, usage: false, from: 'read', points: streamed },
  {
    name: 'an answer that is held',
    stream: false,
    usage: true,
    from: 'commit',
    points: ['commit', 'committed', 'send', ...whole],
  },
]

let upstream: PlannedUpstream
beforeAll(async () => {
  upstream = await plannedUpstream()
})
afterEach(killStores)
afterAll(async () => {
  await upstream.close()
  await endEngines()
})

/** A request to a process that kills itself at a given point. */
interface Run {
  asked: Asked
  /** The points that it reached. */
  reached: string[]
  /** The number of points, if it survived. */
  points: number | undefined
}

async function run(storage: string, { stream, usage, from }: Kind, n: number): Promise<Run> {
  const args = [script, storage, upstream.url, from, String(n), ...(awaits ? ['awaits'] : [])]
  const child = spawn(runtimePath(), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>
  const lines: string[] = []
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  await Promise.race([once(output, 'line'), closed])
  const [ready] = lines
  if (ready === undefined) throw new Error(`The process for point ${n} did not start`)
  const { url, holder, session } = JSON.parse(ready) as { url: string; holder: Holder; session: string }
  const plan = { id: randomUUID(), prompt: 7, completion: 5, usage, pause: 0, ending: 'whole' } as const
  const untagged = { project: '', task: '', counts: { project: '', task: '' } }
  const asked: Asked = { holder, session, inSession: true, ...untagged, stream, plan, finished: false }
  await send(url, asked)
  child.stdin.on('error', () => undefined).end()
  const [code, signal] = await closed
  const printed = lines.slice(1).map((line) => JSON.parse(line) as string | number)
  if (signal !== 'SIGKILL') expect(code).toBe(0)
  const points = signal === 'SIGKILL' ? undefined : (printed.pop() as number)
  return { asked, reached: printed as string[], points }
}

/** Compares a store with what clients received and with the points that their requests reached. */
async function audit(kv: KV, runs: Run[], { from, points }: Kind): Promise<void> {
  await verify(kv)
  if (from === 'commit') await usageLedger(kv).sweep(0)
  const records = await recordsOf(kv)
  const recorded = compare(
    runs.map(({ asked }) => asked),
    records,
  )
  await verifyTotals(kv, records)
  await verify(kv)
  const commit = points.lastIndexOf('committed')
  for (const { asked, reached } of runs) {
    expect(reached).toEqual(points.slice(0, reached.length))
    const isRecorded = recorded.has(asked)
    if (from === 'commit') {
      if (upstream.begun.has(asked.plan.id)) expect(isRecorded, `sent, and killed at ${reached.at(-1)}`).toBe(true)
    } else if (reached.length > commit) expect(isRecorded, `killed at ${reached.at(-1)}`).toBe(true)
    else if (reached.length < commit) expect(isRecorded, `killed at ${reached.at(-1)}`).toBe(false)
  }
}

async function killEverywhere({ create }: Engine, kind: Kind): Promise<Run[]> {
  const all: Run[] = []
  let next = 1
  let survived = false
  const lane = async (): Promise<void> => {
    const storage = await create()
    const runs: Run[] = []
    do {
      const one = await run(storage, kind, next++)
      runs.push(one)
      if (one.points !== undefined) survived = true
    } while (!survived)
    const kv = await startStore(storage).opened
    await audit(kv, runs, kind)
    await kv.close()
    all.push(...runs)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return all
}

const stores = engines.filter(({ name }) => !name.startsWith('driver:'))

describe.each(stores)('the usage ledger on $name', (engine) => {
  // What an answer without usage costs does not depend on the store.
  it.each(kinds.filter(({ usage }) => usage || engine === stores[0]))(
    'is correct for a kill at any await point in $name',
    { ...needs(testAll, ...engine.needed), timeout: 600_000 },
    async (kind) => {
      const runs = await killEverywhere(engine, kind)
      const killed = runs.filter(({ points }) => points === undefined)
      const survived = runs.filter(({ points }) => points !== undefined)
      // A process that survived reached all points, and one was killed at each.
      for (const { reached, asked } of survived) {
        expect(reached).toEqual(kind.points)
        expect(asked.finished).toBe(true)
      }
      const at = new Set(killed.map(({ reached }) => reached.length))
      // The number of continuations varies, so a named point may be missed among them.
      if (!awaits) expect([...at].toSorted((a, b) => a - b)).toEqual(kind.points.map((_, i) => i + 1))
      const finished = killed.filter(({ asked }) => asked.finished)
      expect(finished.length).toBeGreaterThan(0)
      console.log(
        `${engine.name}, ${kind.name}: killed at ${killed.length} points, ${finished.length} of them after the response was complete`,
      )
    },
  )
})
