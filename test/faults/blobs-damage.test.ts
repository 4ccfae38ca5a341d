import { setTimeout as sleep } from 'node:timers/promises'
import { unstorageBlobs } from '@turnpike/storage'
import { describe, expect, it } from 'vitest'
import { options, textOf } from '../support/blobs.js'
import { mapDriver } from '../support/map-driver.js'

describe('a damaged blob', () => {
  it.each([
    ['chunk', 'A chunk of the blob is damaged'],
    ['manifest', 'The manifest of the blob is damaged'],
  ])('is detected by its %s, and can be replaced', async (part, message) => {
    const { driver, items } = mapDriver<string | Uint8Array>()
    const blobs = unstorageBlobs(driver, { chunkBytes: 4 })
    await blobs.put('key', Buffer.from('abcdefghijkl'), options)
    for (const [key, value] of items)
      if (key.startsWith(`blobs:${part}`))
        items.set(key, typeof value === 'string' ? value.replace('"size":12', '"size":13') : Buffer.from('abcX'))
    await expect(textOf(blobs)).rejects.toThrow(message)
    // What may still be mended by hand is not swept away.
    await sleep(5)
    expect(await unstorageBlobs(driver, { chunkBytes: 4, putWithin: 1 }).sweep()).toBe(0)
    await blobs.put('key', Buffer.from('new'), options)
    expect(await textOf(blobs)).toBe('new')
    await blobs.delete('key')
    expect(await textOf(blobs)).toBeNull()
  })

  it('is not mistaken for another one by a reader that started before it was replaced', async () => {
    const blobs = unstorageBlobs(mapDriver<string | Uint8Array>().driver, { chunkBytes: 4 })
    await blobs.put('key', Buffer.from('abcdefghijkl'), options)
    const body = (await blobs.get('key'))!.body[Symbol.asyncIterator]()
    expect(String(Buffer.from((await body.next()).value!))).toBe('abcd')
    await blobs.put('key', Buffer.from('ABCDEFGHIJKL'), options)
    await expect(body.next()).rejects.toThrow('replaced or deleted')
  })
})
