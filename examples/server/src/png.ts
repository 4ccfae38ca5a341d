/** Converts an image of any common format to PNG. `sharp` is imported on first use, because few deployments need it. */
export async function toPng(image: Uint8Array): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp')
  return sharp(image).png().toBuffer()
}
