/** The contract of a `KV`, for people who write engines and drivers. @module */
import assert from 'node:assert/strict'
import type { Key, KV } from '@turnpike/core'
import { encodeKey, update } from '@turnpike/core'

/** One promise of the contract; `run` rejects where it is broken. Each case works below a prefix of its own. */
export interface ContractCase {
  name: string
  run(kv: KV): Promise<void>
}

let cases = 0
/** A prefix that no other case, and no earlier run on the same store, has used. */
const fresh = (): string => `c${Date.now()}-${process.pid}-${cases++}`

const values = (page: { items: { value: unknown }[] }): unknown[] => page.items.map(({ value }) => value)

const strange = ['a/b', 'a:b', 'a?b=1', 'a$', '..', '.', '~', '', 'ü€😀', 'A', 'a', 'x'.repeat(90), ' ', '\0', '%2F']

/**
 * Every case that an engine has to pass.
 * @example for (const { name, run } of kvContract) it(name, () => run(kv))
 */
export const kvContract: ContractCase[] = [
  {
    name: 'gives back what was set, and null for what was not',
    async run(kv) {
      const p = fresh()
      assert.equal(await kv.get([p, 'a']), null)
      const value = { s: 'x', n: -0.5, b: true, nil: null, list: [1, [2]], __proto__x: { y: 'é\u2028"\\' } }
      assert.equal(await kv.commit({ set: [{ key: [p, 'a'], value }] }), true)
      const entry = await kv.get([p, 'a'])
      assert.deepEqual(entry?.value, value)
      assert.deepEqual(entry?.key, [p, 'a'])
      for (const text of ['123', 'true', 'null', '{"a":1}', '']) {
        await kv.commit({ set: [{ key: [p, 'text'], value: text }] })
        assert.equal((await kv.get([p, 'text']))?.value, text)
      }
    },
  },
  {
    name: 'hands out copies',
    async run(kv) {
      const p = fresh()
      const value = { list: [1] }
      await kv.commit({ set: [{ key: [p], value }] })
      value.list.push(2)
      const got = await kv.get<{ list: number[] }>([p])
      got!.value.list.push(3)
      assert.deepEqual((await kv.get([p]))?.value, { list: [1] })
    },
  },
  {
    name: 'keeps keys apart, whatever their characters',
    async run(kv) {
      const p = fresh()
      await kv.commit({ set: strange.map((segment) => ({ key: [p, segment, 'x'], value: segment })) })
      for (const segment of strange) assert.equal((await kv.get([p, segment, 'x']))?.value, segment, segment)
      const all = await kv.list([p], { limit: 500 })
      assert.equal(all.items.length, strange.length)
      for (const { key, value } of all.items) assert.deepEqual(key, [p, value, 'x'])
    },
  },
  {
    name: 'applies a commit whole or not at all',
    async run(kv) {
      const p = fresh()
      await kv.commit({ set: [{ key: [p, 'a'], value: 1 }] })
      const failed = await kv.commit({
        check: [{ key: [p, 'a'], version: null }],
        set: [{ key: [p, 'b'], value: 2 }],
        del: [[p, 'a']],
        sum: [{ key: [p, 'n'], add: { x: 1 } }],
      })
      assert.equal(failed, false)
      assert.deepEqual(
        values({
          items: (
            await kv.getMany([
              [p, 'b'],
              [p, 'n'],
            ])
          ).filter((e) => e !== null),
        }),
        [],
      )
      assert.equal((await kv.get([p, 'a']))?.value, 1)
    },
  },
  {
    name: 'changes the version with every write and never uses one again',
    async run(kv) {
      const p = fresh()
      const key: Key = [p]
      const seen = new Set<string>()
      for (let i = 0; i < 3; i++) {
        await kv.commit({ set: [{ key, value: 'same' }] })
        seen.add((await kv.get(key))!.version)
        await kv.commit({ del: [key] })
        assert.equal(await kv.get(key), null)
      }
      assert.equal(seen.size, 3)
      await kv.commit({ set: [{ key, value: 'same' }] })
      const [stale] = seen
      assert.equal(await kv.commit({ check: [{ key, version: stale! }], del: [key] }), false)
    },
  },
  {
    name: 'lets one of a hundred racers create a key',
    async run(kv) {
      const p = fresh()
      const race = Array.from({ length: 100 }, (_, i) =>
        kv.commit({ check: [{ key: [p], version: null }], set: [{ key: [p], value: i }] }),
      )
      const won = (await Promise.all(race)).filter(Boolean)
      assert.equal(won.length, 1)
    },
  },
  {
    name: 'sums without losing an addition',
    async run(kv) {
      const p = fresh()
      const key: Key = [p, 'n']
      await Promise.all(Array.from({ length: 200 }, (_, i) => kv.commit({ sum: [{ key, add: { one: 1, i } }] })))
      assert.deepEqual((await kv.get(key))?.value, { one: 200, i: 19_900 })
      await kv.commit({ sum: [{ key, add: { one: -200, big: Number.MAX_SAFE_INTEGER } }] })
      assert.deepEqual((await kv.get(key))?.value, { one: 0, i: 19_900, big: Number.MAX_SAFE_INTEGER })
      await assert.rejects(kv.commit({ sum: [{ key, add: { big: 1 } }] }))
      await assert.rejects(kv.commit({ set: [{ key, value: 1 }] }))
    },
  },
  {
    name: 'checks a counter by its version',
    async run(kv) {
      const key: Key = [fresh(), 'n']
      await kv.commit({ sum: [{ key, add: { x: 1 } }] })
      const { version } = (await kv.get(key))!
      await kv.commit({ sum: [{ key, add: { x: 1 } }] })
      assert.equal(await kv.commit({ check: [{ key, version }], del: [key] }), false)
    },
  },
  {
    name: 'lists below a prefix, in order, forwards and backwards, in pages',
    async run(kv) {
      const p = fresh()
      const names = Array.from({ length: 1_300 }, (_, i) => String(i).padStart(5, '0'))
      const shuffled = names.toSorted((a, b) => (a.at(-1)! + a < b.at(-1)! + b ? -1 : 1))
      for (let i = 0; i < shuffled.length; i += 100)
        await kv.commit({ set: shuffled.slice(i, i + 100).map((n) => ({ key: [p, 'in', n], value: n })) })
      await kv.commit({
        set: [
          { key: [p, 'i'], value: 0 },
          { key: [p, 'in-'], value: 0 },
          { key: [p, 'inn', 'x'], value: 0 },
        ],
      })
      for (const reverse of [false, true]) {
        const got: unknown[] = []
        let after: Key | undefined
        do {
          const page = await kv.list<string>([p, 'in'], { reverse, limit: 37, ...(after && { after }) })
          assert.ok(page.items.length <= 37)
          got.push(...values(page))
          after = page.next
        } while (after)
        assert.deepEqual(got, reverse ? names.toReversed() : names)
      }
      assert.equal((await kv.list([p, 'in'])).items.length, 100)
      assert.equal((await kv.list([p, 'in'], { limit: 10_000 })).items.length, 500)
      assert.deepEqual(await kv.list([p, 'none']), { items: [] })
    },
  },
  {
    name: 'forgets a value at its time',
    async run(kv) {
      const p = fresh()
      const now = Date.now()
      await kv.commit({
        set: [
          { key: [p, 'old'], value: 1, expiresAt: now - 1 },
          { key: [p, 'new'], value: 2, expiresAt: now + 60_000 },
        ],
      })
      assert.equal(await kv.get([p, 'old']), null)
      assert.deepEqual(values(await kv.list([p])), [2])
      assert.equal(await kv.commit({ check: [{ key: [p, 'old'], version: null }] }), true)
    },
  },
  {
    name: 'keeps a chain of updates whole under contention',
    async run(kv) {
      const key: Key = [fresh()]
      await Promise.all(Array.from({ length: 50 }, () => update<number>(kv, key, (n) => (n ?? 0) + 1)))
      assert.equal((await kv.get(key))?.value, 50)
      assert.equal(await update<number>(kv, key, () => undefined), 50)
    },
  },
  {
    name: 'refuses an empty key',
    async run(kv) {
      assert.throws(() => encodeKey([]))
      await assert.rejects(kv.commit({ set: [{ key: [], value: 1 }] }))
    },
  },
]
