import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { mapDriver, set } from '../../../../test/support/map-driver.js'
import { openKV } from '../open-kv.js'
import type { StorageLike } from './storage-like.js'

/** A call that waits until it may go on. */
function gate() {
  let arrive = (): void => undefined
  let open = (): void => undefined
  const reached = new Promise<void>((resolve) => (arrive = resolve))
  const opened = new Promise<void>((resolve) => (open = resolve))
  const wait = (): Promise<void> => {
    arrive()
    return opened
  }
  return { reached, open, wait }
}

/** A store without a value cache, and what happens before its driver reads or writes an item. */
async function store() {
  const { driver, items } = mapDriver()
  const before: Record<'get' | 'set', (key: string) => Promise<void> | void> = {
    get: () => undefined,
    set: () => undefined,
  }
  const slow: StorageLike = {
    ...driver,
    async getItem(key) {
      await before.get(key)
      return driver.getItem(key)
    },
    async setItem(key, value, options) {
      await before.set(key)
      await driver.setItem!(key, value, options)
    },
  }
  const kv = await openKV(slow, { cache: 0, mergeAfter: 3, itemSize: 3_000 })
  /** The item that has a text. */
  const itemWith = (text: string): string => [...items].findLast(([, item]) => item.includes(text))![0]
  /** Commits until a merge begins. */
  const others = async (name: string): Promise<void> => {
    for (let i = 0; i < 5; i++) await kv.commit(set(`${name}${i}`))
  }
  return { kv, driver, before, itemWith, others }
}

const isMerged = (key: string): boolean => {
  const [, from, to] = /^kv:(\d+)-(\d+)-/.exec(key) ?? []
  return from !== to
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())
const expiring = (name: string) => ({ set: [{ key: [name], value: name, expiresAt: Date.now() + 30 }] })
const expire = () => vi.setSystemTime(Date.now() + 40)

it('a value that expires after a merge has read it is not written by the merge', async () => {
  const { kv, driver, before, itemWith, others } = await store()
  await kv.commit(expiring('brief'))
  await kv.commit(set('next'))
  const { reached, open, wait } = gate()
  const item = itemWith('next')
  before.get = (key) => (key === item ? wait() : undefined)
  await others('a')
  await reached
  expire()
  await others('b')
  open()
  await kv.close()
  expect(await (await openKV(driver)).get(['brief'])).toBeNull()
})

it('a value that is deleted while a merge writes it does not come back', async () => {
  const { kv, driver, before, others } = await store()
  await kv.commit(set('x'))
  const { reached, open, wait } = gate()
  let merges = 0
  before.set = (key) => (isMerged(key) && merges++ === 0 ? wait() : undefined)
  await others('a')
  await reached
  await kv.commit({ del: [['x']] })
  open()
  for (const name of ['b', 'c', 'd']) await others(name)
  await kv.close()
  expect(await (await openKV(driver)).get(['x'])).toBeNull()
})

it('a value that expires while it is read is gone', async () => {
  const { kv, before, itemWith, others } = await store()
  await kv.commit(expiring('brief'))
  const { reached, open, wait } = gate()
  const item = itemWith('brief')
  before.get = (key) => (key === item ? wait() : undefined)
  const reading = kv.get(['brief'])
  await reached
  expire()
  await kv.commit(set('other'))
  open()
  expect(await reading).toBeNull()
  await others('a')
  await kv.close()
})

it.each([
  ['moved', []],
  ['replaced', ['newer']],
])('a read finds a value that is %s while the item that had it is merged away', async (_, newer) => {
  const { kv, before, itemWith, others } = await store()
  await kv.commit(set('x', 'first'))
  const { reached, open, wait } = gate()
  const item = itemWith('first')
  let reads = 0
  before.get = (key) => (key === item && reads++ === 0 ? wait() : undefined)
  const reading = kv.get(['x'])
  await reached
  for (const value of newer) await kv.commit(set('x', value))
  for (const name of ['a', 'b', 'c']) await others(name)
  open()
  expect((await reading)?.value).toBe(newer[0] ?? 'first')
  expect(await kv.health()).toEqual({ ok: true })
  await kv.close()
})
