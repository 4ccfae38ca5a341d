// Longer than 250 lines: one store whose commits and bytes all cases watch.
import type { BlobBody, BlobStore, Commit, KV } from '@turnpike/core'
import { createUser, deleteUser, memoryKV, restoreUser, StorageError } from '@turnpike/core'
import type { RequestLog } from '@turnpike/http'
import { localExchange } from '@turnpike/http'
import { unstorageBlobs } from '@turnpike/storage/blobs'
import { describe, expect, it } from 'vitest'
import { mapDriver } from '../../../../test/support/map-driver.js'
import { createPlatform } from '../platform.js'
import { verifyPlatform } from '../verify/verify.js'
import type { CheckedUpload, FilesOptions } from './options.js'

const MiB = 1024 * 1024
async function* chunks(...sizes: number[]): AsyncGenerator<Uint8Array> {
  for (const size of sizes) yield new Uint8Array(size).fill(7)
}

/** Files of a user, with a journal of what the stores did, and faults in both. */
async function setUp(options: Partial<FilesOptions> & { storageGb?: number } = {}, now: () => number = Date.now) {
  const { storageGb = 1, ...files } = options
  const memory = await memoryKV()
  const { driver, items } = mapDriver<string | Uint8Array>()
  const stored = unstorageBlobs(driver)
  const journal: string[] = []
  const logs: RequestLog[] = []
  const faults: { commit?: (commit: Commit) => Promise<boolean> | undefined; put?: Error; delete?: Error } = {}
  const commitOf = ({ set = [], del = [] }: Commit): string =>
    [...set.map(({ key }) => `+${key[0]}`), ...del.map((key) => `-${key[0]}`)].join(' ')
  const kv: KV = {
    ...memory,
    commit(commit) {
      const fault = faults.commit?.(commit)
      if (fault) return fault
      journal.push(commitOf(commit))
      return memory.commit(commit)
    },
  }
  const blobs: BlobStore = {
    ...stored,
    async put(key: string, body: BlobBody, how) {
      const result = await stored.put(key, body, how)
      journal.push('put')
      if (faults.put) throw faults.put
      return result
    },
    async delete(key) {
      if (faults.delete) throw faults.delete
      journal.push('delete')
      await stored.delete(key)
    },
    signedUrl: async (key) => new URL(`https://store.example/${key}`),
  }
  const user = await createUser(memory, { email: 'ada@example.org' })
  const { operations, handle } = createPlatform({
    kv,
    identity: { authenticate: () => ({ userId: user.id, via: 'custom' }) },
    files: { blobs, ...files },
    planLimits: { storageGb },
    onRequest: (log) => logs.push(log),
    now,
  })
  const ask = async (path: string, method = 'GET'): Promise<unknown> =>
    JSON.parse(String((await handle(localExchange({ method, path })))!.body ?? null))
  const problems = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const problem of verifyPlatform(memory, { blobs: stored })) found.push(problem)
    return found
  }
  const used = () => operations.balances.usedBytes(user.id)
  journal.length = 0
  return { kv: memory, items, blobs, journal, faults, files: operations.files!, user, problems, used, ask, logs }
}

describe('an upload', () => {
  it('stores its bytes first, and then its record in the commit of the space', async () => {
    const { files, user, journal, problems, used } = await setUp()
    const file = await files.upload(user.id, { name: 'a.txt', type: 'text/plain', body: chunks(10, 20), most: 500 })
    expect(journal).toEqual(['+file-bytes', 'put', '+file +user-files -file-bytes'])
    expect(file).toMatchObject({ size_bytes: 30, display_name: 'a.txt', is_public: false, inline: true })
    expect([await used(), await problems()]).toEqual([30, []])
  })

  it('reserves space as its bytes come, where their number is not announced', async () => {
    const { files, user, journal, used } = await setUp({ storageGb: 0.02 })
    const seen: number[] = []
    async function* body() {
      for (let i = 0; i < 18; i++) {
        seen.push(await used())
        yield new Uint8Array(MiB)
      }
    }
    await files.upload(user.id, { name: 'a', body: body() })
    // By 8 MiB, and at last what is left of 20 MB.
    expect([...new Set(seen)]).toEqual([8 * MiB, 16 * MiB, 20_000_000])
    expect(journal.filter((entry) => entry === '+file-bytes')).toHaveLength(3)
    expect(await used()).toBe(18 * MiB)
  })

  it('is read no faster than its bytes are stored', async () => {
    let taken = 0
    async function* body() {
      for (; taken < 100; taken++) yield new Uint8Array(MiB)
    }
    const { driver } = mapDriver<string | Uint8Array>()
    const writes: (() => void)[] = []
    const slow = { ...driver, setItemRaw: () => new Promise<void>((resolve) => writes.push(resolve)) }
    const { files, user } = await setUp({ blobs: unstorageBlobs(slow) })
    const uploaded = files.upload(user.id, { name: 'a', body: body() }).catch(() => undefined)
    await expect.poll(() => taken).toBeGreaterThan(0)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(taken).toBeLessThan(8)
    const timer = setInterval(() => writes.splice(0).forEach((end) => end()), 0)
    await uploaded
    clearInterval(timer)
    expect(taken).toBe(100)
  })

  it.each([
    [
      'a body that breaks',
      {
        body: (async function* () {
          yield new Uint8Array(5)
          throw new Error('gone')
        })(),
      },
      'gone',
    ],
    ['a file over the limit', { body: chunks(60, 60) }, 'larger than 100 bytes'],
    ['wrong fields', { body: chunks(5), fields: () => Promise.reject(new Error('wrong')) }, 'wrong'],
  ])('leaves nothing of %s', async (_, upload, message) => {
    const { files, user, items, problems, used } = await setUp({ maxBytes: 100 })
    await expect(files.upload(user.id, { name: 'a', ...upload })).rejects.toThrow(message)
    expect([await used(), await problems(), items.size]).toEqual([0, [], 0])
    expect((await files.list(user.id)).items).toEqual([])
  })

  it('is refused by a check that fails', async () => {
    const check = () => Promise.reject(new Error('The scanner is down'))
    const { files, user, items, used } = await setUp({ check })
    await expect(files.upload(user.id, { name: 'a', body: chunks(5) })).rejects.toThrow('The scanner is down')
    expect([await used(), items.size]).toEqual([0, 0])
  })

  it('shows the check its bytes, more than once', async () => {
    const sizes: number[] = []
    const { files, user } = await setUp({
      check: async ({ read, size_bytes, sha256 }: CheckedUpload) => {
        for (let i = 0; i < 2; i++) for await (const bytes of read()) sizes.push(bytes.length)
        expect([size_bytes, sha256.length]).toEqual([5, 64])
        return 'accept' as const
      },
    })
    await files.upload(user.id, { name: 'a', body: chunks(5) })
    expect(sizes).toEqual([5, 5])
  })

  it('whose bytes may have been stored leaves none', async () => {
    const { files, user, faults, items, problems, used } = await setUp()
    faults.put = new StorageError('The blob may have been stored', 'unknown')
    await expect(files.upload(user.id, { name: 'a', body: chunks(5) })).rejects.toThrow('may have been stored')
    expect([await used(), await problems(), items.size]).toEqual([0, [], 0])
  })

  it('keeps its bytes where its record may have been made', async () => {
    const { kv, files, user, faults, problems, used } = await setUp()
    faults.commit = (commit) =>
      commit.set?.some(({ key }) => key[0] === 'file')
        ? kv.commit(commit).then(() => Promise.reject(new StorageError('No answer', 'unknown')))
        : undefined
    await expect(files.upload(user.id, { name: 'a', body: chunks(5) })).rejects.toThrow('No answer')
    expect([await used(), await problems()]).toEqual([5, []])
    expect(await files.verify(0)).toBe(0)
    expect((await files.list(user.id)).items).toHaveLength(1)
  })

  it('makes no record where it was given up', async () => {
    const { files, user, items, problems, used } = await setUp()
    const giveUp = async function* () {
      yield new Uint8Array(5)
      expect(await files.verify(0)).toBe(1)
    }
    await expect(files.upload(user.id, { name: 'a', body: giveUp() })).rejects.toThrow('took too long')
    expect([await used(), await problems(), items.size]).toEqual([0, [], 0])
  })
})

describe('bytes without a record', () => {
  it('stay counted until they are gone, and are removed later', async () => {
    const { files, user, faults, items, problems, used } = await setUp()
    const { id } = await files.upload(user.id, { name: 'a', body: chunks(5) })
    faults.delete = new StorageError('The blob could not be deleted', 'none')
    await files.remove(user.id, id)
    await expect(files.get(user.id, id)).rejects.toThrow('no such file')
    expect([await used(), await problems(), (await files.list(user.id)).items]).toEqual([5, [], []])
    delete faults.delete
    // A deletion is finished at once, whatever its age.
    expect(await files.verify()).toBe(1)
    expect([await used(), items.size]).toEqual([0, 0])
  })

  it('are told of in the log of the request that left them', async () => {
    const { files, user, faults, ask, logs } = await setUp()
    for (const fault of [undefined, new StorageError('The blob could not be deleted', 'none')]) {
      const { id } = await files.upload(user.id, { name: 'a', body: chunks(5) })
      if (fault) faults.delete = fault
      await ask(`/api/user-files/${id}?permanent=true`, 'DELETE')
    }
    expect(logs.map(({ status, bytes_left }) => [status, bytes_left])).toEqual([
      [204, undefined],
      [204, true],
    ])
  })

  it('of an upload that may be under way are left', async () => {
    const { files, user, faults, used } = await setUp()
    faults.delete = new StorageError('The blob could not be deleted', 'none')
    faults.put = new Error('gone')
    await expect(files.upload(user.id, { name: 'a', body: chunks(5), most: 100 })).rejects.toThrow('gone')
    delete faults.delete
    expect([await files.verify(), await used()]).toEqual([1, 0])
  })

  it('are removed before their record never', async () => {
    const { files, user, journal } = await setUp()
    const { id } = await files.upload(user.id, { name: 'a', body: chunks(5) })
    await files.trash(user.id, id)
    journal.length = 0
    await files.remove(user.id, id)
    expect(journal).toEqual(['+file-bytes -file -user-trash -trash', 'delete', '-file-bytes'])
  })

  it('that cannot be deleted keep no others', async () => {
    const { files, user, faults, used, blobs } = await setUp()
    const all = [
      await files.upload(user.id, { name: 'a', body: chunks(5) }),
      await files.upload(user.id, { name: 'b', body: chunks(7) }),
    ]
    faults.delete = new StorageError('AccessDenied', 'none')
    for (const { id } of all) await files.remove(user.id, id)
    delete faults.delete
    const remove = blobs.delete
    blobs.delete = (key) => (key === all[0]!.storage_key ? Promise.reject(new Error('AccessDenied')) : remove(key))
    await expect(files.verify()).rejects.toThrow('AccessDenied')
    expect(await used()).toBe(5)
  })

  it('are not made where an unknown error hides that the record was', async () => {
    const { kv, files, user, faults, problems, used } = await setUp()
    faults.commit = (commit) =>
      commit.set?.some(({ key }) => key[0] === 'file')
        ? kv.commit(commit).then(() => Promise.reject(new Error('socket closed')))
        : undefined
    await expect(files.upload(user.id, { name: 'a', body: chunks(5) })).rejects.toThrow('socket closed')
    expect([await used(), await problems()]).toEqual([5, []])
  })
})

describe('a purge', () => {
  it('leaves the files of a user who is restored meanwhile', async () => {
    const now = { ms: Date.now() }
    const at = await setUp({}, () => now.ms)
    const { kv, files, user, blobs } = at
    await createUser(kv, { email: 'root@example.org', role: 'admin' })
    for (let i = 0; i < 4; i++) await files.upload(user.id, { name: 'a', body: chunks(5) })
    await deleteUser(kv, user.id, { now: now.ms })
    now.ms += 31 * 86_400_000
    const remove = blobs.delete
    blobs.delete = async (key) => {
      await restoreUser(kv, user.id)
      return remove(key)
    }
    expect(await files.purge()).toBe(1)
    expect((await files.list(user.id)).items).toHaveLength(3)
    expect(await at.problems()).toEqual([])
  })
})

describe('URLs of the store itself', () => {
  it('are refused at the start for longer than the store signs them', async () => {
    const { blobs } = await setUp()
    const limited = { blobs: { ...blobs, maxExpiresIn: 604_800 }, urlSeconds: 604_801 }
    await expect(setUp({ ...limited, directUrls: true })).rejects.toThrow(
      'urlSeconds is 604801, and this blob store signs URLs for 604800 seconds at most',
    )
    await setUp({ ...limited, directUrls: true, urlSeconds: 604_800 })
    await setUp(limited)
  })

  it.each([false, true, null, undefined, 'infected', ''])('are of no file where the check says %j', async (verdict) => {
    const { files, user } = await setUp({ check: () => verdict as never })
    await expect(files.upload(user.id, { name: 'a', body: chunks(5) })).rejects.toThrow(TypeError)
    expect((await files.list(user.id)).items).toEqual([])
  })

  it('are made of no file in the trash or held back', async () => {
    const { files, user, ask } = await setUp({
      directUrls: true,
      check: ({ display_name }) => (display_name === 'doubtful' ? 'hold' : 'accept'),
    })
    const urlOf = async (id: string) => ((await ask(`/api/user-files/${id}`)) as { url: string }).url
    const good = await files.upload(user.id, { name: 'good', body: chunks(5) })
    const doubtful = await files.upload(user.id, { name: 'doubtful', body: chunks(5) })
    expect(await urlOf(good.id)).toBe(`https://store.example/${good.storage_key}`)
    expect(await urlOf(doubtful.id)).toMatch(/^http:\/\/localhost\/api\/user-files\//)
    await files.trash(user.id, good.id)
    expect(await urlOf(good.id)).toMatch(/^http:\/\/localhost\/api\/user-files\//)
  })
})
