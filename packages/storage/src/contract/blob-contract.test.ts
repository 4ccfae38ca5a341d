import type { BlobStore } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { mapDriver } from '../../../../test/support/map-driver.js'
import { cutRange } from '../blobs/blob-bytes.js'
import { unstorageBlobs } from '../blobs.js'
import { blobContract } from '../testing.js'
import { needs, testAll } from '../../../../test/support/needs.js'

const memory = () => mapDriver<string | Uint8Array>().driver

describe('unstorageBlobs', () => {
  for (const { name, run } of blobContract) it(name, () => run(unstorageBlobs(memory())))

  it.each([['getItemRaw'], ['setItemRaw']])('stores text where a driver lacks %s', async (method) => {
    const storage = memory()
    delete storage[method as 'getItemRaw']
    const blobs = unstorageBlobs(storage, { base: 'files' })
    await blobs.put('key', Buffer.from('bytes'), { type: 'a/b', maxBytes: 5 })
    const chunk = (await storage.getKeys('', {})).find((key) => key.startsWith('files:chunk:'))!
    expect(storage.getItem(chunk)).toBe('base64:Ynl0ZXM=')
    for await (const piece of (await blobs.get('key'))!.body) expect(String(Buffer.from(piece))).toBe('bytes')
  })

  it('treats an error that is returned as a value as an error', async () => {
    const storage = memory()
    await unstorageBlobs(storage).put('key', Buffer.from('bytes'), { type: 'a/b', maxBytes: 5 })
    const blobs = unstorageBlobs({ ...storage, getItemRaw: () => new Error('EIO') })
    const body = (await blobs.get('key'))!.body[Symbol.asyncIterator]()
    await expect(body.next()).rejects.toThrow('EIO')
  })

  it('reports a failed delete, even if the driver hides the error', async () => {
    const storage = memory()
    const blobs = unstorageBlobs({ ...storage, removeItem: () => undefined })
    await blobs.put('key', Buffer.from('bytes'), { type: 'a/b', maxBytes: 5 })
    await expect(blobs.delete('key')).rejects.toThrow('could not be deleted')
  })

  it('refuses a read-only driver', () => {
    const { getItem, getKeys } = memory()
    expect(() => unstorageBlobs({ getItem, getKeys })).toThrow('can only be read')
  })
})

it.each([
  [0, undefined, null],
  [10, undefined, { start: 0, end: 9 }],
  [10, { start: 9 }, { start: 9, end: 9 }],
  [10, { start: 3, end: 99 }, { start: 3, end: 9 }],
  [10, { start: 10 }, null],
  [10, { start: 3, end: 2 }, null],
])('returns a range of a blob of %i bytes: %o', (size, range, cut) => {
  expect(cutRange(size, range)).toEqual(cut)
})

describe('the contract', () => {
  /** The names of the cases that fail on a store with a fault. */
  const failures = async (fault: (blobs: BlobStore) => Partial<BlobStore>): Promise<string[]> => {
    const names: string[] = []
    for (const { name, run } of blobContract) {
      const blobs = unstorageBlobs(memory())
      await run({ ...blobs, ...fault(blobs) }).catch(() => names.push(name))
    }
    return names
  }

  it('detects the faults of a store', needs(testAll), async () => {
    expect(await failures(() => ({}))).toEqual([])
    expect(await failures((blobs) => ({ get: (key) => blobs.get(key) }))).toEqual([
      'reads ranges, limited to the size of the blob',
    ])
    const unlimited = await failures((blobs) => ({
      put: (key, body, options) => blobs.put(key, body, { ...options, maxBytes: Infinity }),
    }))
    expect(unlimited).toEqual(['accepts exactly the maximum of bytes, and not one more'])
    const folded = await failures((blobs) => ({
      put: (key, body, options) => blobs.put(key.toLowerCase(), body, options),
      get: (key, range) => blobs.get(key.toLowerCase(), range),
    }))
    expect(folded).toEqual(['distinguishes keys of any characters'])
    const eternal = await failures(() => ({ delete: async () => undefined }))
    expect(eternal).toContain('deletes keys, also missing ones')
    const deaf = await failures((blobs) => ({
      put: async (key, body, { signal, ...options }) => {
        if (signal?.aborted) return blobs.put(key, body, options)
        return blobs.put(key, body, { ...options, ...(signal && { signal }) })
      },
    }))
    expect(deaf).toEqual(['keeps the previous blob if a body breaks or is aborted'])
  })
})
