import { setTimeout as sleep } from 'node:timers/promises'
import { StorageError } from '@turnpike/core'
import type { StorageLike } from '@turnpike/storage'
import { unstorageBlobs } from '@turnpike/storage'
import { describe, expect, it } from 'vitest'
import { options, textOf } from '../support/blobs.js'

/** What befalls the call of a driver: it fails before or after it is applied, or the process dies; a write in place is then cut off. */
const faults = ['fails', 'applies then fails', 'dies', 'applies then dies', 'tears'] as const
type Fault = (typeof faults)[number]

/** A driver whose call number `at` meets a fault. */
function faultyDriver(items: Map<string, unknown>, at: number, fault: Fault) {
  let calls = 0
  let isDead = false
  const call = async <T>(run: () => T, tear?: () => void): Promise<T> => {
    await undefined
    if (isDead) throw new Error('dead')
    if (calls++ !== at) return run()
    isDead = fault !== 'fails' && fault !== 'applies then fails'
    if (fault.startsWith('applies')) run()
    if (fault === 'tears') tear?.()
    throw new Error('injected')
  }
  const set = <T extends string | Uint8Array>(key: string, value: T): Promise<void> =>
    call(
      () => void items.set(key, value),
      () => void items.set(key, value.slice(0, value.length / 2)),
    )
  const get = (key: string): Promise<unknown> => call(() => items.get(key) ?? null)
  const storage: StorageLike = {
    getItem: get,
    getItemRaw: get,
    setItem: set,
    setItemRaw: set,
    removeItem: (key) => call(() => void items.delete(key)),
    getKeys: () => call(() => [...items.keys()]),
  }
  return { storage, isMet: () => calls > at }
}

const open = (items: Map<string, unknown>, at = Infinity, fault: Fault = 'fails', putWithin?: number) => {
  const { storage, isMet } = faultyDriver(items, at, fault)
  return { ...unstorageBlobs(storage, { chunkBytes: 4, ...(putWithin !== undefined && { putWithin }) }), isMet }
}
const chunksIn = (items: Map<string, unknown>): number =>
  [...items.keys()].filter((key) => key.startsWith('blobs:chunk:')).length

/** Puts or deletes with a fault at call `at`, and tells what the key may hold afterwards. */
async function change(
  items: Map<string, unknown>,
  before: (string | null)[],
  text: string | null,
  at: number,
  fault: Fault,
): Promise<{ after: (string | null)[]; isMet: boolean }> {
  const blobs = open(items, at, fault)
  try {
    if (text === null) await blobs.delete('key')
    else await blobs.put('key', Buffer.from(text), options)
    return { after: [text], isMet: blobs.isMet() }
  } catch (error) {
    const isNone = StorageError.is(error) && error.outcome === 'none'
    const mayBe = text === null || (StorageError.is(error) && !isNone)
    return { after: mayBe ? [...before, text] : before, isMet: true }
  }
}

async function check(items: Map<string, unknown>, allowed: (string | null)[], where: string): Promise<void> {
  const text = await textOf(open(items)).catch((error: unknown) => `${where}: ${String(error)}`)
  expect(allowed, where).toContain(text)
}

describe.each(faults)('a driver that %s', (fault) => {
  it.each([
    ['a new blob', [], 'the first one'],
    ['another blob', ['the one before'], 'the second one'],
    ['a deletion', ['the one before'], null],
  ])('leaves a complete blob or none, at any call of %s', async (what, before, text) => {
    for (let at = 0; ; at++) {
      const items = new Map<string, unknown>()
      for (const one of before) await open(items).put('key', Buffer.from(one), options)
      const { after, isMet } = await change(items, before.length ? before : [null], text, at, fault)
      await check(items, after, `${what}, call ${at}`)
      // What it left behind is found, and what is there stays.
      await sleep(5)
      const left = await textOf(open(items))
      await open(items, Infinity, fault, 1).sweep()
      expect(chunksIn(items)).toBe(Math.ceil((left?.length ?? 0) / 4))
      expect(await textOf(open(items))).toBe(left)
      if (!isMet) break
    }
  })

  it.each([
    ['writer', 'the first one'],
    ['deletion', null],
  ])('leaves a complete blob also where it happens to a %s and to the next writer', async (what, text) => {
    for (let one = 0; one < 16; one++)
      for (let two = 0; two < 18; two++) {
        const items = new Map<string, unknown>()
        await open(items).put('key', Buffer.from('zero'), options)
        const { after } = await change(items, ['zero'], text, one, fault)
        const where = `${what}, calls ${one} and ${two}`
        // As if days had passed.
        await open(items, Infinity, 'fails', -1_000).sweep()
        await check(items, (await change(items, after, 'the second', two, fault)).after, where)
      }
  })
})

describe('a failed put', () => {
  async function* endless(signal: AbortSignal) {
    for (let i = 0; ; i++) {
      yield Buffer.from('abcde')
      if (i === 5) await new Promise((_, reject) => signal.addEventListener('abort', reject))
    }
  }
  async function* broken() {
    yield Buffer.from('abcdefghijkl')
    throw new Error('broken')
  }

  it('leaves nothing in the storage', async () => {
    const items = new Map<string, unknown>()
    const blobs = open(items)
    await expect(blobs.put('key', Buffer.from('12345678901'), { ...options, maxBytes: 10 })).rejects.toMatchObject({
      status: 413,
    })
    await expect(blobs.put('key', broken(), options)).rejects.toThrow('broken')
    const controller = new AbortController()
    const given = blobs.put('key', endless(controller.signal), { ...options, signal: controller.signal })
    await sleep(5)
    expect(chunksIn(items)).toBeGreaterThan(0)
    controller.abort(new Error('given up'))
    await expect(given).rejects.toThrow('given up')
    expect([...items.keys()]).toEqual([])
  })

  it('of a process that died leaves chunks, which a sweep removes by their age', async () => {
    const items = new Map<string, unknown>()
    await open(items).put('key', Buffer.from('complete'), options)
    await expect(open(items, 3, 'dies').put('other', Buffer.from('abcdefghijklmnop'), options)).rejects.toThrow()
    expect(chunksIn(items)).toBe(5)
    await sleep(5)
    const blobs = open(items)
    expect([await blobs.sweep(), await blobs.sweep(60_000), await blobs.sweep(0)]).toEqual([0, 0, 3])
    expect(chunksIn(items)).toBe(2)
    expect(await textOf(blobs)).toBe('complete')
  })

  it('leaves nothing of a write that was in progress either', async () => {
    const items = new Map<string, unknown>()
    const { storage } = faultyDriver(items, Infinity, 'fails')
    const slow = async (key: string, value: Uint8Array) => {
      await sleep(20)
      items.set(key, value)
    }
    await expect(
      unstorageBlobs({ ...storage, setItemRaw: slow }, { chunkBytes: 4 }).put('key', broken(), options),
    ).rejects.toThrow('broken')
    await sleep(40)
    expect([...items.keys()]).toEqual([])
  })

  it('is refused where it took too long, because of sweep', async () => {
    const items = new Map<string, unknown>()
    async function* slow() {
      yield Buffer.from('abcdefghijkl')
      await sleep(20)
    }
    await expect(open(items, Infinity, 'fails', 10).put('key', slow(), options)).rejects.toThrow('within 10 ms')
    expect([...items.keys()]).toEqual([])
  })

  it('counts as failed where the storage hangs', async () => {
    const { storage } = faultyDriver(new Map(), Infinity, 'fails')
    const hanging = { ...storage, setItemRaw: () => new Promise(() => undefined) }
    const blobs = unstorageBlobs(hanging, { timeout: 20 })
    await expect(blobs.put('key', Buffer.from('x'), options)).rejects.toThrow('has not answered a write for 20 ms')
  })

  it('is not swept while it is being written', async () => {
    const items = new Map<string, unknown>()
    const blobs = open(items, Infinity, 'fails', 60_000)
    async function* body() {
      yield Buffer.from('abcdefghijkl')
      await sleep(5)
      expect(chunksIn(items)).toBe(2)
      expect(await blobs.sweep()).toBe(0)
    }
    await blobs.put('key', body(), options)
    expect(await textOf(blobs)).toBe('abcdefghijkl')
  })
})

it('never shows readers a partial blob under concurrent writers, on a driver that writes in place', async () => {
  const items = new Map<string, unknown>()
  const { storage } = faultyDriver(items, Infinity, 'fails')
  let turns = 0
  const set = async <T extends string | Uint8Array>(key: string, value: T) => {
    items.set(key, value.slice(0, value.length / 2))
    for (let turn = turns++ % 5; turn > 0; turn--) await new Promise(setImmediate)
    items.set(key, value)
  }
  const blobs = unstorageBlobs({ ...storage, setItem: set, setItemRaw: set }, { chunkBytes: 4 })
  await blobs.put('key', Buffer.from('first'), options)
  const over = new AbortController()
  const reader = (async () => {
    const seen = new Set<string | null>()
    while (!over.signal.aborted) {
      await new Promise(setImmediate)
      seen.add(await textOf(blobs).catch((error: Error) => error.message))
    }
    return seen
  })()
  const writer = async (name: string) => {
    for (let i = 10; i < 60; i++) await blobs.put('key', Buffer.from(`${name}-${i} ${name}-${i}`), options)
  }
  await Promise.all(['a', 'b', 'c'].map(writer))
  over.abort()
  const seen = [...(await reader)]
  expect(seen.length).toBeGreaterThan(10)
  for (const text of seen) expect(text).toMatch(/^first$|^(\w-\d\d) \1$|^The blob was replaced or deleted/)
})
