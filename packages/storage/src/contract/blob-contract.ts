import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import type { BlobContent, BlobStore } from '@turnpike/core'
import { ApiError } from '@turnpike/core'

/** One requirement of the contract; `run` rejects if the store violates it. Each case uses its own keys. */
export interface BlobContractCase {
  name: string
  run(blobs: BlobStore): Promise<void>
}

let cases = 0
const fresh = (): string => `c${Date.now()}-${process.pid}-${cases++}`

const MiB = 2 ** 20
const anything = { type: 'application/octet-stream', maxBytes: 64 * MiB }
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function read(blob: BlobContent | null): Promise<Buffer> {
  assert.ok(blob, 'there is a blob')
  const pieces: Uint8Array[] = []
  for await (const piece of blob.body) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** Yields `bytes` in pieces of uneven sizes that all share one buffer. */
async function* uneven(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const piece = new Uint8Array(70_001)
  for (let at = 0, i = 1; at < bytes.length; i++) {
    const part = bytes.subarray(at, at + ((i * 7919) % piece.length))
    piece.set(part)
    yield piece.subarray(0, part.length)
    at += part.length
  }
}

/** A body that throws after `bytes`. */
async function* broken(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* uneven(bytes)
  throw new Error('the body broke')
}

/** A body that hangs after `bytes`. */
async function* endless(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
  await new Promise(() => undefined)
}

const strange = [
  'a/b',
  'A/b',
  'a:b',
  'a?b=1',
  'a$',
  'a//b',
  'a/..',
  '../x',
  '.',
  'ü€😀',
  'x'.repeat(120),
  ' ',
  '%2F',
  '+',
]

/** Stores a blob under each name, and deletes the first again. */
async function distinguishes(blobs: BlobStore, names: string[]): Promise<void> {
  const prefix = fresh()
  for (const name of names) await blobs.put(`${prefix}/${name}`, Buffer.from(name), anything)
  for (const name of names) assert.equal(String(await read(await blobs.get(`${prefix}/${name}`))), name)
  await blobs.delete(`${prefix}/${names[0]}`)
  for (const name of names)
    assert.equal(
      (await blobs.get(`${prefix}/${name}`)) === null,
      name === names[0],
      `${name} after ${names[0]} was deleted`,
    )
}

/**
 * The contract of blob stores: the cases that each has to pass.
 * @example for (const { name, run } of blobContract) it(name, () => run(blobs))
 */
export const blobContract: BlobContractCase[] = [
  {
    name: 'returns what was put, and null for a missing key',
    async run(blobs) {
      const key = fresh()
      assert.equal(await blobs.get(key), null)
      const bytes = randomBytes(2.5 * MiB)
      const stored = await blobs.put(key, uneven(bytes), { ...anything, type: 'text/plain; charset=utf-8' })
      assert.deepEqual(stored, { size: bytes.length, sha256: sha256(bytes) })
      const blob = await blobs.get(key)
      assert.equal(blob?.size, bytes.length)
      assert.equal(blob.type, 'text/plain; charset=utf-8')
      assert.deepEqual(blob.range, { start: 0, end: bytes.length - 1 })
      assert.ok(bytes.equals(await read(blob)))
    },
  },
  {
    name: 'accepts bytes, streams and iterables, of any size',
    async run(blobs) {
      for (const size of [0, 1, MiB - 1, MiB, MiB + 1, 20 * MiB]) {
        const bytes = randomBytes(size)
        for (const body of [bytes, new Blob([bytes]).stream(), uneven(bytes)]) {
          const key = fresh()
          assert.deepEqual(await blobs.put(key, body, anything), { size, sha256: sha256(bytes) })
          const blob = await blobs.get(key)
          assert.equal(blob?.size, size)
          assert.ok(bytes.equals(await read(blob)), String(size))
          await blobs.delete(key)
        }
      }
      const key = fresh()
      await blobs.put(key, new Uint8Array(), anything)
      assert.equal((await blobs.get(key))?.range, null)
    },
  },
  {
    name: 'copies bytes on put and on get',
    async run(blobs) {
      const key = fresh()
      const bytes = new Uint8Array(10).fill(1)
      await blobs.put(key, bytes, anything)
      bytes.fill(2)
      for await (const piece of (await blobs.get(key))!.body) piece.fill(3)
      assert.deepEqual([...(await read(await blobs.get(key)))], Array(10).fill(1))
    },
  },
  {
    name: 'distinguishes keys of any characters',
    run: (blobs) => distinguishes(blobs, strange),
  },
  {
    name: 'distinguishes a key from the keys below it',
    run: (blobs) => distinguishes(blobs, ['a', 'a/b', 'a/b/c', 'a/', 'a//b', '..', '../x']),
  },
  {
    name: 'reads ranges, limited to the size of the blob',
    async run(blobs) {
      const key = fresh()
      const bytes = randomBytes(3 * MiB + 5)
      await blobs.put(key, bytes, anything)
      const last = bytes.length - 1
      const cases: [number, number | undefined][] = [
        [0, 0],
        [0, 3],
        [65_535, 65_536],
        [100_000, 165_535],
        [MiB - 1, MiB],
        [MiB, 2 * MiB - 1],
        [5, 3 * MiB],
        [last, undefined],
        [last, last + 100],
        [2, undefined],
      ]
      for (const [start, end] of cases) {
        const blob = await blobs.get(key, { start, ...(end !== undefined && { end }) })
        const to = Math.min(end ?? last, last)
        assert.deepEqual(blob?.range, { start, end: to })
        assert.equal(blob.size, bytes.length)
        assert.ok(bytes.subarray(start, to + 1).equals(await read(blob)), `${start}-${end}`)
      }
      for (const range of [{ start: bytes.length }, { start: bytes.length + 7, end: bytes.length + 9 }]) {
        const blob = await blobs.get(key, range)
        assert.equal(blob?.range, null)
        assert.equal(blob.size, bytes.length)
        assert.equal((await read(blob)).length, 0)
      }
    },
  },
  {
    name: 'replaces a blob atomically',
    async run(blobs) {
      const key = fresh()
      await blobs.put(key, randomBytes(2 * MiB), { ...anything, type: 'a/a' })
      await blobs.put(key, Buffer.from('short'), { ...anything, type: 'b/b' })
      const blob = await blobs.get(key)
      assert.deepEqual([blob?.type, blob?.size, String(await read(blob))], ['b/b', 5, 'short'])
    },
  },
  {
    name: 'deletes keys, also missing ones',
    async run(blobs) {
      const key = fresh()
      await blobs.delete(key)
      await blobs.put(key, randomBytes(100), anything)
      await blobs.delete(key)
      assert.equal(await blobs.get(key), null)
      await blobs.delete(key)
    },
  },
  {
    name: 'accepts exactly the maximum of bytes, and not one more',
    async run(blobs) {
      for (const maxBytes of [0, 5, MiB, 17 * MiB]) {
        const key = fresh()
        const bytes = randomBytes(maxBytes + 1)
        await assert.rejects(blobs.put(key, uneven(bytes), { ...anything, maxBytes }), (error) => {
          assert.ok(ApiError.is(error))
          assert.equal(error.status, 413)
          return true
        })
        assert.equal(await blobs.get(key), null)
        assert.equal((await blobs.put(key, bytes.subarray(1), { ...anything, maxBytes })).size, maxBytes)
      }
    },
  },
  {
    name: 'keeps the previous blob if a body breaks or is aborted',
    async run(blobs) {
      for (const size of [10, 18 * MiB]) {
        const key = fresh()
        const bytes = randomBytes(size)
        const fail = async (): Promise<void> => {
          await assert.rejects(blobs.put(key, broken(bytes), anything), { message: 'the body broke' })
          const controller = new AbortController()
          const given = blobs.put(key, endless(bytes), { ...anything, signal: controller.signal })
          setTimeout(() => controller.abort(new Error('given up')), 20)
          await assert.rejects(given, { message: 'given up' })
          const signal = AbortSignal.abort(new Error('given up before'))
          await assert.rejects(blobs.put(key, bytes, { ...anything, signal }), { message: 'given up before' })
        }
        await fail()
        assert.equal(await blobs.get(key), null)
        await blobs.put(key, Buffer.from('before'), anything)
        await fail()
        assert.equal(String(await read(await blobs.get(key))), 'before')
      }
    },
  },
  {
    name: 'stores exactly one of many concurrent values of a key',
    async run(blobs) {
      const key = fresh()
      const bodies = Array.from({ length: 8 }, (_, i) => Buffer.alloc(MiB + i, i))
      await Promise.all(bodies.map((body, i) => blobs.put(key, uneven(body), { ...anything, type: `a/${i}` })))
      const blob = await blobs.get(key)
      const body = bodies[Number(blob?.type.slice(2))]
      assert.ok(body?.equals(await read(blob)))
    },
  },
  {
    name: 'does not end early where the blob is deleted before it is read',
    async run(blobs) {
      const key = fresh()
      await blobs.put(key, randomBytes(2 * MiB), anything)
      const blob = await blobs.get(key, { start: MiB + 5 })
      await blobs.delete(key)
      await assert.rejects(read(blob))
    },
  },
  {
    name: 'lets a reader stop at any piece',
    async run(blobs) {
      const key = fresh()
      await blobs.put(key, randomBytes(4 * MiB), anything)
      for (let i = 0; i < 20; i++) for await (const _ of (await blobs.get(key))!.body) break
      assert.equal((await read(await blobs.get(key))).length, 4 * MiB)
    },
  },
]
