import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Commit, Key, KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { fsKV } from '@turnpike/storage/fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runtime } from '../../support/runtime.js'
import { sample, thorough } from '../../support/scope.js'

const script = fileURLToPath(new URL('crash-points.mjs', import.meta.url))
/** Each leaves a state of its own, and takes the place of earlier ones in part, so that there is something to merge. */
const commits = Array.from({ length: 10 }, (_, i): Commit => {
  const record = (n: number): Key => ['record', String(n)]
  return {
    check: [{ key: record(i), version: null }],
    set: [
      { key: record(i), value: `${i}`.repeat(60) },
      { key: ['last'], value: i },
    ],
    del: i < 3 ? [] : [record(i - 3)],
    sum: [{ key: ['total'], add: { commits: 1, sum: i } }],
  }
})
/** Before a call and after the one before it are the same moment, but for calls that are under way together. */
const moments = sample(['before', 'after'] as const)
/** Every how manieth call. */
const STEP = thorough ? 1 : 16
/** Processes at the same time. */
const PARALLEL = 3

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-crash-points-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** The contents of a store. */
const contentOf = async (kv: KV) => (await kv.list([])).items.map(({ key, value }) => [key.join('/'), value])

/** What a store holds after the first of the commits. */
async function expected(count: number): Promise<unknown[]> {
  const kv = await memoryKV()
  for (const commit of commits.slice(0, count)) await kv.commit(commit)
  return contentOf(kv)
}
const states = await Promise.all(Array.from({ length: commits.length + 1 }, (_, count) => expected(count)))

/** Runs the commits in a process that kills itself. @returns how many were acknowledged, and of how many calls if it lived */
async function run(at: string, when: string, n: number): Promise<{ acknowledged: number; calls?: number }> {
  const child = spawn(process.execPath, [script, at, when, String(n), JSON.stringify(commits)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (data: Buffer) => (output += data.toString()))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  const lines = output.trimEnd().split('\n').filter(Boolean)
  if (signal === 'SIGKILL') return { acknowledged: lines.length }
  expect(code).toBe(0)
  return { acknowledged: lines.length - 1, calls: Number(/^calls (\d+)$/.exec(lines.at(-1)!)![1]) }
}

/** Kills a process before or after its nth call, and looks at what it left. @returns whether there was such a call */
async function crashAt(when: 'before' | 'after', n: number): Promise<boolean> {
  const at = join(folder, `${when}-${n}`)
  const { acknowledged, calls } = await run(at, when, n)
  const kv = await fsKV(at, { mergeAfter: 2, itemSize: 400 })
  const content = JSON.stringify(await contentOf(kv))
  const present = states.findIndex((state) => JSON.stringify(state) === content)
  expect(present, `${when} call ${n}: ${content} after ${acknowledged} acknowledgements`).not.toBe(-1)
  // At most the two are in doubt that were under way.
  expect([0, 1, 2], `${when} call ${n}: ${present} commits, ${acknowledged} acknowledged`).toContain(
    present - acknowledged,
  )
  for (const commit of commits.slice(present)) expect(await kv.commit(commit)).toBe(true)
  await kv.close()
  const again = await fsKV(at)
  expect(await contentOf(again)).toEqual(states.at(-1))
  await again.close()
  await rm(at, { recursive: true })
  return calls === undefined
}

it.skipIf(runtime === 'bun').each(moments)(
  'a folder keeps acknowledged commits when its process is killed %s any call that changes or flushes files',
  { timeout: 600_000 },
  async (when) => {
    let next = 1 - STEP
    let calls = 0
    let ended = false
    await Promise.all(
      Array.from({ length: PARALLEL }, async () => {
        while (!ended) {
          if (await crashAt(when, (next += STEP))) calls++
          else ended = true
        }
      }),
    )
    console.log(`killed ${when} ${calls} calls`)
    expect(calls).toBeGreaterThan(80 / STEP)
  },
)
