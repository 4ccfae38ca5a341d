/** Bytes to turn into base64 at a time: a multiple of three, and few enough to be arguments. */
const STEP = 3 * 8 * 1024

/** Bytes in base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += STEP) text += btoa(String.fromCharCode(...bytes.subarray(i, i + STEP)))
  return text
}

/** The bytes of base64. @throws where the text is none */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
