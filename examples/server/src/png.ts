import type sharp from 'sharp'

/**
 * Maximum number of pixels of an image, so that none takes more than 80 MB. The largest that a vendor sends, Gemini's of the size `4K`, have about
 * as many as 4,096 by 4,096, which are 16.8 million.
 */
const MAX_PIXELS = 20_000_000

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
 * those that also read files and hash passwords. @throws Error for other formats, and images of more than 20 million pixels
 */
export function toPng(image: Uint8Array): Promise<Uint8Array> {
  const png = last.then(async () => (await load())(image, { limitInputPixels: MAX_PIXELS }).png().toBuffer())
  last = png.catch(() => undefined)
  return png
}
