import assert from 'node:assert/strict'
import type { JsonValue, Key } from '@turnpike/core'
import { update } from '@turnpike/core'
import { encodeKey } from '@turnpike/core/internal'
import type { ContractCase } from './contract-case.js'
import { fresh, values } from './contract-case.js'
import { listContract } from './kv-contract-lists.js'
import { sumContract } from './kv-contract-sums.js'

const strange = ['a/b', 'a:b', 'a?b=1', 'a$', '..', '.', '~', '', 'ü€😀', 'A', 'a', 'x'.repeat(90), ' ', '\0', '%2F']

/**
 * The contract of `KV`: the cases that each engine has to pass.
 * @example for (const { name, run } of kvContract) it(name, () => run(kv))
 */
export const kvContract: ContractCase[] = [
  {
    name: 'returns what was set, and null for a missing key',
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
    name: 'returns copies',
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
    name: 'distinguishes keys of any characters',
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
    name: 'applies commits atomically',
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
    name: 'changes the version with every write and never reuses one',
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
    name: 'lets one of a hundred concurrent callers create a key',
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
    name: 'expires a value at its time',
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
    name: 'loses no update under contention',
    async run(kv) {
      const key: Key = [fresh()]
      await Promise.all(Array.from({ length: 50 }, () => update<number>(kv, key, (n) => (n ?? 0) + 1)))
      assert.equal((await kv.get(key))?.value, 50)
      assert.equal(await update<number>(kv, key, () => undefined), 50)
    },
  },
  {
    name: 'keeps every character of a value and of a field',
    async run(kv) {
      const p = fresh()
      const text =
        Array.from({ length: 0x250 }, (_, i) => String.fromCharCode(i)).join('') + '\ud800 \u2028 \u{1f600} \ufeff'
      await kv.commit({ set: [{ key: [p, 'v'], value: { [text]: text } }] })
      assert.deepEqual((await kv.get([p, 'v']))?.value, { [text]: text })
      const names = [text.replace('\ud800', ''), '__proto__', 'constructor', 'toString']
      const add = Object.fromEntries(names.map((name, i) => [name, i]))
      for (let i = 0; i < 2; i++) await kv.commit({ sum: [{ key: [p, 'n'], add }] })
      const fields = new Map(Object.entries((await kv.get<Record<string, number>>([p, 'n']))!.value))
      assert.deepEqual(fields, new Map(names.map((name, i) => [name, 2 * i])))
    },
  },
  {
    name: 'refuses an invalid commit alone, and applies the others of its group',
    async run(kv) {
      const p = fresh()
      const set = (name: string, value: unknown) => ({ set: [{ key: [p, name], value: value as JsonValue }] })
      const sum = (name: string, add: Record<string, number>) => ({ sum: [{ key: [p, name], add }] })
      await kv.commit({ ...sum('n', { x: 1, big: Number.MAX_SAFE_INTEGER - 1 }), ...set('v', 1) })
      const bad = [
        set('n', 1),
        sum('v', { x: 1 }),
        { ...set('half', 1), ...sum('v', { y: 1 }) },
        sum('n', { big: 0.25 }),
        sum('n', { x: Number.NaN }),
        set('none', undefined),
        { set: [{ key: [p, 'time'], value: 1, expiresAt: Number.NaN }] },
      ]
      const lost = { check: [{ key: [p, 'v'], version: null }], ...set('lost', 1) }
      const results = await Promise.allSettled(
        [set('good', 1), ...bad, lost, set('good', 2), {}].map((c) => kv.commit(c)),
      )
      assert.deepEqual(
        results.map((result) => (result.status === 'fulfilled' ? result.value : 'refused')),
        [true, ...bad.map(() => 'refused'), false, true, true],
      )
      assert.deepEqual(
        (await kv.list([p])).items.map(({ key }) => key[1]),
        ['good', 'n', 'v'],
      )
      assert.deepEqual((await kv.get([p, 'n']))?.value, { x: 1, big: Number.MAX_SAFE_INTEGER - 1 })
    },
  },
  {
    name: 'copies a value when set is called',
    async run(kv) {
      const p = fresh()
      const value = { list: [1] }
      const waits = [kv.commit({ set: [{ key: [p, 'first'], value: 1 }] }), kv.commit({ set: [{ key: [p], value }] })]
      value.list.push(2)
      await Promise.all(waits)
      assert.deepEqual((await kv.get([p]))?.value, { list: [1] })
    },
  },
  {
    name: 'accepts an empty commit',
    async run(kv) {
      const key: Key = [fresh()]
      assert.equal(await kv.commit({}), true)
      assert.equal(await kv.commit({ sum: [{ key, add: {} }] }), true)
      assert.deepEqual((await kv.get(key))?.value, {})
      assert.deepEqual(await kv.getMany([]), [])
    },
  },
  {
    name: 'refuses a key that is too long for some engine',
    async run(kv) {
      const key: Key = [fresh(), 'x'.repeat(2_001)]
      await assert.rejects(kv.get(key))
      await assert.rejects(kv.commit({ set: [{ key, value: 1 }] }))
    },
  },
  {
    name: 'prevents write skew between two commits',
    async run(kv) {
      const p = fresh()
      const create = (absent: string, present: string) =>
        kv.commit({ check: [{ key: [p, absent], version: null }], set: [{ key: [p, present], value: 1 }] })
      for (let i = 0; i < 20; i++) {
        const done = await Promise.all([create(`a${i}`, `b${i}`), create(`b${i}`, `a${i}`)])
        assert.deepEqual(done.toSorted(), [false, true])
      }
    },
  },
  {
    name: 'refuses an empty key',
    async run(kv) {
      assert.throws(() => encodeKey([]))
      await assert.rejects(kv.commit({ set: [{ key: [], value: 1 }] }))
    },
  },
  ...sumContract,
  ...listContract,
]
