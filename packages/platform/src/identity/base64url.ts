/** Bytes as base64url without padding. */
export const toBase64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')

/** Bytes of base64url without padding, in their one canonical form; null for anything else. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  if (!/^[\w-]*$/.test(text) || text.length % 4 === 1) return null
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (char) => char.charCodeAt(0))
  return toBase64url(bytes) === text ? bytes : null
}

/** `bytes` random bytes as base64url. */
export const randomText = (bytes: number): string => toBase64url(crypto.getRandomValues(new Uint8Array(bytes)))
