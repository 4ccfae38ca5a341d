import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { FakeAnswer, FakeRequest, FakeUpstream } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, beforeAll, describe } from 'vitest'
import type { Need } from '../support/needs.js'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { runtimePath } from '../support/runtime.js'
import { thorough } from '../support/scope.js'
import type { PlatformClient } from './client.js'
import { platformClient } from './client.js'

export * from './client.js'

/** A process that serves a gateway and a platform (server.mjs), and what tests ask of it. */
export interface World extends PlatformClient {
  pid: number
  upstream: FakeUpstream
  /** Answers in place of the fake upstream, until it is unset. */
  fault: ((request: FakeRequest) => FakeAnswer) | undefined
  /** Calls a method of server.mjs. */
  call<T = unknown>(method: string, ...args: unknown[]): Promise<T>
  /** Sets its clock ahead. */
  advance(ms: number): Promise<void>
  kill(): Promise<void>
}

const script = fileURLToPath(new URL('server.mjs', import.meta.url))

/** Starts a process on a store. */
export async function startWorld(storage: string, env: Record<string, string> = {}): Promise<World> {
  const upstream = fakeOpenAI({ apiKey: 'sk-upstream', override: (request) => world.fault?.(request) })
  const fake = await upstream.listen()
  const child = spawn(runtimePath(), [script, storage], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], OPENAI_BASE_URL: `${fake.url}/v1`, ...env },
  })
  const closed = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  let calls = 0
  const url = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const told = JSON.parse(line) as string | [number, never, string?]
      if (typeof told === 'string') return resolve(told)
      const [id, result, error] = told
      const { resolve: answer, reject: fail } = waiting.get(id)!
      waiting.delete(id)
      if (error === undefined) answer(result)
      else fail(new Error(error))
    })
    void closed.then(() => reject(new Error('The server ended')))
  })
  void closed.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('The server ended'))
  })

  const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      if (child.exitCode !== null || child.signalCode !== null) return reject(new Error('The server ended'))
      const id = ++calls
      waiting.set(id, { resolve, reject })
      child.stdin.write(`${JSON.stringify([id, method, ...args])}\n`)
    })

  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await closed
    await fake.close()
  }

  const world: World = {
    ...platformClient(url, (user) => call('createUser', user)),
    fault: undefined,
    pid: child.pid!,
    upstream,
    call,
    advance: (ms) => call('advance', ms),
    kill,
  }
  return world
}

/** The stores that all is tried on. */
export const stores: { name: string; needed: Need[]; create(): Promise<string> }[] = [
  { name: 'memory', needed: [], create: async () => 'memory' },
  ...engines.filter(({ name }) => ['fs', 'redis', 'postgres'].includes(name)),
]

/** A kind of stores of a process. */
export interface WorldStores {
  name: string
  needed: Need[]
  /** Makes empty ones. @returns the value of `STORAGE`, and further environment of server.mjs */
  create(): Promise<{ storage: string; env: Record<string, string> }>
}

const withoutFiles: WorldStores[] = stores.map(({ create, ...store }) => ({
  ...store,
  create: async () => ({ storage: await create(), env: {} }),
}))

/** A number of a text, the same in every run. */
const hash = (text: string): number => Buffer.from(text).reduce((sum, byte) => sum + byte, 0)

/**
 * Tests of one process: on the first kind of stores and, in `npm run test:all`, on one of the others, which take turns. What the stores have
 * to do for all of them is tested on each, by test/storage/contract.test.ts.
 * @param env further environment of server.mjs
 * @param on default memory, and {@link stores}
 */
export function worldSuite(
  name: string,
  suite: (world: () => World) => void,
  env: Record<string, string> = {},
  on: WorldStores[] = withoutFiles,
): void {
  const [first, ...others] = on
  const turn = others[hash(name) % others.length]
  describe.each([first!, ...(thorough && turn ? [turn] : [])])(`${name}, on $name`, ({ needed, create }) => {
    describe('', needs(...needed), () => {
      let world: World
      beforeAll(async () => {
        const made = await create()
        world = await startWorld(made.storage, { RATE_LIMITER: 'memory', ...made.env, ...env })
      })
      afterAll(async () => {
        await world.kill()
        await endEngines()
      })
      suite(() => world)
    })
  })
}

/**
 * Tests of two processes on one store: on Redis and, in `npm run test:all`, on PostgreSQL.
 * @param env further environment of server.mjs
 * @param on default {@link stores} that two processes can open
 */
export function pairSuite(
  name: string,
  suite: (pair: () => [World, World]) => void,
  env: Record<string, string> = {},
  on: WorldStores[] = withoutFiles.filter(({ name }) => name === 'redis' || (thorough && name === 'postgres')),
): void {
  describe.each(on)(`${name} at two processes on $name`, ({ needed, create }) => {
    describe('', needs(...needed), () => {
      const worlds: World[] = []
      beforeAll(async () => {
        const made = await create()
        for (let i = 0; i < 2; i++) worlds.push(await startWorld(made.storage, { ...made.env, ...env }))
      })
      afterAll(async () => {
        await Promise.all(worlds.map((world) => world.kill()))
        await endEngines()
      })
      suite(() => worlds as [World, World])
    })
  })
}
