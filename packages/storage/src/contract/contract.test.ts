import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fsKV } from '../fs.js'
import { kvContract } from '../testing.js'

describe('memoryKV', () => {
  let kv: KV
  beforeAll(async () => {
    kv = await memoryKV()
  })
  for (const { name, run } of kvContract) it(name, () => run(kv))
})

describe('fsKV', () => {
  let folder: string
  let kv: KV
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
    kv = await fsKV(folder)
  })
  afterAll(async () => {
    await kv.close()
    await rm(folder, { recursive: true })
  })
  for (const { name, run } of kvContract) it(name, () => run(kv))
})

describe('the contract', () => {
  /** The names of the cases that fail on a store with a fault. */
  const failures = async (fault: (kv: KV) => Partial<KV>): Promise<string[]> => {
    const names: string[] = []
    for (const { name, run } of kvContract) {
      const kv = await memoryKV()
      await run({ ...kv, ...fault(kv) }).catch(() => names.push(name))
    }
    return names
  }

  it('detects the faults of a store', async () => {
    expect(await failures(() => ({}))).toEqual([])
    const unchecked = await failures((kv) => ({ commit: (change) => kv.commit({ ...change, check: [] }) }))
    expect(unchecked).toContain('lets one of a hundred concurrent callers create a key')
    expect(unchecked).toContain('applies commits atomically')
    expect(unchecked).toContain('loses no update under contention')
    const unordered = await failures((kv) => ({
      list: (prefix, options) => kv.list(prefix, { ...options, reverse: false }),
    }))
    expect(unordered).toContain('lists below a prefix, in order, forwards and backwards, in pages')
    const eternal = await failures((kv) => ({
      commit: ({ set, ...rest }) =>
        kv.commit({ ...rest, ...(set && { set: set.map(({ key, value }) => ({ key, value })) }) }),
    }))
    expect(eternal).toContain('expires a value at its time')
  })
})
