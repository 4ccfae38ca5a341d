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
