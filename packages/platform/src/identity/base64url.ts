import { base64url } from 'jose'

/** Bytes of base64url without padding, in their one canonical form; null for anything else. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const bytes = new Uint8Array(base64url.decode(text))
    return base64url.encode(bytes) === text ? bytes : null
  } catch {
    return null
  }
}

/** `bytes` random bytes as base64url. */
export const randomText = (bytes: number): string => base64url.encode(crypto.getRandomValues(new Uint8Array(bytes)))
