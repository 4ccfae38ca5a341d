/** Turns a picture of any common format into a PNG. The library is loaded with the first one: few servers meet any. */
export async function toPng(picture: Uint8Array): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp')
  return sharp(picture).png().toBuffer()
}
