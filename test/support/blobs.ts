import type { BlobStore } from '@turnpike/core'
import { expect } from 'vitest'

/** Options of a `put` that nothing is too large for. */
export const options = { type: 'text/plain', maxBytes: 2 ** 30 }

/** The bytes of the blob `key` as text, or null. */
export async function textOf(blobs: BlobStore): Promise<string | null> {
  const blob = await blobs.get('key')
  if (!blob) return null
  let text = ''
  for await (const piece of blob.body) text += Buffer.from(piece)
  expect(text).toHaveLength(blob.size)
  return text
}
