import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { bytesOf } from '../../../../test/support/form-reader.js'
import { inChunks, noise } from '../../../../test/support/forms.js'
import { spool } from './spool.js'

const LIMIT = 2 * 1024 * 1024
/** More than is kept in memory. */
const LARGE = 1_000_000

async function* body(chunks: Iterable<Uint8Array | Error>): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk instanceof Error) throw chunk
    yield chunk
  }
}

const tooLarge = () => new Error('Too large')
const received = (bytes: Uint8Array, size = 10_000) => spool(body(inChunks(bytes, size)), LIMIT, tooLarge)

/** A folder for temporary files that no other process uses. */
let folder: string
/** Temporary files that have a name. */
const named = (): string[] => readdirSync(folder)

/** Temporary files that this process has open; undefined where nobody tells. */
const open = (): number | undefined =>
  process.platform === 'linux'
    ? readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).includes('/turnpike-')
        } catch {
          return false
        }
      }).length
    : undefined

const ifLinux = (count: number): number | undefined => (process.platform === 'linux' ? count : undefined)

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'spooled-'))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

describe('a spool', () => {
  it.each([0, 1, 256 * 1024, 256 * 1024 + 1, LARGE, LIMIT])('returns %i bytes as often as requested', async (size) => {
    const bytes = noise(size)
    const spooled = await received(bytes)
    expect(spooled.size).toBe(size)
    for (let time = 0; time < 3; time++) expect((await bytesOf(spooled)).equals(bytes)).toBe(true)
    await spooled.dispose()
  })

  it('threat 49: takes from the memory what arrives, until there is none', async () => {
    let taken = 0
    const take = (bytes: number): void => {
      if ((taken += bytes) > 500_000) throw new Error('No memory')
    }
    const file = spool(body(inChunks(noise(400_000), 10_000)), LIMIT, tooLarge, { take })
    await (await file).dispose()
    expect(taken).toBe(400_000)
    await expect(spool(body(inChunks(noise(LARGE), 10_000)), LIMIT, tooLarge, { take })).rejects.toThrow('No memory')
    expect([taken, open()]).toEqual([510_000, ifLinux(0)])
  })

  it('can be read several times concurrently', async () => {
    const bytes = noise(LARGE)
    const spooled = await received(bytes)
    const all = await Promise.all([bytesOf(spooled), bytesOf(spooled), bytesOf(spooled)])
    expect(all.every((one) => one.equals(bytes))).toBe(true)
    await spooled.dispose()
  })

  it('keeps small bodies in memory', async () => {
    const spooled = await received(noise(256 * 1024))
    expect(open()).toBe(ifLinux(0))
    await spooled.dispose()
  })

  it('writes large bodies to an unlinked file, and closes it', async () => {
    const spooled = await received(noise(LARGE))
    expect([named(), open()]).toEqual([[], ifLinux(1)])
    await spooled.dispose()
    expect([named(), open()]).toEqual([[], ifLinux(0)])
  })

  it('limits the chunks that it reads ahead', async () => {
    const spooled = await received(noise(LARGE))
    for await (const chunk of spooled.read()) expect(chunk.length).toBeLessThanOrEqual(64 * 1024)
    await spooled.dispose()
  })

  it.each([100_000, LARGE])('leaves nothing behind when a body breaks after %i bytes', async (size) => {
    const broken = spool(body([...inChunks(noise(size), 10_000), new Error('Broken')]), LIMIT, tooLarge)
    await expect(broken).rejects.toThrow('Broken')
    expect(open()).toBe(ifLinux(0))
  })

  it('accepts exactly the limit, and leaves nothing behind above it', async () => {
    let taken = 0
    const endless = (function* () {
      for (;;) {
        taken++
        yield new Uint8Array(LIMIT / 4)
      }
    })()
    await expect(spool(body(endless), LIMIT, tooLarge)).rejects.toThrow('Too large')
    expect([taken, open()]).toEqual([5, ifLinux(0)])
    await expect(received(new Uint8Array(LIMIT + 1))).rejects.toThrow('Too large')
  })

  it('can be disposed while it is read, which fails the reader', async () => {
    const spooled = await received(noise(LARGE))
    const reading = bytesOf(spooled)
    const failed = expect(reading).rejects.toThrow()
    await spooled.dispose()
    await failed
    expect(open()).toBe(ifLinux(0))
  })
})

describe('a spool without a file system', () => {
  it('keeps bodies in memory', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockImplementation((() => undefined) as never)
    const bytes = noise(LARGE)
    const spooled = await received(bytes)
    expect(open()).toBe(ifLinux(0))
    for (let time = 0; time < 2; time++) expect((await bytesOf(spooled)).equals(bytes)).toBe(true)
    await spooled.dispose()
  })
})
