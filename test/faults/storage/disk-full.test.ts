import { spawnSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { afterAll, afterEach, expect, it } from 'vitest'
import { endEngines, newFolder, sqlite } from '../../support/engines.js'
import type { Need } from '../../support/needs.js'
import { needs } from '../../support/needs.js'
import { killStores, startStore } from '../../support/store-process.js'
import { all } from './journal.js'

const mounted: string[] = []
afterEach(async () => {
  await killStores()
  for (const disk of mounted.splice(0)) spawnSync('umount', [disk])
})
afterAll(endEngines)

/** A disk of 3 MB, or why there can be none. */
async function smallDisk(): Promise<{ disk: string; refused?: string }> {
  const disk = await newFolder()
  const { status, error, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk], {
    encoding: 'utf8',
  })
  if (status !== 0) return { disk, refused: error?.message ?? stderr.trim() }
  mounted.push(disk)
  return { disk }
}

/** Sizes of the records that a store was told of, and of those whose fate is not known. */
interface Told {
  acknowledged: Map<string, number>
  unknown: Map<string, number>
}

/** Writes a record of so many characters. @returns what the store failed it with */
async function write(kv: KV, told: Told, id: string, size: number): Promise<StorageError | undefined> {
  const key = ['record', id]
  try {
    const applied = await kv.commit({
      check: [{ key, version: null }],
      set: [{ key, value: 'x'.repeat(size) }],
      sum: [{ key: ['total'], add: { records: 1, size } }],
    })
    expect(applied || told.unknown.has(id)).toBe(true)
    told.unknown.delete(id)
    told.acknowledged.set(id, size)
    return undefined
  } catch (error) {
    if (!StorageError.is(error)) throw error
    if (error.outcome === 'unknown') told.unknown.set(id, size)
    return error
  }
}

async function verify(kv: KV, { acknowledged, unknown }: Told): Promise<void> {
  const records = await all<string>(kv, ['record'])
  const sizes = new Map([...records].map(([id, { length }]) => [id, length]))
  for (const [id, size] of acknowledged) expect(sizes.get(id), `record ${id}`).toBe(size)
  for (const [id, size] of sizes) expect(acknowledged.get(id) ?? unknown.get(id), `record ${id}`).toBe(size)
  const size = [...sizes.values()].reduce((a, b) => a + b)
  expect((await kv.get(['total']))?.value).toEqual({ records: sizes.size, size })
}

const disks: [name: string, needed: Need[], urlOn: (disk: string) => string][] = [
  ['fs', [], (disk) => `fs:${disk}`],
  ['sqlite', sqlite, (disk) => `sqlite:${disk}/kv.db`],
]

const title = 'a full disk fails commits, loses none, and works again once it has room'
for (const [name, needed, urlOn] of disks)
  it(`${title} (${name})`, needs(...needed), async ({ skip }) => {
    const { disk, refused } = await smallDisk()
    if (refused !== undefined) skip(`a small disk: ${refused}`)
    const ballast = join(disk, 'ballast')
    await writeFile(ballast, new Uint8Array(2 ** 20))
    const process = startStore(urlOn(disk))
    const kv = await process.opened
    const told: Told = { acknowledged: new Map(), unknown: new Map() }

    // Growing records until one has no room, and then such as fill the last page.
    const failures: string[] = []
    const failed = new Map<string, number>()
    let n = 0
    for (const sizeOf of [() => 500 * n, () => 10])
      for (let failure; !failure; n++) {
        failure = await write(kv, told, String(n), sizeOf())
        if (!failure) continue
        failures.push(`${failure.message} (${failure.outcome})`)
        failed.set(String(n), sizeOf())
      }
    const { size } = told.acknowledged
    const health = await kv.health()
    console.log(`${name}: ${size} acknowledged, then "${failures.join('", "')}"; ${JSON.stringify(health)}`)
    expect(size).toBeGreaterThan(30)
    if (told.unknown.size > 0) expect(health).toMatchObject({ ok: false })
    await verify(kv, told)

    await rm(ballast)
    await expect.poll(() => kv.health()).toEqual({ ok: true })
    for (const [id, characters] of failed) expect(await write(kv, told, id, characters)).toBeUndefined()
    for (let i = 0; i < 5; i++) expect(await write(kv, told, `more-${i}`, 20_000)).toBeUndefined()
    expect(told.unknown.size).toBe(0)
    await verify(kv, told)
    await process.kill()
    await verify(await startStore(urlOn(disk)).opened, told)
  })
