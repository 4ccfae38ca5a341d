import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UsageRecord } from '@turnpike/core'
import { usageLedger, verifyStore } from '@turnpike/core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStorage } from '../../packages/turnpike/src/storage.js'
import { hello, helloSeen } from '../faults/openai.js'
import { expectStream } from '../faults/replies.js'
import { begun, done, piece, stream } from '../faults/wire.js'
import { needs, programs, testAll } from '../support/needs.js'
import { childrenOf, processes } from '../support/processes.js'
import type { RawCall } from '../support/raw-client.js'
import { chat, openChat } from '../support/raw-client.js'
import type { RawUpstream } from '../support/raw-upstream.js'
import { rawUpstream } from '../support/raw-upstream.js'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'
import { sample } from '../support/scope.js'
import type { Server } from '../support/server.js'
import { listens, startServer } from '../support/server.js'

const ADMIN_ID = '00000000-0000-7000-8000-000000000001'

const lives = (of: number): boolean => processes().some(({ pid }) => pid === of)

describe('workers', needs(programs.redis), () => {
  let redis: RedisServer
  let storage: string
  let database = 0
  let upstream: RawUpstream
  let server: Server
  let finish: () => void
  let passed: Promise<void>

  beforeAll(async () => {
    redis = await startRedis()
  })
  beforeEach(async () => {
    storage = `${redis.url}/${database++}`
    upstream = await rawUpstream()
    passed = new Promise((resolve) => (finish = resolve))
  })
  afterEach(async () => {
    finish()
    await server.stop()
    await upstream.close()
  })
  afterAll(() => redis.stop())

  const start = async (env: Record<string, string> = {}): Promise<number[]> => {
    const provider = { OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${upstream.url}/v1` }
    server = await startServer({ WORKERS: '2', STORAGE: storage, ...provider, ...env })
    return childrenOf(server.process)
  }

  /** Streams on a connection each, which have begun and end at `finish`. */
  const openStreams = async (count: number): Promise<RawCall[]> => {
    upstream.script = begun(hello.start, passed, piece(hello.finish), piece(done), piece())
    const calls: RawCall[] = []
    // One by one: whoever is awake takes all that come at once.
    while (calls.length < count) calls.push(await openChat(server, { stream: true }))
    await Promise.all(calls.map((call) => call.seen(hello.seen)))
    return calls
  }

  /** The usage records, after `verifyStore` has passed. */
  const records = async (): Promise<UsageRecord[]> => {
    const { kv } = await openStorage(storage)
    const problems: string[] = []
    for await (const problem of verifyStore(kv)) problems.push(problem)
    expect(problems).toEqual([])
    const { items } = await usageLedger(kv).records(ADMIN_ID, { limit: 500 })
    await kv.close()
    return items
  }

  it('serve one port, keep an exact ledger of one user and log complete lines', async () => {
    const workers = await start({ WORKERS: '3' })
    expect(workers).toHaveLength(3)
    upstream.script = stream(...hello.start, hello.finish, done)
    const replies = await Promise.all(Array.from({ length: 150 }, () => chat(server, { stream: true })))
    for (const reply of replies) expectStream(reply, helloSeen)
    expect(await records()).toHaveLength(150)
    await server.stop()

    const [listening, consoleAt, ...lines] = server.output().trim().split('\n')
    expect(listening).toBe(`Turnpike is listening on ${server.url}`)
    expect(consoleAt).toBe(`Console: ${server.url}/console`)
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(Array(150).fill('request'))
  })

  it('show the first password and key once, before they listen', needs(testAll), async () => {
    await start({ WORKERS: '4', BOOTSTRAP_GATEWAY_KEY: '', ADMIN_PASSWORD: '' })
    const [key, ...more] = new Set(server.output().match(/gw-[\w-]+/g))
    expect(more).toEqual([])
    expect(server.output().match(/listening|shown this once/g)).toEqual([
      ...Array<string>(2).fill('shown this once'),
      'listening',
    ])
    upstream.script = stream(...hello.start, hello.finish, done)
    expectStream(await chat({ url: server.url, key: key! }, { stream: true }), helloSeen)
  })

  it('are replaced when they die, which affects only their own requests', async () => {
    const [victim, other] = await start()
    const calls = await openStreams(24)
    process.kill(victim!, 'SIGKILL')
    await expect.poll(() => server.output()).toContain(`Worker ${victim} ended with SIGKILL`)
    finish()
    const replies = await Promise.all(calls.map(({ reply }) => reply))
    const whole = replies.filter((reply) => reply.whole)
    // Both have served.
    expect(whole.length).toBeGreaterThan(0)
    expect(whole.length).toBeLessThan(24)
    for (const reply of whole) expectStream(reply, helloSeen)
    expect(await records()).toHaveLength(whole.length)

    // Whoever serves now is new.
    process.kill(other!, 'SIGKILL')
    await expect.poll(() => server.output()).toContain(`Worker ${other} ended with SIGKILL`)
    await expect.poll(async () => (await fetch(`${server.url}/health`)).status).toBe(200)
    await expect.poll(() => childrenOf(server.process)).toHaveLength(2)
  })

  it('are replaced after a pause when they die repeatedly', needs(testAll), async () => {
    const [, steady] = await start()
    for (const pause of [0, 1, 2]) {
      const others = (): number[] => childrenOf(server.process).filter((pid) => pid !== steady)
      await expect.poll(others).toHaveLength(1)
      const [victim] = others()
      process.kill(victim!, 'SIGKILL')
      await expect
        .poll(() => server.output())
        .toContain(`Worker ${victim} ended with SIGKILL; another takes its place in ${pause} s`)
    }
    expect(await server.stop()).toBe(0)
  })

  it.each(sample(['SIGTERM', 'SIGINT'] as const))(
    'let streams finish when all get %s, and another from the parent',
    async (signal) => {
      const workers = await start()
      const calls = await openStreams(8)
      const exited = once(server.process, 'exit')
      for (const pid of [server.process.pid!, ...workers]) process.kill(pid, signal)
      await expect.poll(() => listens(server.url)).toBe(false)
      finish()
      for (const { reply } of calls) expectStream(await reply, helloSeen)
      expect(await exited).toEqual([0, null])
      expect(workers.filter(lives)).toEqual([])
      expect(await records()).toHaveLength(8)
    },
  )

  it('end when the parent is killed', needs(testAll), async () => {
    const workers = await start()
    await openStreams(4)
    server.process.kill('SIGKILL')
    await expect.poll(() => workers.filter(lives)).toEqual([])
    // A process whose first thread has ended is a zombie, while others of its threads may still hold its sockets.
    await expect.poll(() => listens(server.url)).toBe(false)
  })
})

describe('a server with workers', () => {
  it('refuses to start on a store for one process', needs(testAll), async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turnpike-workers-'))
    for (const [storage, driver] of [
      ['memory', 'memory'],
      [`fs:${folder}`, 'durable-fs'],
    ])
      await expect(startServer({ WORKERS: '2', STORAGE: storage! })).rejects.toThrow(
        `The server ended with code 1:\nTurnpike cannot start:\nWORKERS=2 needs a store that processes can share, and "${driver}" serves only one. STORAGE can be redis://… or postgres://…,`,
      )
    await rm(folder, { recursive: true })
  })

  it('refuses a port in use', needs(testAll, programs.redis), async () => {
    const redis = await startRedis()
    const env = { WORKERS: '2', STORAGE: redis.url }
    const first = await startServer(env)
    await expect(startServer({ ...env, PORT: new URL(first.url).port })).rejects.toThrow(
      /ended with code 1:\nTurnpike cannot start:\n.*in use/,
    )
    expect(await first.stop()).toBe(0)
    await redis.stop()
  })
})
