import { beforeEach, describe, expect, it } from 'vitest'
import type { KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { counting, growth } from './counts.js'

const key = ['owned', 'ada']
let kv: KV
beforeEach(async () => {
  kv = await memoryKV()
})

const stored = async () => (await kv.get<object>(key))?.value

describe('counting', () => {
  it('adds, and takes off, whatever the limit', async () => {
    await kv.commit(await counting(kv, key, { keys: 3 }))
    await kv.commit(await counting(kv, key, { keys: -1 }, { limits: { keys: 1 } }))
    expect(await stored()).toEqual({ keys: 2 })
  })

  it('refuses what is more than the limit, and depends on what it has read', async () => {
    const limits = { keys: 2 }
    const both = await Promise.all([
      counting(kv, key, { keys: 2 }, { limits }),
      counting(kv, key, { keys: 1 }, { limits }),
    ])
    expect([await kv.commit(both[0]), await kv.commit(both[1])]).toEqual([true, false])
    await expect(counting(kv, key, { keys: 1 }, { limits })).rejects.toMatchObject({
      status: 403,
      message: 'Your plan has 2 keys, and this would be more',
    })
    await expect(counting(kv, key, { keys: 1, tasks: 1 }, { limits: { tasks: 0 } })).rejects.toThrow('0 tasks')
  })

  it('lets parallel ones pass far from the limit', async () => {
    const limits = { tasks: 1_003 }
    await kv.commit(await counting(kv, key, { tasks: 1 }, { limits }))
    const far = await Promise.all([1, 2].map(() => counting(kv, key, { tasks: 1 }, { limits })))
    expect([await kv.commit(far[0]!), await kv.commit(far[1]!)]).toEqual([true, true])
    const near = await Promise.all([1, 2].map(() => counting(kv, key, { tasks: 1 }, { limits })))
    expect([await kv.commit(near[0]!), await kv.commit(near[1]!)]).toEqual([true, false])
  })

  it('begins with what was not counted, once', async () => {
    const uncounted = { keys: async () => 4 }
    const options = { limits: { keys: 5 }, uncounted }
    const both = await Promise.all([
      counting(kv, key, { keys: 1 }, options),
      counting(kv, key, { keys: -1 }, { uncounted }),
    ])
    expect([await kv.commit(both[0]), await kv.commit(both[1])]).toEqual([true, false])
    expect(await stored()).toEqual({ keys: 5 })
    await expect(counting(kv, key, { keys: 1 }, options)).rejects.toMatchObject({ status: 403 })
  })

  it('never falls below 0, where what was made before it was counted is removed', async () => {
    await kv.commit(await counting(kv, key, { bytes: 10 }))
    const both = await Promise.all([counting(kv, key, { bytes: -8 }), counting(kv, key, { bytes: -8 })])
    expect([await kv.commit(both[0]), await kv.commit(both[1])]).toEqual([true, false])
    await kv.commit(await counting(kv, key, { bytes: -8 }))
    expect(await stored()).toEqual({ bytes: 0 })
    await kv.commit(await counting(kv, ['owned', 'bob'], { bytes: -8 }))
    expect((await kv.get(['owned', 'bob']))?.value).toEqual({ bytes: 0 })
  })

  it('depends on what it has read where a thousand times as much would not fit', async () => {
    const limits = { bytes: 10_000 }
    const both = (bytes: number) => Promise.all([1, 2].map(() => counting(kv, key, { bytes }, { limits })))
    await kv.commit(await counting(kv, key, { bytes: 1 }, { limits }))
    expect((await both(9)).map(({ check }) => check.length)).toEqual([0, 0])
    expect((await both(11)).map(({ check }) => check.length)).toEqual([1, 1])
  })

  it('reads the counter once, or not where it was read', async () => {
    const entry = await kv.get<Record<string, number>>(key)
    await kv.commit({ sum: [{ key, add: { bytes: 7 } }] })
    const { check } = await counting(kv, key, { bytes: 1 }, { limits: { bytes: 5 }, entry })
    expect(check).toEqual([{ key, version: null }])
  })
})

describe('growth', () => {
  it('is the bytes of keys and values in UTF-8, and 200 of each entry', () => {
    expect(growth([{ key: ['a', 'b'], value: 'é' }])).toEqual({ bytes: 200 + 3 + 4 })
    expect(growth([{ key: ['a'], value: '\0' }])).toEqual({ bytes: 200 + 1 + 8 })
    expect(growth([], [{ key: ['a'], value: true }])).toEqual({ bytes: -205 })
    const long = { key: ['a'], value: 'xyz' }
    expect(growth([{ ...long, value: 'x' }], [long])).toEqual({ bytes: -2 })
  })
})
