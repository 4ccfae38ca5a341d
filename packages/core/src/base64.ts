/** Bytes encoded at a time: a multiple of three, and few enough to be passed as arguments. */
const STEP = 3 * 8 * 1024

/** Encodes bytes as base64. */
export function toBase64(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += STEP) text += btoa(String.fromCharCode(...bytes.subarray(i, i + STEP)))
  return text
}

/** Decodes base64. @throws DOMException for invalid base64 */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}
