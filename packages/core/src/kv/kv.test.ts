import { describe, expect, it } from 'vitest'
import type { Key } from './kv.js'
import { decodeKey, encodeKey, update } from './kv.js'
import { memoryKV } from './memory-kv.js'

describe('encodeKey', () => {
  it.each<[key: Key, text: string]>([
    [['user', '0190-abc_d'], 'user/0190-abc_d'],
    [['a'], 'a'],
    [['A', 'a b'], '~41/~612062'],
    [['a/b', '..', ''], '~612f62/~2e2e/~'],
    [['é', '😀'], '~c3a9/~f09f9880'],
    [['~'], '~7e'],
    [['\ufeffa', '\ufeff'], '~efbbbf61/~efbbbf'],
  ])('encodes %j as %s, and decodes it', (key, text) => {
    expect(encodeKey(key)).toBe(text)
    expect(decodeKey(text)).toEqual(key)
  })

  it('refuses a key without segments', () => {
    expect(() => encodeKey([])).toThrow(TypeError)
  })
})

describe('update', () => {
  it('changes, creates or keeps a value', async () => {
    const kv = await memoryKV()
    expect(await update<number>(kv, ['n'], (n) => (n ?? 10) + 1)).toBe(11)
    expect(await update<number>(kv, ['n'], (n) => (n ?? 10) + 1)).toBe(12)
    expect(await update<number>(kv, ['n'], () => undefined)).toBe(12)
    expect(await update<number>(kv, ['none'], () => undefined)).toBeNull()
    expect(await kv.get(['none'])).toBeNull()
  })

  it('retries with the current value when another writer was faster', async () => {
    const kv = await memoryKV()
    await kv.commit({ set: [{ key: ['n'], value: 1 }] })
    const seen: (number | null)[] = []
    const racing = {
      ...kv,
      commit: async (commit: Parameters<typeof kv.commit>[0]) => {
        if (seen.length === 1) await kv.commit({ set: [{ key: ['n'], value: 50 }] })
        return kv.commit(commit)
      },
    }
    const stored = await update<number>(racing, ['n'], (n) => {
      seen.push(n)
      return (n ?? 0) + 1
    })
    expect(seen).toEqual([1, 50])
    expect(stored).toBe(51)
  })
})
