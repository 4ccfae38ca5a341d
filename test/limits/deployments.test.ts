import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const script = fileURLToPath(new URL('deployments.mjs', import.meta.url))
const shared = engines.filter(({ single }) => !single)
const REQUESTS = 200

async function start(url: string) {
  const args = [script, url, Date.UTC(2026, 0, 2), REQUESTS, 4].map(String)
  const child = spawn(runtimePath(), args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  expect((await lines.next()).value).toBe('ready')
  return async () => {
    const exit = once(child, 'exit')
    child.stdin.end('go\n')
    const outcome = JSON.parse((await lines.next()).value as string) as Record<
      'tokens' | 'requests' | 'refused',
      number
    >
    expect(await exit).toEqual([0, null])
    return outcome
  }
}

afterAll(endEngines)

describe(`limits of deployments across processes, on ${runtime}`, () => {
  for (const { name, needed, create } of sample(shared))
    it(`are kept together by two processes on ${name}`, needs(...needed), async () => {
      const url = await create()
      const ready = await Promise.all([start(url), start(url)])
      const outcomes = await Promise.all(ready.map((run) => run()))
      const sum = (what: keyof (typeof outcomes)[number]): number => outcomes.reduce((all, one) => all + one[what], 0)
      expect(sum('requests')).toBe(30)
      // 200 tokens each, and room for the 300 that are expected of the last one.
      expect(sum('tokens')).toBe(49)
      expect(sum('refused')).toBe(2 * REQUESTS - 79)
    })
})
