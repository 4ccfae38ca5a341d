import type { AddressInfo, Socket } from 'node:net'
import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KV } from '@turnpike/core'
import { postgresKV } from '@turnpike/storage/postgres'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, testAll } from '../support/needs.js'
import type { Postgres } from '../support/postgres.js'
import { postgres, startPostgres } from '../support/postgres.js'
import { thorough } from '../support/scope.js'
import { assertKept, writeJournal } from './sql-journal.js'

/** What becomes of a message to the server: it passes, or it is the last. */
type Fault = 'pass' | 'pass-and-cut' | 'cut' | 'pass-and-vanish' | 'swallow'

/** A connection to the server that fails where `decide` says so. */
async function faultyLine(url: string, decide: (message: string) => Fault) {
  const target = new URL(url)
  const { hostname, port } = target
  const server = createServer((client: Socket) => {
    const upstream = connect(Number(port), hostname)
    let dead = false
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    upstream.on('data', (data) => dead || client.write(data))
    client.on('data', (data: Buffer) => {
      const fault = decide(data.toString('latin1'))
      dead ||= fault !== 'pass'
      if (fault.startsWith('pass')) upstream.write(data)
      if (fault === 'pass-and-vanish') server.close()
      if (fault.endsWith('cut') || fault.endsWith('vanish')) client.destroySoon()
      if (fault === 'cut') upstream.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  target.port = String((server.address() as AddressInfo).port)
  return { url: target.href, close: () => server.close() }
}

describe('postgresKV under faults', needs(postgres), () => {
  let server: Postgres
  const pools: Pool[] = []
  const open = (url = server.url): Promise<KV> => {
    const pool = new Pool({ connectionString: url, max: 3, connectionTimeoutMillis: 5_000 })
    pools.push(pool)
    return postgresKV(pool)
  }

  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.end()))
    await server?.stop()
  })

  it('loses nothing and writes nothing twice while back ends are killed', async () => {
    const stores = [await open(), await open()]
    let done = false
    const writing = Promise.all(
      stores.map((kv, i) => writeJournal(kv, `kill-${i}`, 16, (acknowledged) => done && acknowledged > 100)),
    )
    let killed = 0
    const rounds = thorough ? 60 : 15
    for (let i = 0; i < rounds; i++) {
      await sleep(30)
      killed += await server.killBackends()
    }
    done = true
    for (const [i, { acknowledged }] of (await writing).entries()) {
      expect(await assertKept(stores[i]!, `kill-${i}`, acknowledged)).toBe(acknowledged.size)
    }
    expect(killed).toBeGreaterThan(rounds / 2)
  })

  it('continues to read while back ends are killed', async () => {
    const kv = await open()
    await kv.commit({ set: [{ key: ['read'], value: 1 }] })
    for (let i = 0; i < 20; i++) {
      await server.killBackends()
      expect((await kv.get(['read']))?.value).toBe(1)
    }
  })

  it(
    'loses nothing and writes nothing twice over crashes of the server',
    { ...needs(testAll), timeout: 120_000 },
    async () => {
      // Several, so that after a crash the ids of transactions that were lost are soon another's.
      const stores = await Promise.all([open(), open(), open()])
      let done = false
      const writing = Promise.all(
        stores.map((kv, i) => writeJournal(kv, `crash-${i}`, 12, (acknowledged) => done && acknowledged > 100)),
      )
      for (let i = 0; i < (thorough ? 5 : 2); i++) {
        await sleep(300 + Math.random() * 300)
        await server.crash()
        expect(await stores[0]!.health()).toMatchObject({ ok: false })
        await server.restart()
      }
      await sleep(400)
      done = true
      for (const [i, { acknowledged }] of (await writing).entries()) {
        expect(await assertKept(stores[i]!, `crash-${i}`, acknowledged)).toBe(acknowledged.size)
      }
      expect(await stores[0]!.health()).toEqual({ ok: true })
    },
  )

  /** One commit over a line that shows `fault` at the first message with `text` in it. */
  const commitOver = async (fault: Fault, text: string) => {
    let armed = false
    const line = await faultyLine(server.url, (message) => {
      if (!armed || !message.includes(text)) return 'pass'
      armed = false
      return fault
    })
    const kv = await open(line.url)
    const key = ['line', fault, text]
    armed = true
    const outcome = kv.commit({ sum: [{ key, add: { n: 1 } }] }).catch((error: unknown) => error)
    const direct = await open()
    const total = async () => ((await direct.get<{ n: number }>(key))?.value ?? { n: 0 }).n
    return { outcome, total, direct, key, close: line.close }
  }

  it.each([
    ['pass-and-cut', 'commit\0'],
    ['cut', 'commit\0'],
    ['pass-and-cut', 'with gone'],
    ['cut', 'with gone'],
    ['cut', 'begin isolation'],
  ] as const)('applies a commit once when the connection fails (%s at "%s")', async (fault, text) => {
    const { outcome, total, close } = await commitOver(fault, text)
    expect(await outcome).toBe(true)
    expect(await total()).toBe(1)
    close()
  })

  it('reports an unknown outcome only after COMMIT was sent', needs(testAll), async () => {
    const [lost, early] = await Promise.all([
      commitOver('pass-and-vanish', 'commit\0'),
      commitOver('pass-and-vanish', 'with gone'),
    ])
    expect(await early.outcome).toMatchObject({ name: 'StorageError', outcome: 'none' })
    expect(await early.total()).toBe(0)
    expect(await lost.outcome).toMatchObject({ name: 'StorageError', outcome: 'unknown' })
    expect(await lost.total()).toBe(1)
  })

  it('releases the keys of a client that stalls in the middle of a commit', needs(testAll), async () => {
    const { outcome, total, direct, key, close } = await commitOver('swallow', 'with gone')
    expect(await direct.commit({ sum: [{ key, add: { n: 10 } }] })).toBe(true)
    expect(await outcome).toBe(true)
    expect(await total()).toBe(11)
    close()
  })
})
