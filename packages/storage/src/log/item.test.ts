import { logEntry } from '@turnpike/core/internal'
import { describe, expect, it } from 'vitest'
import { checked, decodeItem, encodeItem, valueIn } from './item.js'

const values = ['""', '"plain"', '{"a":"b\\nc"}', '"ü☃😀"', `"${'x'.repeat(50)}"`, '"\ufeff"', '7']

describe('an item', () => {
  const list = [
    ...values.map((j, i) => logEntry(`key/${i}`, i + 1, j, undefined, i === 1 ? 9_000 : undefined)),
    logEntry('counter', 20, undefined, { 'calls ü': 3 }, undefined),
    logEntry('deleted', 21, undefined, undefined, undefined),
  ]
  const encoded = () => encodeItem('1-1-1-1', 33, list, ({ j }) => j, 40)
  const plain = (parts: { entries: object[] }[]) => parts.flatMap(({ entries }) => entries)

  it('is decoded as it was encoded', async () => {
    const { parts, bytes } = await encoded()
    expect(parts.length).toBeGreaterThan(1)
    expect(await decodeItem('1-1-1-1', bytes, true)).toEqual({ version: 33, parts })
    expect(plain(parts)).toEqual(list)
  })

  it('is decoded without its values from its first line', async () => {
    const { parts, bytes } = await encoded()
    const decoded = await decodeItem('1-1-1-1', bytes.subarray(0, bytes.indexOf(10) + 1), false)
    expect(decoded!.parts.map(({ lengths }) => lengths)).toEqual(parts.map(({ lengths }) => lengths))
    expect(plain(decoded!.parts)).toEqual(list.map((entry) => (entry.j === undefined ? entry : { ...entry, j: null })))
    // Each value is where its block and the lengths before it say.
    const found: (string | undefined)[] = []
    for (const { at, bytes: size, sum, lengths } of decoded!.parts) {
      const block = await checked(bytes.subarray(at, at + size), sum!)
      let begin = 0
      for (const length of lengths) if (length > 0) found.push(block!.slice(begin, (begin += length)))
    }
    expect(found).toEqual(values)
  })

  it('is corrupt with any byte changed or missing, or under another name', async () => {
    const { bytes } = await encoded()
    // Of the number of the form, which is compared first, the checksum says nothing.
    const form = 'turnpike '.length
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice()
      changed[at]! ^= 1
      if (at !== form) expect(await decodeItem('1-1-1-1', changed, true), `byte ${at}`).toBeUndefined()
      expect(await decodeItem('1-1-1-1', bytes.subarray(0, at), true), `${at} bytes`).toBeUndefined()
    }
    expect(await decodeItem('1-1-1-2', bytes, true)).toBeUndefined()
  })

  it('without entries is valid', async () => {
    const { bytes } = await encodeItem('1-1-1-1', 5, [], () => undefined, 40)
    expect(await decodeItem('1-1-1-1', bytes, true)).toEqual({ version: 5, parts: [] })
  })
})

describe('valueIn', () => {
  const texts = [
    ...values,
    '',
    '"\\""',
    '"\\\\"',
    '"\\\\\\""',
    '{"k":"b","v":2,"j":"x"}',
    '{"k":"b","v":2,"j":',
    'ends with a backslash \\',
    'two \\\\',
    'line\nbreak\u2028 ☃ \ud83d',
  ]
  const entries = texts.map((j, i) => ({ k: `key/${i}`, v: i + 1, j }))
  const json = JSON.stringify({ v: 99, e: [...entries, { k: 'c', v: 50, c: { n: 1 } }, { k: 'd', v: 51 }] })

  it('returns each value as it was stored', () => {
    expect(entries.map((entry) => valueIn(json, entry))).toEqual(texts)
  })

  it('returns nothing else', () => {
    for (const entry of [
      { k: 'key/1', v: 1 },
      { k: 'key/99', v: 2 },
      { k: 'ey/1', v: 2 },
      { k: 'b', v: 2 },
      { k: 'c', v: 50 },
      { k: 'd', v: 51 },
    ])
      expect(valueIn(json, entry), entry.k).toBeUndefined()
    expect(valueIn(json.slice(0, json.indexOf('break')), entries.at(-1)!)).toBeUndefined()
  })
})
