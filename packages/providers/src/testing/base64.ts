/** Bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  // By pieces: a call takes only so many arguments.
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8_192) binary += String.fromCharCode(...bytes.subarray(i, i + 8_192))
  return btoa(binary)
}
