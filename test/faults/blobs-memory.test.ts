import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { unstorageBlobs } from '@turnpike/storage'
import { expect, it } from 'vitest'
import { options } from '../support/blobs.js'

it('needs memory for five chunks of a blob during a write, and for one during a read', async () => {
  const MiB = 2 ** 20
  const chunkBytes = MiB
  const piece = randomBytes(65_536)
  const counts = { given: 0, written: 0, fetched: 0, consumed: 0 }
  let ahead = 0
  const items = new Map<string, string>()
  const blobs = unstorageBlobs(
    {
      getItem: (key) => items.get(key) ?? null,
      setItem: (key, value) => void items.set(key, value),
      removeItem: (key) => void items.delete(key),
      getKeys: () => [...items.keys()],
      async setItemRaw(_, { length }) {
        await sleep(1)
        counts.written += length
      },
      async getItemRaw() {
        counts.fetched += chunkBytes
        ahead = Math.max(ahead, counts.fetched - counts.consumed)
        return Buffer.concat(Array<Buffer>(16).fill(piece))
      },
    },
    { chunkBytes },
  )
  async function* body() {
    for (; counts.given < 200 * MiB; counts.given += piece.length) {
      ahead = Math.max(ahead, counts.given - counts.written)
      yield piece
    }
  }
  await blobs.put('key', body(), options)
  expect(ahead).toBeGreaterThan(MiB)
  expect(ahead).toBeLessThanOrEqual(5 * MiB)
  ahead = 0
  for await (const bytes of (await blobs.get('key'))!.body) counts.consumed += bytes.length
  expect(counts.consumed).toBe(200 * MiB)
  expect(ahead).toBe(MiB)
  counts.fetched = 0
  for await (const _ of (await blobs.get('key', { start: 10 * MiB + 5, end: 12 * MiB }))!.body);
  expect(counts.fetched).toBe(3 * MiB)
})
