import { isUuid } from '@turnpike/core/helpers'
import type { CryptoKey } from 'jose'
import { base64url } from 'jose'
import { fromBase64url } from './base64url.js'
import { deriveKeys, HMAC } from './secrets.js'

/** Version of the layout: version, id of the sign-in (16 bytes), counter (4), HMAC-SHA256 of those (its first 16). */
const VERSION = 1
const SIGNED = 21
const LENGTH = SIGNED + 16

/** A refresh token that is genuine, which does not mean that it is still good. */
export interface RefreshToken {
  signInId: string
  counter: number
}

/**
 * Refresh tokens of sign-ins. The token of a counter is always the same, so that two processes which refresh at once make the same one,
 * and no token is stored. Its key is derived from the secret and the sign-in, so that a store that leaks forges none.
 */
export function refreshTokens(masters: () => Promise<CryptoKey[]>) {
  /** The signatures by all secrets. */
  const signatures = async (signInId: string, head: Uint8Array<ArrayBuffer>): Promise<Uint8Array[]> => {
    const keys = await deriveKeys(await masters(), `refresh tokens of ${signInId}`, HMAC, ['sign'])
    const whole = await Promise.all(keys.map((key) => crypto.subtle.sign('HMAC', key, head)))
    return whole.map((signature) => new Uint8Array(signature, 0, LENGTH - SIGNED))
  }

  return {
    async make({ signInId, counter }: RefreshToken): Promise<string> {
      const token = new Uint8Array(LENGTH)
      token[0] = VERSION
      for (let i = 0; i < 16; i++) token[1 + i] = parseInt(signInId.replaceAll('-', '').slice(2 * i, 2 * i + 2), 16)
      new DataView(token.buffer).setUint32(17, counter)
      const [signature] = await signatures(signInId, token.slice(0, SIGNED))
      token.set(signature!, SIGNED)
      return base64url.encode(token)
    },
    /** What a token says; null where it was not made here. */
    async read(text: string): Promise<RefreshToken | null> {
      const token = fromBase64url(text)
      if (token?.length !== LENGTH || token[0] !== VERSION) return null
      const hex = Array.from(token.subarray(1, 17), (byte) => byte.toString(16).padStart(2, '0')).join('')
      const signInId = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
      if (!isUuid(signInId)) return null
      // All bytes are compared, so that the time tells nothing.
      const differences = (await signatures(signInId, token.slice(0, SIGNED))).map((expected) =>
        expected.reduce((difference, byte, i) => difference | (byte ^ token[SIGNED + i]!), 0),
      )
      return differences.includes(0) ? { signInId, counter: new DataView(token.buffer).getUint32(17) } : null
    },
  }
}
