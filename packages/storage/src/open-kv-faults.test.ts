import type { KV } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { groups, mapDriver, likeFiles, set } from '../../../test/support/map-driver.js'
import { openKV } from './open-kv.js'
import type { StorageLike } from './log/storage-like.js'

describe('a damaged store', () => {
  const written = async () => {
    const at = mapDriver()
    const kv = await openKV(at.driver)
    for (const name of ['a', 'b', 'c']) await kv.commit(set(name))
    await kv.close()
    return { ...at, names: groups(at.items).toSorted() }
  }

  it('in the middle is refused, with the name of the item', async () => {
    for (const damage of ['flip', 'cut', 'gone']) {
      const { driver, items, names } = await written()
      const [, , name] = names
      const text = items.get(name!)!
      if (damage === 'gone') items.delete(name!)
      else items.set(name!, damage === 'cut' ? text.slice(0, -9) : text.replace('"b', '"x'))
      await expect(openKV(driver)).rejects.toMatchObject({
        name: 'StorageError',
        outcome: 'none',
        message: `The store cannot be opened: ${damage === 'gone' ? 'the item with group 3 is missing' : `item ${name!.slice(3)} is corrupt`}. Restore it from a backup`,
      })
    }
  })

  it('at its end loses only what was never acknowledged, and continues', async () => {
    const { driver, items, names } = await written()
    items.set(names.at(-1)!, items.get(names.at(-1)!)!.slice(0, -9))
    const kv = await openKV(driver)
    expect(await kv.getMany([['b'], ['c']])).toMatchObject([{ value: 'b' }, null])
    expect(await kv.commit({ check: [{ key: ['c'], version: null }], ...set('c', 'again') })).toBe(true)
    await kv.close()
    expect((await (await openKV(driver)).get(['c']))?.value).toBe('again')
  })

  it('at its end is refused on a driver with atomic writes', async () => {
    const { driver, items, names } = await written()
    items.set(names.at(-1)!, items.get(names.at(-1)!)!.slice(0, -9))
    await expect(openKV({ ...driver, atomic: true } as StorageLike)).rejects.toThrow('is corrupt')
  })

  it('while it is open fails for that value only, and names the item', async () => {
    const { driver, items } = mapDriver()
    const kv = await openKV(driver, { cache: 0 })
    await kv.commit(set('a'))
    const [, name] = groups(items)
    await kv.commit(set('b'))
    items.set(name!, 'x')
    await expect(kv.get(['a'])).rejects.toMatchObject({
      name: 'StorageError',
      message: `a cannot be read: item ${name!.slice(3)} is missing or corrupt`,
    })
    expect((await kv.get(['b']))?.value).toBe('b')
  })

  it('in values that a start does not read fails for those only, warns, and is left out of merges', async () => {
    const { driver, items } = mapDriver()
    const options = { mergeAfter: 4, itemSize: 2_000, cache: 0 }
    const filled = async (kv: KV, name: string) => {
      for (let i = 0; i < 40; i++) await kv.commit(set(`${name}${i}`, 'x'.repeat(200)))
      await kv.close()
    }
    await filled(await openKV(likeFiles(driver), options), 'a')
    const merged = groups(items).find((name) => items.get(name)!.includes('"a20"'))!
    const text = items.get(merged)!
    expect(text.length).toBeGreaterThan(1_500)
    items.set(merged, text.replace(/x"$/, 'y"'))
    const kv = await openKV(likeFiles(driver), options)
    expect(await kv.health()).toEqual({ ok: true })
    const keys = Array.from({ length: 40 }, (_, i) => [`a${i}`])
    const found = await Promise.allSettled(keys.map((key) => kv.get(key)))
    const lost = keys.filter((_, i) => found[i]!.status === 'rejected')
    expect(lost.length).toBeGreaterThan(0)
    expect(lost.length).toBeLessThan(5)
    await expect(kv.get(lost[0]!)).rejects.toMatchObject({
      name: 'StorageError',
      message: `${lost[0]![0]} cannot be read: item ${merged.slice(3)} is missing or corrupt`,
    })
    const warning = `Item ${merged.slice(3)} is missing or corrupt, so some entries cannot be read. Restore it from a backup`
    expect(await kv.health()).toEqual({ ok: true, warnings: [warning] })

    // The item stays as it is, and so do the deletes of its keys. All others are merged.
    const others = keys.filter((key) => !lost.includes(key))
    await kv.commit({ del: others })
    await filled(kv, 'b')
    expect(groups(items)).toContain(merged)
    expect(groups(items).length).toBeLessThan(20)
    const again = await openKV(likeFiles(driver), options)
    expect(await again.getMany(others)).toEqual(others.map(() => null))
    expect((await again.get(['b7']))?.value).toBe('x'.repeat(200))
  })

  it('or of a newer version, is not modified', async () => {
    const { driver, items } = await written()
    for (const [key, text] of items) items.set(key, text.replace('turnpike 3', 'turnpike 10'))
    const before = new Map(items)
    await expect(openKV(driver)).rejects.toThrow(
      'The store has the form "turnpike 10", and this version reads "turnpike 3"',
    )
    expect(items).toEqual(before)
  })
})

describe('a second opening', () => {
  it('takes over the store from the first, which acknowledges and shows nothing more', async () => {
    const { driver } = mapDriver()
    const first = await openKV(driver)
    await first.commit(set('a'))
    const second = await openKV(driver)
    await expect(first.commit(set('a', 'lost'))).rejects.toMatchObject({ name: 'StorageError', outcome: 'unknown' })
    await expect(first.get(['a'])).rejects.toThrow('Another process has opened this store')
    expect(await first.health()).toMatchObject({ ok: false })
    expect((await second.get(['a']))?.value).toBe('a')
    expect(await second.commit(set('b'))).toBe(true)
    await second.close()
    expect((await (await openKV(driver)).get(['a']))?.value).toBe('a')
  })

  it('is detected by health()', async () => {
    const { driver } = mapDriver()
    const first = await openKV(driver)
    await openKV(driver)
    expect(await first.health()).toEqual({ ok: false, reason: expect.stringContaining('Another process') as string })
  })
})

describe('a driver that fails', () => {
  it('is reported with the known outcome, and the store continues', async () => {
    const { driver, faults } = mapDriver()
    const kv = await openKV(driver)
    let failures = 1
    faults.setItem = () => {
      if (failures-- > 0) throw new Error('disk full')
    }
    await expect(kv.commit(set('a'))).rejects.toMatchObject({ outcome: 'none', cause: { message: 'disk full' } })
    expect(await kv.health()).toEqual({ ok: true })
    failures = 2
    await expect(kv.commit(set('a'))).rejects.toMatchObject({ outcome: 'unknown' })
    failures = 1
    expect(await kv.health()).toMatchObject({ ok: false })
    expect(await kv.health()).toEqual({ ok: true })
    expect(await kv.commit({ check: [{ key: ['a'], version: null }], ...set('a') })).toBe(true)
  })

  it('by returning an error as a value is treated as failed', async () => {
    const { driver, faults } = mapDriver()
    const kv = await openKV(driver, { cache: 0 })
    await kv.commit(set('a'))
    faults.getItem = () => new Error('EIO')
    await expect(kv.get(['a'])).rejects.toThrow('EIO')
  })

  it('by never answering times out', async () => {
    const { driver, faults } = mapDriver()
    const kv = await openKV(driver, { timeout: 20 })
    faults.setItem = () => new Promise(() => undefined)
    await expect(kv.commit(set('a'))).rejects.toMatchObject({
      outcome: 'unknown',
      cause: { message: 'The storage has not answered a write for 20 ms' },
    })
  })
})
