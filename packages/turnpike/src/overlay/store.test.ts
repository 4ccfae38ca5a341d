import type { KV } from '@turnpike/core'
import { listAudit, memoryKV, StorageError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Change, Kind } from './store.js'
import { changeOverlay, lastChange, MOST, readOverlay, rewrite } from './store.js'

const put = (name: string, value: Change['value'], kind: Kind = 'groups'): Change => ({
  kind,
  name,
  value,
  action: 'group.update',
  by: 'ada',
})
const change = (kv: KV, made: Change) =>
  changeOverlay(
    kv,
    () => made,
    async (overlay) => overlay,
  )

describe('the overlay', () => {
  it('is empty at first, and has what was put, with a version and an entry of the audit log', async () => {
    const kv = await memoryKV()
    expect(await readOverlay(kv)).toEqual({ entries: [] })
    const accepted = await change(kv, put('fast', { models: ['m'] }))
    const read = await readOverlay(kv)
    expect(read).toEqual(accepted)
    expect(read.entries).toMatchObject([{ kind: 'groups', name: 'fast', value: { models: ['m'] } }])
    expect(await lastChange(kv)).toBe(read.change)
    expect((await listAudit(kv)).items).toMatchObject([{ actor: 'ada', action: 'group.update', target: 'fast' }])
    await change(kv, put('fast', null))
    expect((await readOverlay(kv)).entries).toEqual([])
    expect(await lastChange(kv)).not.toBe(read.change)
  })

  it('stays as it was where a change is refused, or is none', async () => {
    const kv = await memoryKV()
    await change(kv, put('fast', { models: ['m'] }))
    const before = await readOverlay(kv)
    const refuse = () => Promise.reject(new Error('no'))
    await expect(changeOverlay(kv, () => put('slow', {}), refuse)).rejects.toThrow('no')
    expect(await changeOverlay(kv, () => undefined, refuse)).toBeUndefined()
    expect(await readOverlay(kv)).toEqual(before)
    expect((await listAudit(kv)).items).toHaveLength(1)
  })

  it('is not known to be changed where the store fails, which the version tells later', async () => {
    const kv = await memoryKV()
    const failing: KV = {
      ...kv,
      async commit(commit) {
        await kv.commit(commit)
        throw new StorageError('gone', 'unknown')
      },
    }
    await expect(change(failing, put('fast', { models: ['m'] }))).rejects.toThrow('gone')
    const { change: version, entries } = await readOverlay(kv)
    expect([entries.length, version]).toEqual([1, await lastChange(kv)])
  })

  it('loses none of 20 changes at once, and each is decided by what is stored', async () => {
    const kv = await memoryKV()
    await change(kv, put('count', 0))
    const add = () =>
      changeOverlay(
        kv,
        ({ entries }) => put('count', (entries[0]!.value as number) + 1),
        async () => undefined,
      )
    await Promise.all(Array.from({ length: 20 }, add))
    expect((await readOverlay(kv)).entries[0]!.value).toBe(20)
  })

  it('has no room for more than so many of a kind, but for changes of them', async () => {
    const kv = await memoryKV()
    for (let i = 0; i < MOST.groups; i++) await change(kv, put(`g${i}`, { models: ['m'] }))
    await expect(change(kv, put('more', {}))).rejects.toThrow('The store has 100 groups already')
    await change(kv, put('g0', { models: ['n'] }))
    await change(kv, put('p/m', { input: 1 }, 'prices'))
    expect((await readOverlay(kv)).entries).toHaveLength(MOST.groups + 1)
  })

  it('is read as of one time, also where it changes meanwhile', async () => {
    const kv = await memoryKV()
    await change(kv, put('a', 1))
    let meanwhile: (() => Promise<unknown>) | undefined = () => change(kv, put('b', 2))
    const slow: KV = {
      ...kv,
      async list(prefix, options) {
        const page = await kv.list<never>(prefix, options)
        const run = meanwhile
        meanwhile = undefined
        await run?.()
        return page
      },
    }
    expect((await readOverlay(slow)).entries.map(({ name }) => name)).toEqual(['a', 'b'])
  })

  it('is rewritten without a new version, and not where somebody has changed the entry', async () => {
    const kv = await memoryKV()
    await change(kv, put('a', { v: 1 }))
    const { entries, change: before } = await readOverlay(kv)
    await rewrite(kv, entries[0]!, { v: 2 })
    expect([await lastChange(kv), (await readOverlay(kv)).entries[0]!.value]).toEqual([before, { v: 2 }])
    await rewrite(kv, entries[0]!, { v: 3 })
    expect((await readOverlay(kv)).entries[0]!.value).toEqual({ v: 2 })
  })
})
