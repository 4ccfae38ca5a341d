import { randomBytes } from 'node:crypto'
import type { BlobStore, ByteRange } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { mapDriver } from '../../../test/support/map-driver.js'
import { unstorageBlobs } from './blobs.js'

const KiB = 2 ** 10
const anything = { type: 'text/plain', maxBytes: 2 ** 30 }

async function read(blobs: BlobStore, range?: ByteRange): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of (await blobs.get('key', range))!.body) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** A driver that reads parts of items, and those that it was asked for: number of the chunk, start and end in KiB. */
function partDriver() {
  const { driver, items } = mapDriver<string | Uint8Array>()
  const parts: number[][] = []
  const getItemPart = async (key: string, start: number, end: number) => {
    parts.push([Number(key.at(-1)), start / KiB, end / KiB])
    const item = items.get(key) as Uint8Array | undefined
    return item ? new Uint8Array(item.subarray(start, end)) : null
  }
  return { storage: { ...driver, getItemPart }, driver, items, parts }
}

const chunksOf = (items: Map<string, string | Uint8Array>): Uint8Array[] =>
  [...items].filter(([key]) => key.startsWith('blobs:chunk:')).map(([, chunk]) => chunk as Uint8Array)

describe('where the driver reads parts of items', () => {
  it.each([
    ['one block', { start: 70_000, end: 70_001 }, [[0, 64, 128]]],
    ['the blocks of 64 KiB', { start: 600 * KiB, end: 664 * KiB - 1 }, [[1, 64, 192]]],
    [
      'the end of a chunk and the beginning of the next',
      { start: 512 * KiB - 1, end: 512 * KiB },
      [
        [0, 448, 512],
        [1, 0, 64],
      ],
    ],
    ['the last block, which is shorter', { start: 1_300 * KiB }, [[2, 256, 300]]],
    [
      'at most 256 KiB at once',
      { start: 64 * KiB },
      [
        [0, 64, 320],
        [0, 320, 512],
        [1, 0, 256],
        [1, 256, 512],
        [2, 0, 256],
        [2, 256, 300],
      ],
    ],
  ])('reads %s', async (_, range, expected) => {
    const { storage, parts } = partDriver()
    const bytes = randomBytes(1_324 * KiB)
    const blobs = unstorageBlobs(storage, { chunkBytes: 512 * KiB })
    await blobs.put('key', bytes, anything)
    const { start, end = bytes.length - 1 } = range as ByteRange
    expect(bytes.subarray(start, end + 1).equals(await read(blobs, range))).toBe(true)
    expect(parts).toEqual(expected)
  })

  it('reads and checks a chunk whole whose size is no multiple of a block', async () => {
    const { storage, items, parts } = partDriver()
    const bytes = randomBytes(500 * KiB)
    const blobs = unstorageBlobs(storage, { chunkBytes: 300 * KiB })
    await blobs.put('key', bytes, anything)
    expect(bytes.equals(await read(blobs))).toBe(true)
    expect(parts).toEqual([
      [0, 0, 300],
      [1, 0, 200],
    ])
    chunksOf(items)[1]![0]! ^= 1
    await expect(read(blobs, { start: 499 * KiB })).rejects.toThrow('A chunk of the blob is damaged')
  })

  it('rejects where the chunk is gone', async () => {
    const { storage, items } = partDriver()
    const blobs = unstorageBlobs(storage)
    await blobs.put('key', randomBytes(200 * KiB), anything)
    for (const key of items.keys()) if (key.startsWith('blobs:chunk:')) items.delete(key)
    await expect(read(blobs)).rejects.toThrow('replaced or deleted')
  })
})

it('takes memory for the chunks that are in memory at a time', async () => {
  let taken = 0
  const memory = { take: (bytes: number) => void (taken += bytes) }
  const blobs = unstorageBlobs(partDriver().storage, { chunkBytes: 64 * KiB, parallel: 2 })
  const put = async (size: number) => {
    taken = 0
    await blobs.put('key', randomBytes(size), { ...anything, memory })
    return taken
  }
  expect([await put(10), await put(100 * KiB), await put(1_000 * KiB)]).toEqual([10, 100 * KiB, 192 * KiB])
  const full = {
    take() {
      throw new Error('No memory')
    },
  }
  await expect(blobs.put('key', randomBytes(10), { ...anything, memory: full })).rejects.toThrow('No memory')
  expect(await read(blobs)).toHaveLength(1_000 * KiB)
})

it('reads each chunk once where the driver reads items whole', async () => {
  const { driver, items } = partDriver()
  let reads = 0
  const getItemRaw = (key: string) => {
    reads++
    return items.get(key)
  }
  const blobs = unstorageBlobs({ ...driver, getItemRaw })
  await blobs.put('key', randomBytes(2_500 * KiB), anything)
  expect((await read(blobs)).length).toBe(2_500 * KiB)
  expect(reads).toBe(3)
})

describe.each([
  ['parts of items', true],
  ['items whole', false],
])('where the driver reads %s', (_, readsParts) => {
  /** A blob of two chunks, of four blocks and of two. */
  const stored = async () => {
    const { storage, driver, items } = partDriver()
    const blobs = unstorageBlobs(readsParts ? storage : driver, { chunkBytes: 256 * KiB })
    const bytes = randomBytes(384 * KiB)
    await blobs.put('key', bytes, anything)
    return { blobs, items, bytes }
  }

  it.each([0, 1, 2, 3, 4, 5])('finds damage in block %i, at its beginning, within and at its end', async (block) => {
    const { blobs, items, bytes } = await stored()
    const [first, second] = chunksOf(items)
    const start = block * 64 * KiB
    for (const at of [start, start + 12_345, start + 64 * KiB - 1]) {
      const [chunk, offset] = at < 256 * KiB ? [first!, at] : [second!, at - 256 * KiB]
      chunk[offset]! ^= 1
      await expect(read(blobs)).rejects.toThrow('A chunk of the blob is damaged')
      await expect(read(blobs, { start: start + 5, end: start + 6 })).rejects.toThrow('A chunk of the blob is damaged')
      chunk[offset]! ^= 1
    }
    expect(bytes.equals(await read(blobs))).toBe(true)
  })

  it('takes no block for another', async () => {
    const { blobs, items } = await stored()
    const chunk = chunksOf(items)[0]!
    const second = Uint8Array.from(chunk.subarray(64 * KiB, 128 * KiB))
    chunk.set(chunk.subarray(128 * KiB, 192 * KiB), 64 * KiB)
    chunk.set(second, 128 * KiB)
    for (const start of [64 * KiB, 128 * KiB])
      await expect(read(blobs, { start, end: start })).rejects.toThrow('A chunk of the blob is damaged')
  })

  it('finds that a chunk has become shorter', async () => {
    const { blobs, items } = await stored()
    for (const [key, chunk] of items) if (key.endsWith('-1')) items.set(key, chunk.slice(0, 64 * KiB))
    await expect(read(blobs, { start: 350 * KiB })).rejects.toThrow('A chunk of the blob is damaged')
    expect((await read(blobs, { start: 256 * KiB, end: 320 * KiB - 1 })).length).toBe(64 * KiB)
  })
})

describe('a blob of an earlier version, without the sums of blocks', () => {
  const name = '2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683'
  const id = '01a21a6c-d109-7004-942a-81faa9e2377a'
  const manifest =
    `turnpike-blob 1 9017d7e22a177533 {"id":"${id}","type":"text/plain","chunkBytes":131072,"sums":[124253755,124253755,700669612],` +
    '"size":300000,"sha256":"de3370a4822c306e8ef26b0e5ecf90136e5f9f53173d98049024b5583151293d"}'
  const bytes = Buffer.alloc(300_000, 'Turnpike')
  const earlier = () => {
    const { storage, items, parts } = partDriver()
    for (const copy of ['a', 'b']) items.set(`blobs:manifest:${name}-${copy}`, manifest)
    for (const i of [0, 1, 2])
      items.set(`blobs:chunk:${name}-${id}-${i}`, Buffer.from(bytes.subarray(i * 131_072, (i + 1) * 131_072)))
    return { blobs: unstorageBlobs(storage), items, parts }
  }

  it('is read, by whole chunks', async () => {
    const { blobs, parts } = earlier()
    expect(bytes.equals(await read(blobs))).toBe(true)
    parts.length = 0
    expect(String(await read(blobs, { start: 131_080, end: 131_083 }))).toBe('Turn')
    expect(parts).toEqual([[1, 0, 128]])
  })

  it('is checked by whole chunks', async () => {
    const { blobs, items } = earlier()
    chunksOf(items)[1]![131_071]! ^= 1
    await expect(read(blobs, { start: 131_080, end: 131_083 })).rejects.toThrow('A chunk of the blob is damaged')
    expect(String(await read(blobs, { start: 0, end: 3 }))).toBe('Turn')
  })

  it('differs from one of this version by the sums of blocks alone, so that earlier versions read that', async () => {
    const { storage, items } = partDriver()
    await unstorageBlobs(storage, { chunkBytes: 131_072 }).put('key', bytes, anything)
    const json = (text: string) => JSON.parse(text.replace(/^turnpike-blob 1 \w{16} /, '')) as Record<string, unknown>
    const { id: _, blocks, ...rest } = json(items.get(`blobs:manifest:${name}-a`) as string)
    const { id: __, ...before } = json(manifest)
    expect(rest).toEqual(before)
    expect(blocks).toMatchObject({ bytes: 65_536 })
  })
})
