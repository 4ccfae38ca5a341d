import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Commit, JsonValue, Key, KV } from '@turnpike/core'
import { runtimePath } from '../support/runtime.js'
import { thorough } from '../support/scope.js'

/** What the SQL engines promise beyond the contract. `open` opens the same store once more, with a clock or not. */
export interface SqlCase {
  name: string
  run(open: (now?: () => number) => Promise<KV>): Promise<void>
}

const set = (key: Key, value: JsonValue): Commit => ({ set: [{ key, value }] })

export const sharedCases: SqlCase[] = [
  {
    name: 'expires a value at its millisecond, and sweeps it later',
    async run(open) {
      let time = 1_000_000
      const kv = await open(() => time)
      const start = time
      await kv.commit({ set: [{ key: ['end', 'a'], value: 1, expiresAt: start + 10.5 }] })
      await kv.commit(set(['end', 'b'], 1))
      time = start + 10
      assert.ok(await kv.get(['end', 'a']))
      assert.equal((await kv.list(['end'])).items.length, 2)
      time = start + 11
      assert.equal(await kv.get(['end', 'a']), null)
      assert.equal((await kv.list(['end'])).items.length, 1)
      assert.deepEqual(await kv.list(['end'], { limit: 1, reverse: true }), await kv.list(['end'], { reverse: true }))
      // A clock that runs behind sees what has not been swept.
      const behind = await open(() => start)
      assert.ok(await behind.get(['end', 'a']))
      time = start + 60_000
      await kv.commit(set(['end', 'b'], 2))
      await kv.commit(set(['end', 'b'], 3))
      assert.equal(await behind.get(['end', 'a']), null)
      assert.equal(await kv.commit({ check: [{ key: ['end', 'a'], version: null }], ...set(['end', 'a'], 2) }), true)
      assert.equal((await kv.get(['end', 'a']))?.value, 2)
      time = start + 200_000
      await kv.commit(set(['end', 'b'], 4))
      assert.equal((await kv.get(['end', 'a']))?.value, 2)
    },
  },
  {
    name: 'finishes accepted commits on close, and refuses later ones',
    async run(open) {
      const kv = await open()
      const done = kv.commit(set(['closing'], 1))
      await Promise.all([kv.close(), kv.close()])
      assert.equal(await done, true)
      const closed = { name: 'StorageError', outcome: 'none' }
      await assert.rejects(kv.commit(set(['closing'], 2)), closed)
      await assert.rejects(kv.get(['closing']), closed)
      await assert.rejects(kv.list(['closing']), closed)
      assert.deepEqual(await kv.health(), { ok: false, reason: 'The store is closed' })
      const again = await open()
      assert.equal((await again.get(['closing']))?.value, 1)
      await again.close()
    },
  },
]

/** A small seeded generator, so that a failure can be repeated. */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

/** Asks the same of two stores in groups of random commits, and finds the same outcomes and the same contents. */
export async function compareWithMemory(kv: KV, memory: KV, rounds = 150): Promise<void> {
  const next = random(7)
  const prefix = `model-${Date.now()}`
  const some = <T>(make: () => T): T[] => Array.from({ length: next(3) }, make)
  const key = (): Key => [prefix, String.fromCharCode(97 + next(6))]
  for (let round = 0; round < rounds; round++) {
    // Versions differ from store to store; each check is made with those of its own.
    const makers = Array.from({ length: 1 + next(5) }, () => {
      const checks = some(() => ({ key: key(), absent: next(2) === 0 }))
      const rest: Commit = {
        set: some(() => ({ key: key(), value: next(100), ...(next(4) === 0 && { expiresAt: 1 }) })),
        del: some(key),
        sum: some(() => ({ key: key(), add: { [`f${next(3)}`]: next(9) === 0 ? Number.MAX_SAFE_INTEGER : next(20) } })),
      }
      return async (store: KV): Promise<Commit> => ({
        ...rest,
        check: await Promise.all(
          checks.map(async (check) => ({
            key: check.key,
            version: check.absent ? null : ((await store.get(check.key))?.version ?? 'none'),
          })),
        ),
      })
    })
    const outcomes = await Promise.all(
      [kv, memory].map(async (store) => {
        const commits = await Promise.all(makers.map((make) => make(store)))
        const results = await Promise.allSettled(commits.map((commit) => store.commit(commit)))
        const { items } = await store.list([prefix])
        return {
          results: results.map((result) => (result.status === 'fulfilled' ? result.value : String(result.reason))),
          items: items.map(({ key: k, value }) => ({ key: k, value })),
        }
      }),
    )
    assert.deepEqual(outcomes[0], outcomes[1], `round ${round}`)
  }
}

const WRITERS = thorough ? 200 : 50

/** Starts two processes that add to the same counters and race for the same keys, and compares the totals. */
export async function inTwoProcesses(store: string[], kv: KV): Promise<void> {
  const script = fileURLToPath(new URL('sql-writer.mjs', import.meta.url))
  const prefix = `two-${Date.now()}`
  const run = (name: string): Promise<{ won: number; added: number }> =>
    new Promise((resolve, reject) => {
      const child = spawn(runtimePath(), [script, ...store, prefix, name, String(WRITERS)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let output = ''
      child.stdout.on('data', (data: Buffer) => (output += data.toString()))
      child.once('exit', (code) =>
        code === 0 ? resolve(JSON.parse(output) as { won: number; added: number }) : reject(new Error(`code ${code}`)),
      )
    })
  const [a, b] = await Promise.all([run('a'), run('b')])
  const totals = await kv.list<{ n: number }>([prefix, 'total'])
  assert.equal(
    totals.items.reduce((sum, { value }) => sum + value.n, 0),
    a.added + b.added,
  )
  let won = 0
  for (let after: Key | undefined; ;) {
    const page = await kv.list([prefix, 'once'], { limit: 500, ...(after && { after }) })
    won += page.items.length
    after = page.next
    if (!after) break
  }
  assert.equal(won, a.won + b.won)
  assert.equal((await kv.get([prefix, 'chain']))?.value, 2 * WRITERS)
  assert.ok(a.won > 0 && b.won > 0, `${a.won} and ${b.won} won`)
}
