import assert from 'node:assert/strict'
import type { Entry, Key } from '@turnpike/core'
import { PAGE_BYTES } from '@turnpike/core/internal'
import type { ContractCase } from './contract-case.js'
import { fresh, values } from './contract-case.js'

const withoutVersion = (entry: Entry<unknown>): object => {
  const { version: _, ...rest } = entry
  return rest
}

/** The contract of `list`. */
export const listContract: ContractCase[] = [
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
    name: 'ends a page where its values are large, and only there',
    async run(kv) {
      const p = fresh()
      const names = ['a', 'b', 'c', 'd', 'e', 'f']
      const keys = names.map((n): Key => [p, n])
      // The last key of each direction has expired: no cursor leads to it.
      for (const key of [[p, '0'], ...keys, [p, 'g']])
        await kv.commit({
          set: [
            key[1]! < 'a' || key[1]! > 'f'
              ? { key, value: 0, expiresAt: Date.now() - 1 }
              : { key, value: key[1]! + 'x'.repeat(0.7 * PAGE_BYTES) },
          ],
        })
      const first = ({ value }: Entry<string>): string => value[0]!
      for (const reverse of [false, true]) {
        const pages: string[] = []
        for (let after: Key | undefined, last = false; !last;) {
          const { items, next } = await kv.list<string>([p], { reverse, ...(after && { after }) })
          pages.push(items.map(first).join(''))
          after = next
          last = next === undefined
        }
        assert.deepEqual(pages, reverse ? ['fe', 'dc', 'ba'] : ['ab', 'cd', 'ef'])
      }
      assert.equal((await kv.list<string>([p], { limit: 1 })).items.length, 1)
      const wanted: Key[] = [[p, 'none'], ...keys.toReversed(), keys[0]!]
      const part = await kv.getMany<string>(wanted, { page: true })
      assert.deepEqual(
        part.map((entry) => entry && first(entry)),
        [null, 'f', 'e'],
      )
      assert.equal((await kv.getMany(wanted)).length, 8)
      assert.deepEqual(await kv.getMany([], { page: true }), [])
      // A value that is larger than a page is a page of its own.
      await kv.commit({ set: [{ key: keys[0]!, value: 'a'.repeat(1.1 * PAGE_BYTES) }] })
      assert.deepEqual((await kv.list<string>([p])).items.map(first), ['a'])
    },
  },
  {
    name: 'returns no cursor with the last page, also where the following entries have expired',
    async run(kv) {
      const p = fresh()
      const ended = Date.now() - 1
      await kv.commit({
        set: ['a', 'b', 'c'].map((n) => ({ key: [p, n], value: n, ...(n === 'c' && { expiresAt: ended }) })),
      })
      assert.equal((await kv.list([p], { limit: 2 })).next, undefined)
      assert.deepEqual((await kv.list([p], { limit: 1 })).next, [p, 'a'])
      assert.deepEqual((await kv.list([p], { limit: 1, reverse: true })).next, [p, 'b'])
      assert.equal((await kv.list([p], { limit: 1, reverse: true, after: [p, 'b'] })).next, undefined)
    },
  },
  {
    name: 'lists nothing beyond its prefix, for any page',
    async run(kv) {
      const p = fresh()
      await kv.commit({
        set: ['a', 'b', 'c'].flatMap((n) => ['x', 'y'].map((m) => ({ key: [p, n, m], value: n + m }))),
      })
      const list = async (after: Key, reverse: boolean) => values(await kv.list([p, 'b'], { after, reverse }))
      assert.deepEqual(await list([p, 'a', 'x'], false), ['bx', 'by'])
      assert.deepEqual(await list([p, 'c', 'x'], true), ['by', 'bx'])
      assert.deepEqual(await list([p, 'c', 'x'], false), [])
      assert.deepEqual(await list([p, 'a', 'x'], true), [])
      assert.deepEqual(await list([p, 'b', 'x'], false), ['by'])
      assert.deepEqual(await list([p, 'b', 'none'], false), ['bx', 'by'])
    },
  },
  {
    name: 'skips expired entries until a page is full',
    async run(kv) {
      const p = fresh()
      const ended = Date.now() - 1
      const name = (i: number): string => String(i).padStart(2, '0')
      const all = Array.from({ length: 60 }, (_, i) => ({ key: [p, name(i)], value: i }))
      await kv.commit({ set: all.map((entry, i) => (i % 6 === 5 ? entry : { ...entry, expiresAt: ended })) })
      for (const reverse of [false, true]) {
        const alive = reverse ? [59, 53, 47, 41, 35, 29, 23, 17, 11, 5] : [5, 11, 17, 23, 29, 35, 41, 47, 53, 59]
        const first = await kv.list([p], { limit: 5, reverse })
        assert.deepEqual(values(first), alive.slice(0, 5))
        const second = await kv.list([p], { limit: 5, reverse, after: first.next! })
        assert.deepEqual(values(second), alive.slice(5))
        assert.equal(second.next, undefined)
      }
    },
  },
  {
    name: 'lists everything, with counters and expiry times',
    async run(kv) {
      const p = fresh()
      const expiresAt = Date.now() + 60_000
      await kv.commit({
        set: [
          { key: [p, 'a'], value: { x: 1 } },
          { key: [p, 'b'], value: 2, expiresAt },
        ],
        sum: [{ key: [p, 'c'], add: { x: 1 } }],
      })
      const found: object[] = []
      for (let after: Key | undefined; ;) {
        const { items, next } = await kv.list([], { ...(after && { after }) })
        for (const entry of items) if (entry.key[0] === p) found.push(withoutVersion(entry))
        if (!next) break
        after = next
      }
      const expected = [
        { key: [p, 'a'], value: { x: 1 } },
        { key: [p, 'b'], value: 2, expiresAt },
        { key: [p, 'c'], value: { x: 1 }, counter: true },
      ]
      assert.deepEqual(found, expected)
      const got = await kv.getMany(expected.map(({ key }) => key))
      assert.deepEqual(
        got.map((entry) => withoutVersion(entry!)),
        expected,
      )
      assert.equal((await kv.list([], { limit: 1, reverse: true })).items.length, 1)
    },
  },
]
