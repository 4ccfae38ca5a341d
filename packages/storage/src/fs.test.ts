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

  it('reads parts of items', async () => {
    const driver = durableFs({ base: folder })
    await driver.setItemRaw('a', Buffer.from('abcdef'))
    const read = async (key: string, offset: number, length: number) =>
      (await driver.getItemRaw(key, { range: { offset, length } }))?.toString()
    expect([await read('a', 0, 2), await read('a', 2, 3), await read('a', 4, 9), await read('a', 6, 1)]).toEqual([
      'ab',
      'cde',
      'ef',
      '',
    ])
    expect(await read('b', 0, 2)).toBeUndefined()
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

/** A store of format 1, as earlier versions wrote it, with the checksums of that format. */
const FORM_1 = [
  'turnpike-log 1',
  'YenMIKoJJLn0DrJT [{"k":"user/~412fc3bc","v":1,"j":"{\\"name\\":\\"Ada\\"}"},{"k":"gone","v":1,"j":"1"},{"k":"past","v":1,"j":"1","x":1},{"k":"later","v":1,"j":"2","x":9000000000000},{"k":"n","v":1,"c":{"calls":3}}]',
  'MVdnnJTWJDfUdFm2 [{"k":"gone","v":2},{"k":"n","v":2,"c":{"calls":2,"tokens":5}}]',
  '',
].join('\n')

describe('a folder of version 1', () => {
  const path = () => join(folder, 'kv.log')

  it('is upgraded, and kept', async () => {
    await writeFile(path(), `${FORM_1}torn line`)
    for (let opening = 0; opening < 2; opening++) {
      const kv = await fsKV(folder)
      expect((await kv.get(['user', 'A/ü']))?.value).toEqual({ name: 'Ada' })
      expect((await kv.get(['n']))?.value).toEqual({ calls: 2, tokens: 5 })
      expect((await kv.get(['later']))?.value).toBe(2)
      expect(await kv.getMany([['gone'], ['past']])).toEqual([null, null])
      await kv.close()
    }
    expect((await files()).filter((name) => name.startsWith('kv.log'))).toEqual(['kv.log.upgraded'])
  })

  it('is upgraded once if a crash left the file in its place', async () => {
    await writeFile(path(), FORM_1)
    await (await fsKV(folder)).close()
    await writeFile(path(), FORM_1)
    const kv = await opened()
    expect((await kv.get(['n']))?.value).toEqual({ calls: 2, tokens: 5 })
  })

  it('is refused where it is corrupt, and not modified', async () => {
    for (const [bad, message] of [
      [FORM_1.replace('Ada', 'Bob'), 'kv.log is corrupt in line 2; restore it from a backup'],
      [FORM_1.replace('turnpike-log 1', 'something'), 'kv.log is not a "turnpike-log 1" file'],
    ] as const) {
      await writeFile(path(), bad)
      await expect(fsKV(folder)).rejects.toThrow(message)
      expect(await readFile(path(), 'utf8')).toBe(bad)
      expect(await files()).not.toContain('lock')
    }
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
