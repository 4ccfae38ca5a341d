import type sharp from 'sharp'

/**
 * Maximum number of pixels of an image, so that none takes more than 80 MB. The largest that a vendor sends, Gemini's of the size `4K`, have about
 * as many as 4,096 by 4,096, which are 16.8 million.
 */
const MAX_PIXELS = 20_000_000

/** Maximum number of scans of a progressive JPEG: encoders make about ten. Each goes over the whole image, and may have next to no bytes. */
const MAX_SCANS = 64

/** Seconds that an image may take. */
const SECONDS = 10

const JPEG = Buffer.of(0xff, 0xd8)
const SCAN = Buffer.of(0xff, 0xda)

/** Whether a JPEG has more scans than are read, by their marker, which is nowhere in what is compressed. */
function hasManyScans(image: Buffer): boolean {
  if (!image.subarray(0, JPEG.length).equals(JPEG)) return false
  let scans = 0
  for (let at = image.indexOf(SCAN); at !== -1 && scans <= MAX_SCANS; at = image.indexOf(SCAN, at + 1)) scans++
  return scans > MAX_SCANS
}

/** The readers of libvips for what models send. Others draw what a file describes, such as SVG, which takes minutes. */
const readers = ['VipsForeignLoadPng', 'VipsForeignLoadJpeg', 'VipsForeignLoadWebp']

let loaded: Promise<typeof sharp> | undefined
/** Imports `sharp` on first use, because few deployments need it. */
const load = (): Promise<typeof sharp> =>
  (loaded ??= import('sharp').then(({ default: sharp }) => {
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: readers })
    sharp.concurrency(1)
    return sharp
  }))

let last: Promise<unknown> = Promise.resolve()

/**
 * Converts a PNG, JPEG or WebP image to PNG. The format is told by its first bytes. One image is converted at a time: each takes a thread of
 * those that also read files and hash passwords. @throws Error for other formats, images of more than 20 million pixels, and those that take ten seconds
 */
export function toPng(image: Uint8Array): Promise<Uint8Array> {
  const png = last.then(async () => {
    if (hasManyScans(Buffer.from(image.buffer, image.byteOffset, image.length)))
      throw new Error(`The image has more than ${MAX_SCANS} scans`)
    const sharp = await load()
    return sharp(image, { limitInputPixels: MAX_PIXELS }).timeout({ seconds: SECONDS }).png().toBuffer()
  })
  last = png.catch(() => undefined)
  return png
}
