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
import type { PlannedUpstream } from '../../support/planned-upstream.js'
import { plannedUpstream } from '../../support/planned-upstream.js'
import { runtime, runtimePath } from '../../support/runtime.js'
import { thorough } from '../../support/scope.js'
import { killStores, startStore } from '../../support/store-process.js'
import { compare, recordsOf, verify, verifyTotals } from './audit.js'
import type { Asked, Holder } from './journal.js'
import { send } from './journal.js'

const script = fileURLToPath(new URL('await-points.mjs', import.meta.url))

/** Processes at the same time, each with a store of its own. */
const LANES = 2
/** With `BOOKS_RUNS`, each continuation of a promise is a point as well. Bun cannot tell of them. */
const awaits = process.env['BOOKS_RUNS'] !== undefined && runtime === 'node'

interface Kind {
  name: string
  stream: boolean
  usage: boolean
  /** The point from which on it is killed. */
  from: 'read' | 'commit'
  /** All that is reached from there on, in order. */
  points: string[]
}

const booking = ['append', 'commit', 'committed', 'appended']
const whole = ['read', ...booking, 'end', 'ended']
// The last of the text came with the end.
const streamed = ['read', 'write', 'written', ...booking, 'write', 'written', 'end', 'ended']
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

/** A request to a process that was to kill itself. */
interface Run {
  asked: Asked
  /** The points that it reached. */
  reached: string[]
  /** How many there were, if it lived. */
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
  const asked: Asked = { holder, session, inSession: true, stream, plan, finished: false }
  await send(url, asked)
  child.stdin.on('error', () => undefined).end()
  const [code, signal] = await closed
  const told = lines.slice(1).map((line) => JSON.parse(line) as string | number)
  if (signal !== 'SIGKILL') expect(code).toBe(0)
  const points = signal === 'SIGKILL' ? undefined : (told.pop() as number)
  return { asked, reached: told as string[], points }
}

/** Compares a store with what clients saw and with how far their requests came. */
async function audit(kv: KV, runs: Run[], { from, points }: Kind): Promise<void> {
  await verify(kv)
  if (from === 'commit') await usageLedger(kv).sweep(0)
  const records = await recordsOf(kv)
  const booked = compare(
    runs.map(({ asked }) => asked),
    records,
  )
  await verifyTotals(kv, records)
  await verify(kv)
  const commit = points.lastIndexOf('committed')
  for (const { asked, reached } of runs) {
    expect(reached).toEqual(points.slice(0, reached.length))
    const isBooked = booked.has(asked)
    if (from === 'commit') {
      if (upstream.begun.has(asked.plan.id)) expect(isBooked, `sent, and killed at ${reached.at(-1)}`).toBe(true)
    } else if (reached.length > commit) expect(isBooked, `killed at ${reached.at(-1)}`).toBe(true)
    else if (reached.length < commit) expect(isBooked, `killed at ${reached.at(-1)}`).toBe(false)
  }
}

async function killEverywhere({ create }: Engine, kind: Kind): Promise<Run[]> {
  const all: Run[] = []
  let next = 1
  let lived = false
  const lane = async (): Promise<void> => {
    const storage = await create()
    const runs: Run[] = []
    do {
      const one = await run(storage, kind, next++)
      runs.push(one)
      if (one.points !== undefined) lived = true
    } while (!lived)
    const kv = await startStore(storage).opened
    await audit(kv, runs, kind)
    await kv.close()
    all.push(...runs)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  return all
}

describe.each(engines.filter(({ name }) => !name.startsWith('driver:')))('the usage ledger on $name', (engine) => {
  it.skipIf(engine.missing || !thorough).each(kinds)(
    'is correct for a kill at any await point in $name',
    { timeout: 600_000 },
    async (kind) => {
      const runs = await killEverywhere(engine, kind)
      const killed = runs.filter(({ points }) => points === undefined)
      const lived = runs.filter(({ points }) => points !== undefined)
      // A process that lived reached them all, and one was killed at each.
      for (const { reached, asked } of lived) {
        expect(reached).toEqual(kind.points)
        expect(asked.finished).toBe(true)
      }
      const at = new Set(killed.map(({ reached }) => reached.length))
      // How many continuations there are is not always the same, so that one of the others may be missed among them.
      if (!awaits) expect([...at].toSorted((a, b) => a - b)).toEqual(kind.points.map((_, i) => i + 1))
      const finished = killed.filter(({ asked }) => asked.finished)
      expect(finished.length).toBeGreaterThan(0)
      console.log(
        `${engine.name}, ${kind.name}: killed at ${killed.length} points, ${finished.length} seen finished all the same`,
      )
    },
  )
})
