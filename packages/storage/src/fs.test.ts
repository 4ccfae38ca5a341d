import { spawnSync } from 'node:child_process'
import { appendFile, cp, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KV } from '@turnpike/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { fsKV } from './fs.js'

let folder: string
const open: KV[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
})
afterEach(async () => {
  await Promise.all(open.splice(0).map((kv) => kv.close()))
  await rm(folder, { recursive: true, force: true })
})

async function openKV(at = folder): Promise<KV> {
  const kv = await fsKV(at)
  open.push(kv)
  return kv
}

/** A store with `names` in commits of their own, closed again. */
async function written(...names: string[]): Promise<string> {
  const kv = await fsKV(folder)
  for (const name of names) await kv.commit({ set: [{ key: [name], value: `${name} ü😀` }] })
  await kv.close()
  return readFile(join(folder, 'kv.log'), 'utf8')
}

const valueOf = async (kv: KV, name: string): Promise<unknown> => (await kv.get([name]))?.value

describe('fsKV', () => {
  it('says what it is', async () => {
    const kv = await openKV()
    expect(kv.capabilities).toEqual({ writers: 'one-process', durability: 'power-loss', driver: 'fs' })
    expect(await kv.health()).toEqual({ ok: true })
  })

  it('makes the folder, for its user only', async () => {
    const deep = join(folder, 'a', 'b')
    await openKV(deep)
    expect((await stat(deep)).mode & 0o777).toBe(0o700)
    expect((await stat(join(deep, 'kv.log'))).mode & 0o777).toBe(0o600)
  })

  it('has everything again when it is opened again', async () => {
    const first = await fsKV(folder)
    await first.commit({
      set: [
        { key: ['user', 'A/ü'], value: { name: 'Ada', tags: ['x'] } },
        { key: ['gone'], value: 1 },
        { key: ['past'], value: 1, expiresAt: 1 },
      ],
      sum: [{ key: ['n'], add: { calls: 3 } }],
    })
    await first.commit({ del: [['gone']], sum: [{ key: ['n'], add: { calls: -1, tokens: 5 } }] })
    const before = await first.get(['user', 'A/ü'])
    await first.close()

    const second = await openKV()
    expect(await second.get(['user', 'A/ü'])).toEqual(before)
    expect(await valueOf(second, 'gone')).toBeUndefined()
    expect(await valueOf(second, 'past')).toBeUndefined()
    expect(await valueOf(second, 'n')).toEqual({ calls: 2, tokens: 5 })
  })

  it('gives out no version twice over a restart', async () => {
    await written('a')
    const first = await fsKV(folder)
    const { version } = (await first.get(['a']))!
    await first.commit({ del: [['a']] })
    await first.close()
    const second = await openKV()
    await second.commit({ set: [{ key: ['a'], value: 'new' }] })
    expect((await second.get(['a']))!.version).not.toBe(version)
    expect(await second.commit({ check: [{ key: ['a'], version }], del: [['a']] })).toBe(false)
  })

  it('has on the disk what it acknowledged, without being closed', async () => {
    const kv = await openKV()
    await Promise.all(['a', 'b', 'c'].map((name) => kv.commit({ set: [{ key: [name], value: name }] })))
    const copy = join(folder, 'copy')
    await cp(join(folder, 'kv.log'), join(copy, 'kv.log'))
    const after = await openKV(copy)
    expect(await Promise.all(['a', 'b', 'c'].map((name) => valueOf(after, name)))).toEqual(['a', 'b', 'c'])
  })

  it('drops a torn last line, wherever it is torn, and goes on', async () => {
    const whole = Buffer.from(await written('a', 'b'))
    const start = whole.lastIndexOf('\n', whole.length - 2) + 1
    for (const end of [start + 1, start + 16, start + 17, start + 30, whole.length - 5, whole.length - 1]) {
      await writeFile(join(folder, 'kv.log'), whole.subarray(0, end))
      const kv = await fsKV(folder)
      expect(await valueOf(kv, 'a')).toBe('a ü😀')
      expect(await valueOf(kv, 'b'), `torn at ${end}`).toBeUndefined()
      await kv.commit({ set: [{ key: ['c'], value: end }] })
      await kv.close()
      const again = await fsKV(folder)
      expect(await valueOf(again, 'c')).toBe(end)
      await again.close()
    }
  })

  it('drops a torn line that ends within a character', async () => {
    const whole = Buffer.from(await written('a', 'b'))
    const end = whole.lastIndexOf(Buffer.from('😀')) + 2
    await writeFile(join(folder, 'kv.log'), whole.subarray(0, end))
    const first = await fsKV(folder)
    await first.commit({ set: [{ key: ['c'], value: 1 }] })
    await first.close()
    const second = await openKV()
    expect(await valueOf(second, 'a')).toBe('a ü😀')
    expect(await valueOf(second, 'c')).toBe(1)
  })

  it('refuses a corrupt line in the middle, and names it', async () => {
    const [head, first, second, end] = (await written('a', 'b')).split('\n')
    for (const bad of [first!.replace('a ', 'x '), `${first!.slice(0, 15)}_${first!.slice(16)}`, '', 'garbage']) {
      const text = [head, bad, second, end].join('\n')
      await writeFile(join(folder, 'kv.log'), text)
      await expect(fsKV(folder)).rejects.toMatchObject({
        name: 'StorageError',
        outcome: 'none',
        message: `${folder}/kv.log is corrupt in line 2; restore it from a backup`,
      })
      expect(await readFile(join(folder, 'kv.log'), 'utf8')).toBe(text)
      expect(await readdir(folder)).toEqual(['kv.log'])
    }
  })

  it('refuses a file that is no log', async () => {
    await writeFile(join(folder, 'kv.log'), 'turnpike-log 2\n')
    await expect(fsKV(folder)).rejects.toThrow('is not a "turnpike-log 1" file')
    await writeFile(join(folder, 'kv.log'), '')
    await expect(fsKV(folder)).rejects.toThrow('is not a "turnpike-log 1" file')
  })

  it('ignores a rewrite that did not come to its end', async () => {
    await written('a')
    await writeFile(join(folder, 'kv.log.next'), 'half')
    const kv = await openKV()
    expect(await valueOf(kv, 'a')).toBe('a ü😀')
    expect((await readdir(folder)).toSorted()).toEqual(['kv.log', 'lock'])
  })

  it('rewrites its log to what is alive, and writes on behind it', async () => {
    const kv = await fsKV(folder)
    const many = Array.from({ length: 10_001 }, (_, i) => ({ key: [`k${i}`], value: i }))
    await kv.commit({ set: many })
    const large = (await stat(join(folder, 'kv.log'))).size
    await kv.commit({ del: many.slice(1_200).map(({ key }) => key) })
    await kv.commit({ set: [{ key: ['last'], value: 'x' }] })
    expect((await stat(join(folder, 'kv.log'))).size).toBeLessThan(large / 5)
    await kv.close()
    const again = await openKV()
    expect(await valueOf(again, 'k0')).toBe(0)
    expect(await valueOf(again, 'k1199')).toBe(1_199)
    expect(await valueOf(again, 'k1200')).toBeUndefined()
    expect(await valueOf(again, 'last')).toBe('x')
  })

  it('takes nothing once it is closed', async () => {
    const kv = await fsKV(folder)
    await kv.close()
    await expect(kv.commit({ set: [{ key: ['a'], value: 1 }] })).rejects.toThrow('The store is closed')
  })
})

describe('the lock', () => {
  it('keeps a second process out and names the first', async () => {
    await writeFile(join(folder, 'lock'), String(process.ppid))
    await expect(fsKV(folder)).rejects.toMatchObject({
      name: 'StorageError',
      message: `${folder} is in use by process ${process.ppid}. A folder serves one process; several need Redis or PostgreSQL`,
    })
    expect(await readdir(folder)).toEqual(['lock'])
    expect(await readFile(join(folder, 'lock'), 'utf8')).toBe(String(process.ppid))
  })

  it('holds our process id while the store is open', async () => {
    const kv = await fsKV(folder)
    expect(await readFile(join(folder, 'lock'), 'utf8')).toBe(String(process.pid))
    await kv.close()
    expect(await readdir(folder)).toEqual(['kv.log'])
  })

  it('is taken over from a process that is dead', async () => {
    const { pid } = spawnSync(process.execPath, ['--version'])
    for (const stale of [String(pid), '', 'nonsense', '-1']) {
      await writeFile(join(folder, 'lock'), stale)
      const kv = await fsKV(folder)
      expect(await readFile(join(folder, 'lock'), 'utf8')).toBe(String(process.pid))
      await kv.close()
    }
  })

  it('is let go of when the store cannot be opened', async () => {
    await written('a')
    await appendFile(join(folder, 'kv.log'), 'garbage\n')
    await expect(fsKV(folder)).rejects.toThrow('corrupt in line 3')
    expect(await readdir(folder)).toEqual(['kv.log'])
  })
})
