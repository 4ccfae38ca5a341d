import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { runtimePath } from '../support/runtime.js'

/** What a worker tells: that its tool begins or ends, or how a task ended. */
export interface Told {
  what: string
  title: string
  reason?: string
  /** Milliseconds since 1970, and `Infinity` where the worker could not say so. */
  at: number
}

/** A process that does tasks (worker.mjs). */
export interface Worker {
  told: Told[]
  of(what: string): Told[]
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void
  /** When the process has ended. */
  ended: Promise<unknown>
}

const script = fileURLToPath(new URL('worker.mjs', import.meta.url))

/** Starts a worker. @param env `LEASE` in seconds and `TOOL_MS` */
export function startWorker(url: string, token: string, env: Record<string, string> = {}): Worker {
  const { PATH, HOME } = process.env
  const child = spawn(runtimePath(), [script], {
    env: { PATH, HOME, PLATFORM_URL: url, TOKEN: token, LEASE: '3', TOOL_MS: '100', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const told: Told[] = []
  createInterface({ input: child.stdout }).on('line', (line) => told.push(JSON.parse(line) as Told))
  return {
    told,
    of: (what) => told.filter((one) => one.what === what),
    signal: (name) => void child.kill(name),
    ended: once(child, 'close'),
  }
}

/** Titles of tasks whose tool ran in two places at once. @param ends when each worker was killed; default never */
export function overlaps(workers: Worker[], ends: number[] = []): string[] {
  const runs = workers.flatMap(({ told }, i) =>
    told
      .filter(({ what }) => what === 'begin')
      .map(({ title, at: begin }) => {
        const end = told.find((one) => one.what === 'end' && one.title === title && one.at >= begin)
        return { title, begin, end: end?.at ?? ends[i] ?? Infinity }
      }),
  )
  return runs
    .filter((a, i) => runs.some((b, j) => i !== j && a.title === b.title && a.begin < b.end && b.begin < a.end))
    .map(({ title }) => title)
}
