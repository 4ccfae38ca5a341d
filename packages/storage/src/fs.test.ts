import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KV } from '@turnpike/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DurableFs } from './fs.js'
import { durableFs, fsKV } from './fs.js'
import { openKV } from './open-kv.js'

let folder: string
const open: KV[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((kv) => kv.close()))
  await rm(folder, { recursive: true, force: true })
})

async function opened(at = folder): Promise<KV> {
  const kv = await fsKV(at)
  open.push(kv)
  return kv
}

const files = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name).slice(folder.length + 1))
    .toSorted()

describe('durableFs', () => {
  it('stores items as files, with permissions for their user only', async () => {
    const driver = durableFs({ base: join(folder, 'deep', 'er') })
    await driver.setItem('a:b', 'text ü😀')
    await driver.setItemRaw('a:b:c', new Uint8Array([0, 255]))
    expect(await files()).toEqual(['deep/er/a/b.item', 'deep/er/a/b/c.item'])
    expect(await driver.getItem('a:b')).toBe('text ü😀')
    expect(await driver.getItemRaw('a:b:c')).toEqual(Buffer.from([0, 255]))
    expect((await driver.getKeys()).toSorted()).toEqual(['a:b', 'a:b:c'])
    expect((await stat(join(folder, 'deep'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(folder, 'deep/er/a/b.item'))).mode & 0o777).toBe(0o600)
  })

  it('lists and removes items', async () => {
    const driver = durableFs({ base: folder })
    expect([await driver.hasItem('a'), await driver.getItem('a'), await driver.getItemRaw('a')]).toEqual([
      false,
      null,
      null,
    ])
    await driver.removeItem('a')
    await driver.removeItem('none:such')
    await driver.setItem('a', '1')
    expect(await driver.hasItem('a')).toBe(true)
    await driver.removeItem('a')
    expect([await driver.hasItem('a'), await driver.getKeys()]).toEqual([false, []])
    expect(await durableFs({ base: join(folder, 'none') }).getKeys()).toEqual([])
  })

  it('reads parts of items', async () => {
    const driver = durableFs({ base: folder })
    await driver.setItem('a', '0123ü')
    const part = async (start: number, end: number) => (await driver.getItemPart('a', start, end))?.toString()
    expect(await part(0, 3)).toBe('012')
    expect(await part(2, Infinity)).toBe('23ü')
    expect(await part(4, 99)).toBe('ü')
    expect(await part(7, 9)).toBe('')
    expect(await driver.getItemPart('none', 0, 1)).toBeNull()
  })

  it('does not let a key leave the folder', async () => {
    const driver = durableFs({ base: folder })
    for (const key of ['..', 'a:..:..:b', '.', 'a/../../b', '', 'a::b', 'a\0'])
      await expect(async () => driver.setItem(key, 'x'), key).rejects.toThrow('cannot be a key')
    expect(await files()).toEqual([])
  })

  it('throws errors other than a missing file', async () => {
    const driver = durableFs({ base: folder })
    await driver.setItem('a', '1')
    await expect(durableFs({ base: join(folder, 'a.item') }).setItem('b', '1')).rejects.toMatchObject({
      code: 'EEXIST',
    })
    await mkdir(join(folder, 'b.item'))
    await expect(driver.setItem('b', '1')).rejects.toMatchObject({ code: 'EISDIR' })
    await expect(driver.getItem('b')).rejects.toMatchObject({ code: 'EISDIR' })
  })

  it('replaces a file atomically: a reader sees the old or the new one', async () => {
    const driver = durableFs({ base: folder })
    const texts = ['a', 'b'].map((letter) => letter.repeat(200_000))
    await driver.setItem('k', texts[0]!)
    const reader = { isReading: true }
    const writer = (async () => {
      for (let i = 0; reader.isReading; i++) await driver.setItem('k', texts[i % 2]!)
    })()
    const seen = new Set<string>()
    for (let i = 0; i < 150 || seen.size < 2; i++) seen.add((await driver.getItem('k')) ?? 'nothing')
    reader.isReading = false
    await writer
    expect(seen).toEqual(new Set(texts))
    expect(await files()).toEqual(['k.item'])
  })

  it('hides temporary files, and removes them once their writer must be dead', async () => {
    const driver = durableFs({ base: folder })
    for (const name of ['a.item.1-0.part', 'b.item.1-0.part']) await writeFile(join(folder, name), 'half')
    const old = new Date(Date.now() - 700_000)
    await utimes(join(folder, 'a.item.1-0.part'), old, old)
    expect(await driver.getKeys()).toEqual([])
    expect(await files()).toEqual(['b.item.1-0.part'])
  })
})

describe('fsKV', () => {
  it('reports its capabilities', async () => {
    const kv = await opened()
    expect(kv.capabilities).toEqual({ writers: 'one-process', durability: 'power-loss', driver: 'durable-fs' })
    expect(await kv.health()).toEqual({ ok: true })
  })

  it('creates the folder, with permissions for its user only', async () => {
    const deep = join(folder, 'a', 'b')
    await opened(deep)
    expect((await stat(deep)).mode & 0o777).toBe(0o700)
  })

  it('has acknowledged commits on the disk without being closed', async () => {
    const kv = await opened()
    await Promise.all(['a', 'b', 'c'].map((name) => kv.commit({ set: [{ key: [name], value: name }] })))
    // With another driver name the folder is not locked, so that this opening takes the store over.
    const unlocked: DurableFs = { ...durableFs({ base: folder }), name: 'other' }
    const after = await openKV(unlocked)
    expect((await after.getMany([['a'], ['b'], ['c']])).map((entry) => entry?.value)).toEqual(['a', 'b', 'c'])
    expect(await kv.health()).toMatchObject({ ok: false })
  })

  it('refuses commits after it was closed', async () => {
    const kv = await fsKV(folder)
    await kv.close()
    await expect(kv.commit({ set: [{ key: ['a'], value: 1 }] })).rejects.toThrow('The store is closed')
  })
})

describe('a folder with large items', () => {
  /** Opens it without a lock, and counts what is read. */
  const counted = async (cache: number) => {
    const driver: DurableFs = { ...durableFs({ base: folder }), name: 'other' }
    const read = { parts: 0, bytes: 0 }
    const getItemPart: DurableFs['getItemPart'] = async (...range) => {
      const part = await driver.getItemPart(...range)
      read.parts++
      read.bytes += part!.length
      return part
    }
    const kv = await openKV({ ...driver, getItemPart }, { itemSize: 2 ** 18, mergeAfter: 19, cache })
    open.push(kv)
    return { kv, read }
  }
  const entry = (n: number) => ({ key: ['entry', String(n).padStart(4, '0')], value: `${n} ${'ü'.repeat(400)}` })
  const groups = async () => (await files()).filter((file) => /^kv\/\d/.test(file)).length
  // Each group has keys from everywhere. All but the last are merged: each twentieth begins a merge, if none is running.
  beforeEach(async () => {
    const { kv } = await counted(0)
    for (let group = 0; group < 40; group++) {
      await kv.commit({ set: Array.from({ length: 50 }, (_, i) => entry(40 * i + group)) })
      if (group === 19) await expect.poll(groups).toBeLessThan(12)
    }
    await kv.close()
  })

  it('has few, and is opened without most of its values', async () => {
    expect(await groups()).toBeLessThan(12)
    const { kv, read } = await counted(2 ** 26)
    const all = (await Promise.all((await files()).map(async (file) => (await stat(join(folder, file))).size))).reduce(
      (a, b) => a + b,
    )
    expect(read.bytes).toBeLessThan(all / 2)
    const { items } = await kv.list(['entry'], { limit: 500, after: ['entry', '0499'] })
    expect(items.map(({ key, value }) => ({ key, value }))).toEqual(
      Array.from({ length: 500 }, (_, i) => entry(500 + i)),
    )
  })

  it('does not rewrite those that are large enough only to have fewer', async () => {
    const kv = await openKV(durableFs({ base: folder }), { base: 'sizes', itemSize: 2 ** 20, mergeAfter: 8 })
    for (let i = 0; i < 20; i++) await kv.commit({ set: [{ key: ['entry', String(i)], value: 'x'.repeat(70_000) }] })
    await kv.close()
    // And an empty one of the opening.
    expect((await files()).filter((file) => /^sizes\/\d/.test(file))).toHaveLength(21)
  })

  it.each([0, 2 ** 26])('reads values in blocks, with their neighbours (cache of %i)', async (cache) => {
    const { kv, read } = await counted(cache)
    read.parts = 0
    read.bytes = 0
    for (const n of [7, 8, 7]) expect((await kv.get(entry(n).key))?.value).toBe(entry(n).value)
    expect(read.parts).toBe(1)
    expect(read.bytes).toBeLessThan(20_000)
  })

  it('keeps all values of a block that it reads, but not in the place of others', async () => {
    // Room for the last group, which a start reads as a whole, and for a block.
    const { kv, read } = await counted(44_000)
    const partsFor = async (...numbers: number[]): Promise<number> => {
      const before = read.parts
      for (const n of numbers) expect((await kv.get(entry(n).key))?.value).toBe(entry(n).value)
      return read.parts - before
    }
    expect(await partsFor(7, 1_007)).toBe(2)
    // More blocks than those whose text is kept by itself.
    const others = [107, 207, 307, 407, 507, 607, 707, 807, 907]
    expect(await partsFor(...others)).toBe(9)
    expect(await partsFor(8, 1_008, ...others)).toBe(0)
    expect(await partsFor(108)).toBe(1)
  })
})

/** A store of format 2, as the version before format 3 left it when it was killed during a merge. */
const FORM_2: Record<string, string> = {
  '1-8-1-10':
    'turnpike 2 641fc6644ba7d3e0 {"v":7,"e":[{"k":"entry/a","v":1,"j":"{\\"name\\":\\"Ada \\\\\\"the first\\\\\\" \\\\\\\\ ü😀\\"}"},{"k":"entry/later","v":4,"j":"2","x":9000000000000},{"k":"entry/~612fc3bc","v":5,"j":"[\\"x\\",null]"},{"k":"n","v":6,"c":{"calls":5}},{"k":"entry/b","v":7,"j":"\\"text, newer\\""}]}',
  '5-5-1-6':
    'turnpike 2 928be06c57a0d7ed {"v":4,"e":[{"k":"entry/later","v":4,"j":"2","x":9000000000000},{"k":"n","v":4,"c":{"calls":3}}]}',
  '6-6-1-7':
    'turnpike 2 3149825891eb650b {"v":5,"e":[{"k":"entry/~612fc3bc","v":5,"j":"[\\"x\\",null]"},{"k":"n","v":5,"c":{"calls":4}}]}',
  '7-7-1-8':
    'turnpike 2 cea74e64d4d41f49 {"v":6,"e":[{"k":"entry/b","v":6,"j":"\\"text\\""},{"k":"n","v":6,"c":{"calls":5}}]}',
  '8-8-1-9': 'turnpike 2 1077df7fab7c5934 {"v":7,"e":[{"k":"entry/b","v":7,"j":"\\"text, newer\\""}]}',
  '9-9-1-11':
    'turnpike 2 86e35e8739cd68e4 {"v":8,"e":[{"k":"entry/c","v":8,"j":"\\"line\\\\nbreak\\""},{"k":"n","v":8,"c":{"calls":6}}]}',
  'fence-1': 'turnpike 2 fdc95d2f0cbe75eb {"epoch":1,"items":[]}',
  owner: 'turnpike 2 c57b99b73aef349c {"epoch":1,"id":"2a2159cb-2949-49fc-9ca9-3233eb1e071e"}',
}

describe('a folder of version 2', () => {
  const expected = [
    [['entry', 'a'], { name: 'Ada "the first" \\ ü😀' }],
    [['entry', 'b'], 'text, newer'],
    [['entry', 'c'], 'line\nbreak'],
    [['entry', 'later'], 2],
    [
      ['entry', 'a/ü'],
      ['x', null],
    ],
    [['n'], { calls: 6 }],
  ]
  const contentOf = async (kv: KV) => (await kv.list([])).items.map(({ key, value }) => [key, value])
  beforeEach(async () => {
    await mkdir(join(folder, 'kv'))
    for (const [name, text] of Object.entries(FORM_2)) await writeFile(join(folder, 'kv', `${name}.item`), text)
  })

  it.each([
    ['in memory', 2 ** 26],
    ['read again', 0],
  ])('is opened as it is, with its values %s, and rewritten in the present format', async (_, cache) => {
    // No two fit into one item, so that each is rewritten for its form.
    const kv = await fsKV(folder, { cache, mergeAfter: 2, itemSize: 1 })
    expect(await contentOf(kv)).toEqual(expected)
    expect(await kv.get(['entry', 'later'])).toMatchObject({ version: '4', expiresAt: 9_000_000_000_000 })
    expect(await kv.get(['entry', 'gone'])).toBeNull()
    const text = await readFile(join(folder, 'kv/1-8-1-10.item'), 'utf8')
    expect(text).toBe(FORM_2['1-8-1-10'])
    for (let i = 0; i < 5; i++) await kv.commit({ set: [{ key: ['x'], value: i }] })
    await kv.close()
    for (const file of (await files()).filter((file) => file.startsWith('kv/')))
      expect(await readFile(join(folder, file), 'utf8'), file).toMatch(/^turnpike 3 /)
    const again = await opened()
    expect(await contentOf(again)).toEqual([...expected, [['x'], 4]])
    expect(await again.get(['entry', 'later'])).toMatchObject({ version: '4', expiresAt: 9_000_000_000_000 })
  })

  it('belongs to this version once it was opened: the one before refuses it and changes nothing', async () => {
    await (await fsKV(folder)).close()
    expect(await readFile(join(folder, 'kv/owner.item'), 'utf8')).toMatch(/^turnpike 3 /)
  })
})

describe('the lock', () => {
  const lock = (): string => join(folder, 'lock')
  /** The content of a process's lock: its id and its start time. */
  async function lockOf(pid: number): Promise<string> {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ')
    return `${pid} ${fields[19]}`
  }

  it('excludes a second process and names the first', async () => {
    const held = await lockOf(process.ppid)
    await writeFile(lock(), held)
    await expect(fsKV(folder)).rejects.toMatchObject({
      name: 'StorageError',
      message: `${folder} is in use by process ${process.ppid}. A folder serves one process; several need Redis or PostgreSQL`,
    })
    expect(await files()).toEqual(['lock'])
    expect(await readFile(lock(), 'utf8')).toBe(held)
  })

  it.skipIf(process.platform !== 'linux')('of a process that ended is removed', async () => {
    // It outlives the shell, which would take notice of its end, and not what the shell becomes.
    const parent = spawn('sh', ['-c', 'sleep 0.5 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line)
    const state = async () => / (\w) [^)]*$/.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1]
    await expect.poll(state).toBe('Z')
    await writeFile(lock(), await lockOf(pid))
    const kv = await fsKV(folder)
    await kv.close()
    parent.kill()
  })

  it('excludes a second opening in the same process, too', async () => {
    await opened()
    await expect(fsKV(folder)).rejects.toThrow(`is in use by process ${process.pid}`)
  })

  it('contains the process id while the store is open', async () => {
    const kv = await fsKV(folder)
    expect(await readFile(lock(), 'utf8')).toBe(await lockOf(process.pid))
    await kv.close()
    expect(await files()).not.toContain('lock')
  })

  it('is taken over from a dead process, also where another has its id now', async () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    for (const stale of [String(pid), '', 'nonsense', '-1', `${process.ppid} 1`, String(process.ppid)]) {
      await writeFile(lock(), stale)
      const kv = await fsKV(folder)
      expect(await readFile(lock(), 'utf8')).toBe(await lockOf(process.pid))
      await kv.close()
    }
  })
})
