import { memoryKV } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { exportStore, importStore } from './transfer.js'

const lines = async (from: AsyncIterable<string>): Promise<string[]> => {
  const all: string[] = []
  for await (const line of from) all.push(line)
  return all
}

async function filled() {
  const kv = await memoryKV()
  await kv.commit({
    set: [
      { key: ['a', 'A/ü'], value: { text: 'x\n"y"' } },
      { key: ['a', 'b'], value: null },
      { key: ['ends'], value: [1], expiresAt: 9e12 },
    ],
    sum: [{ key: ['n'], add: { x: 2 ** 53 - 1, y: -1 } }],
  })
  return kv
}

describe('an export', () => {
  it('is one line per entry, between a header and the count', async () => {
    expect(await lines(exportStore(await filled()))).toEqual([
      '{"turnpike":"store","form":1}',
      '{"key":["a","b"],"value":null}',
      '{"key":["a","A/ü"],"value":{"text":"x\\n\\"y\\""}}',
      '{"key":["ends"],"value":[1],"expiresAt":9000000000000}',
      '{"key":["n"],"counter":{"x":9007199254740991,"y":-1}}',
      '{"entries":4}',
    ])
  })

  it('has no character in a line that ends one for some readers', async () => {
    const kv = await memoryKV()
    const value = { text: 'a\u2028b\u2029c' }
    await kv.commit({ set: [{ key: ['a'], value }] })
    const exported = await lines(exportStore(kv))
    expect(exported.join()).not.toMatch(/[\u2028\u2029]/)
    const copy = await memoryKV()
    await importStore(copy, exported)
    expect((await copy.get(['a']))?.value).toEqual(value)
  })

  it('can be imported to the same store, in pages and groups', async () => {
    const kv = await filled()
    for (let i = 0; i < 1_700; i++) await kv.commit({ set: [{ key: ['many', String(i)], value: 'x'.repeat(i) }] })
    const exported = await lines(exportStore(kv))
    const copy = await memoryKV()
    const seen: number[] = []
    expect(await importStore(copy, exported, (entries) => seen.push(entries))).toBe(1_704)
    expect(await lines(exportStore(copy))).toEqual(exported)
    expect(seen.length).toBeGreaterThan(3)
    expect(seen.at(-1)).toBe(1_704)
    expect(await copy.commit({ sum: [{ key: ['n'], add: { y: 1 } }] })).toBe(true)
  })

  it('of an empty store is possible', async () => {
    const empty = await lines(exportStore(await memoryKV()))
    expect(empty).toEqual(['{"turnpike":"store","form":1}', '{"entries":0}'])
    expect(await importStore(await memoryKV(), empty)).toBe(0)
  })
})

describe('an import', () => {
  it('is refused by a store with entries', async () => {
    await expect(importStore(await filled(), [])).rejects.toThrow('The store has entries; an import needs an empty one')
  })

  it.each<[what: string, change: (lines: string[]) => string[], message: string]>([
    ['of no lines', () => [], 'The export has no end; 0 were read'],
    ['of something else', () => ['{"a":1}'], 'This is no export of a store'],
    ['of a newer format', ([, ...rest]) => ['{"turnpike":"store","form":2}', ...rest], 'This is no export of a store'],
    ['without its end', (all) => all.slice(0, -1), 'The export has no end; 4 were read'],
    ['with a line missing', (all) => all.toSpliced(2, 1), 'The export has 4 entries; 3 were read'],
    ['with more lines after its end', (all) => [...all, all[1]!], 'Line 7 comes after the end'],
  ])('%s is refused', async (_, change, message) => {
    const exported = await lines(exportStore(await filled()))
    await expect(importStore(await memoryKV(), change(exported))).rejects.toMatchObject({
      name: 'StorageError',
      message,
    })
  })
})
