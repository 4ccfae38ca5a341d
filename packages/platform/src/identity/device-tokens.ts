import type { CryptoKey } from 'jose'
import { base64url } from 'jose'
import { DEVICE_DAYS } from '../conventions.js'
import { memoize } from '../memoize.js'
import { fromBase64url } from './base64url.js'
import { deriveKeys, HMAC, sign, verify } from './secrets.js'

/** Layout: when it was made (seconds, 4 bytes), random bytes (12), HMAC-SHA256 of those and whom it is for (32). */
const HEAD = 16
const LENGTH = HEAD + 32

/** Whether a text has the form of a token. */
export const isDeviceToken = (text: string): boolean => /^[\w-]{64}$/.test(text)

/**
 * Tokens of devices on which somebody has signed in (OWASP, "Slow Down Online Guessing Attacks with Device Cookies"). They are not stored, do not tell
 * whom they are for, and are good for nothing but another attempt to sign in.
 */
export function deviceTokens(masters: () => Promise<CryptoKey[]>, now: () => number) {
  const keys = memoize(async () => deriveKeys(await masters(), 'device tokens', HMAC, ['sign', 'verify']))
  const signed = (head: Uint8Array<ArrayBuffer>, holder: string): Uint8Array<ArrayBuffer> => {
    const text = new TextEncoder().encode(holder)
    const bytes = new Uint8Array(HEAD + text.length)
    bytes.set(head)
    bytes.set(text, HEAD)
    return bytes
  }

  return {
    /** A token of a new device. */
    async make(holder: string): Promise<string> {
      const token = crypto.getRandomValues(new Uint8Array(LENGTH))
      new DataView(token.buffer).setUint32(0, Math.floor(now() / 1_000))
      const bytes = signed(token.slice(0, HEAD), holder)
      token.set(new Uint8Array(await sign(await keys(), bytes)), HEAD)
      return base64url.encode(token)
    },
    /** Whether a token was made here for the same, and has not expired. */
    async isOf(holder: string, text: string): Promise<boolean> {
      const token = fromBase64url(text)
      if (token?.length !== LENGTH) return false
      const bytes = signed(token.slice(0, HEAD), holder)
      if (!(await verify(await keys(), token.slice(HEAD), bytes))) return false
      return now() / 1_000 < new DataView(token.buffer).getUint32(0) + DEVICE_DAYS * 86_400
    },
  }
}
