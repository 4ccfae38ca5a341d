import assert from 'node:assert/strict'
import type { Key } from '@turnpike/core'
import type { ContractCase } from './contract-case.js'
import { fresh } from './contract-case.js'

/** The contract of `sum`. */
export const sumContract: ContractCase[] = [
  {
    name: 'sums without losing an addition',
    async run(kv) {
      const p = fresh()
      const key: Key = [p, 'n']
      await Promise.all(Array.from({ length: 200 }, (_, i) => kv.commit({ sum: [{ key, add: { one: 1, i } }] })))
      assert.deepEqual((await kv.get(key))?.value, { one: 200, i: 19_900 })
      await kv.commit({ sum: [{ key, add: { one: -200, big: Number.MAX_SAFE_INTEGER } }] })
      assert.deepEqual((await kv.get(key))?.value, { one: 0, i: 19_900, big: Number.MAX_SAFE_INTEGER })
      await assert.rejects(kv.commit({ set: [{ key, value: 1 }] }))
    },
  },
  {
    name: 'keeps a sum within the safe integers, and applies the commit',
    async run(kv) {
      const key: Key = [fresh()]
      const full = { up: Number.MAX_SAFE_INTEGER, down: Number.MIN_SAFE_INTEGER }
      for (const add of [full, { up: 1, down: -1, x: 1 }, { ...full, x: 1 }])
        assert.equal(await kv.commit({ sum: [{ key, add }] }), true)
      assert.deepEqual((await kv.get(key))?.value, { ...full, x: 2 })
      const less = { up: Number.MAX_SAFE_INTEGER - 3, down: Number.MIN_SAFE_INTEGER + 3, x: 2 }
      await kv.commit({ sum: [{ key, add: { up: -3, down: 3 } }] })
      assert.deepEqual((await kv.get(key))?.value, less)
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
    name: 'starts a counter again after a delete, and after an expired value',
    async run(kv) {
      const p = fresh()
      await kv.commit({ sum: [{ key: [p, 'n'], add: { x: 1 } }] })
      await kv.commit({ del: [[p, 'n']], sum: [{ key: [p, 'n'], add: { y: 1 } }] })
      assert.deepEqual((await kv.get([p, 'n']))?.value, { y: 1 })
      await kv.commit({ set: [{ key: [p, 'ended'], value: 1, expiresAt: Date.now() - 1 }] })
      await kv.commit({ sum: [{ key: [p, 'ended'], add: { x: 1 } }] })
      assert.deepEqual((await kv.get([p, 'ended']))?.value, { x: 1 })
    },
  },
  {
    name: 'sums several additions of one commit to one key',
    async run(kv) {
      const key: Key = [fresh()]
      const sum = [1, 2].map((x) => ({ key, add: { x } }))
      await kv.commit({ sum })
      assert.deepEqual((await kv.get(key))?.value, { x: 3 })
    },
  },
]
