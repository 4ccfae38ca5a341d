import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { toPng } from '../../examples/server/src/png.js'

/** A JPEG of one grey pixel. */
const jpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AN//Z',
  'base64',
)

it('converts a JPEG to PNG', async () => {
  const png = Buffer.from(await toPng(jpeg))
  expect(png.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
  // Width and height, in the header that comes first.
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1, 1])
})

it('refuses invalid images', async () => {
  await expect(toPng(new TextEncoder().encode('no picture'))).rejects.toThrow('unsupported image format')
})

it.each([
  ['GIF', 'R0lGODlhAgADAIAAAExpcf///yH5BAUAAAAALAAAAAACAAMAAAICjF8AOw==', 'unsupported image format'],
  ['SVG', btoa('<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"/>'), 'unsupported image format'],
  ['more than 20 million pixels', 'UklGRh4AAABXRUJQVlA4TBEAAAAv/r//DwfQ//73v/+BiOh/AAA=', 'exceeds pixel limit'],
  [
    'a JPEG that is gone over again and again',
    Buffer.concat([jpeg.subarray(0, -2), ...Array<Buffer>(64).fill(Buffer.of(0xff, 0xda))]).toString('base64'),
    'more than 64 scans',
  ],
])('refuses %s', async (_, base64, message) => {
  await expect(toPng(Buffer.from(base64, 'base64'))).rejects.toThrow(message)
})

it('converts one image at a time, also after one that was refused', async () => {
  const require = createRequire(new URL('../../examples/server/package.json', import.meta.url))
  const { counters } = require('sharp') as { counters(): { queue: number; process: number } }
  const running: number[] = []
  const conversions = [jpeg, Buffer.from('no picture'), jpeg, jpeg, jpeg].map((image) =>
    toPng(image).finally(() => void running.push(counters().queue + counters().process)),
  )
  const results = await Promise.allSettled(conversions)
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(Math.max(...running)).toBeLessThan(2)
})
