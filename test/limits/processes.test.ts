import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { sample, thorough } from '../support/scope.js'

const script = fileURLToPath(new URL('burst.mjs', import.meta.url))
const shared = engines.filter(({ single }) => !single)
const KEYS = 10
const REQUESTS = thorough ? 10_000 : 1_000
/** A third of what is asked of each key. */
const LIMIT = Math.floor(REQUESTS / KEYS / 3)
const CALLERS = 64

interface Outcome {
  /** Of each key. */
  passed: number[]
  /** What each request that was refused was told, in seconds. */
  waits: number[]
}

/** A process that is ready to ask. `begin` lets it ask once, `finish` the rest, and resolves to what became of its requests. */
async function start(url: string, requests: number) {
  const child = spawn(runtimePath(), [script, url, ...[LIMIT, KEYS, requests, CALLERS].map(String)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
  return {
    async begin() {
      child.stdin.write('go\n')
      expect((await lines.next()).value).toBe('begun')
    },
    async finish() {
      const exit = once(child, 'exit')
      child.stdin.end('go\n')
      const outcome = JSON.parse((await lines.next()).value as string) as Outcome
      expect(await exit).toEqual([0, null])
      return outcome
    },
  }
}

afterAll(endEngines)

describe(`limits across processes, on ${runtime}`, () => {
  const cases = shared.flatMap((engine) =>
    (engine.name === 'sqlite' ? [2] : [2, 4]).map((processes) => ({ ...engine, processes })),
  )
  for (const { name, processes, needed, create } of sample(cases))
    it(`are exact for ${processes} processes on ${name}`, needs(...needed), async () => {
      const url = await create()
      const ready = await Promise.all(Array.from({ length: processes }, () => start(url, REQUESTS / processes)))
      const begun = performance.now()
      await Promise.all(ready.map(({ begin }) => begin()))
      const outcomes = await Promise.all(ready.map(({ finish }) => finish()))
      const sum = Array.from({ length: KEYS }, (_, k) => outcomes.reduce((all, { passed }) => all + passed[k]!, 0))
      expect(sum).toEqual(Array(KEYS).fill(LIMIT))
      expect(performance.now() - begun, 'all in one window').toBeLessThan(60_000)
      const passed = outcomes.map((outcome) => outcome.passed.reduce((a, b) => a + b))
      expect(Math.min(...passed), 'each has a share').toBeGreaterThan(0)
      const waits = outcomes.flatMap(({ waits }) => waits)
      expect(waits).toHaveLength(REQUESTS - KEYS * LIMIT)
      expect(Math.min(...waits)).toBeGreaterThan(0)
      expect(Math.max(...waits)).toBeLessThanOrEqual(60)
    })
})
