import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KV } from '@turnpike/core'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { endEngines, newFolder } from '../../support/engines.js'
import { sample } from '../../support/scope.js'
import { killStores, startStore } from '../../support/store-process.js'

afterEach(killStores)
afterAll(endEngines)

const COMMITS = 8

/** In the ending of its files, and in what it may leave of the last of them, the one differs from the other. */
describe.each(
  sample([
    { name: 'fs', ending: '.item', urlOf: (base: string) => `fs:${base}` },
    { name: 'driver:fs', ending: '', urlOf: (base: string) => `driver:fs?${JSON.stringify({ base })}` },
  ]),
)('a folder of $name', ({ name, ending, urlOf }) => {
  /** The folder of a process that was killed after some commits, and its items in their order. */
  const written = async () => {
    const base = await newFolder()
    const url = urlOf(base)
    const process = startStore(url)
    const kv = await process.opened
    for (let n = 0; n < COMMITS; n++)
      await kv.commit({
        set: [{ key: ['record', String(n)], value: `value ${n}` }],
        sum: [{ key: ['n'], add: { n: 1 } }],
      })
    await process.kill()
    const folder = join(base, 'kv')
    const items = (await readdir(folder)).filter((file) => /^\d/.test(file))
    expect(items).toHaveLength(COMMITS + 1)
    return { url, folder, items: items.toSorted((a, b) => parseInt(a) - parseInt(b)) }
  }
  const holds = async (kv: KV, records: number): Promise<void> => {
    const { items } = await kv.list(['record'])
    expect(items.map(({ value }) => value)).toEqual(Array.from({ length: records }, (_, n) => `value ${n}`))
    expect((await kv.get(['n']))?.value).toEqual({ n: records })
  }
  const refusal = (url: string): Promise<unknown> => startStore(url).opened.catch((error: unknown) => error)
  const corrupt = (item: string) => ({
    name: 'StorageError',
    outcome: 'none',
    message: `The store cannot be opened: item ${item.slice(0, item.length - ending.length)} is corrupt. Restore it from a backup`,
  })

  it(`whose last item was cut ${name === 'fs' ? 'is refused: that cannot be a crash' : 'has lost that one, and continues'}`, async () => {
    const { url, folder, items } = await written()
    const last = items.at(-1)!
    await truncate(join(folder, last), 40)
    if (name === 'fs') {
      expect(await refusal(url)).toMatchObject(corrupt(last))
      return
    }
    const process = startStore(url)
    const kv = await process.opened
    await holds(kv, COMMITS - 1)
    const again = { set: [{ key: ['record', '7'], value: 'value 7' }], sum: [{ key: ['n'], add: { n: 1 } }] }
    expect(await kv.commit({ check: [{ key: ['record', '7'], version: null }], ...again })).toBe(true)
    await process.kill()
    await holds(await startStore(url).opened, COMMITS)
  })

  it('with a corrupt item in its middle is refused, with the name of the item, and not modified', async () => {
    const { url, folder, items } = await written()
    const middle = items[4]!
    const path = join(folder, middle)
    const text = await readFile(path, 'utf8')
    for (const damaged of [text.slice(0, -5), text.replace('value', 'volue'), '', '\0'.repeat(text.length)]) {
      expect(damaged).not.toBe(text)
      await writeFile(path, damaged)
      expect(await refusal(url)).toMatchObject(corrupt(middle))
    }
    await writeFile(path, text)
    await holds(await startStore(url).opened, COMMITS)
  })

  it('keeps files of others, and ignores temporary files of a dead process', async () => {
    const { url, folder, items } = await written()
    const strays = ['notes.txt', '.DS_Store', 'core.1234', '7.bak']
    const part = `${items.at(-1)!}.4711-0.part`
    for (const file of [...strays, part]) await writeFile(join(folder, file), 'nothing of ours')
    await writeFile(join(folder, '..', 'README'), 'nothing of ours')
    const process = startStore(url)
    const kv = await process.opened
    await holds(kv, COMMITS)
    await kv.close()
    await holds(await startStore(url).opened, COMMITS)
    for (const file of strays) expect(await readFile(join(folder, file), 'utf8')).toBe('nothing of ours')
  })
})
