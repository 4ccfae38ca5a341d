import type { KV } from '@turnpike/core'
import type { CryptoKey } from 'jose'
import { fromBase64url, randomText } from './base64url.js'

const text = new TextEncoder()
const secretKey = ['session-secret']

/** The secret that all keys are derived from: the given one or, without it, one that is made once and kept in the store. */
export async function masterSecret(kv: KV, given: string | Uint8Array | undefined): Promise<CryptoKey> {
  let bytes = typeof given === 'string' ? text.encode(given) : given
  while (!bytes) {
    const kept = (await kv.get<{ secret: string }>(secretKey))?.value
    if (kept) bytes = fromBase64url(kept.secret)!
    else
      await kv.commit({
        check: [{ key: secretKey, version: null }],
        set: [{ key: secretKey, value: { secret: randomText(32) } }],
      })
  }
  return crypto.subtle.importKey('raw', bytes as Uint8Array<ArrayBuffer>, 'HKDF', false, ['deriveKey'])
}

type Derivation = Parameters<typeof crypto.subtle.deriveKey>

/** A key for one purpose, which tells nothing about the master secret or other keys (HKDF, RFC 5869). */
export const derive = (
  master: CryptoKey,
  purpose: string,
  algorithm: Derivation[2],
  usages: Derivation[4],
): Promise<CryptoKey> =>
  crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: text.encode(`turnpike ${purpose}`) },
    master,
    algorithm,
    false,
    usages,
  )

/** Encrypts by AES-GCM. @returns the nonce and the ciphertext */
export async function seal(key: CryptoKey, plain: string): Promise<Uint8Array> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, text.encode(plain)))
  const whole = new Uint8Array(iv.length + sealed.length)
  whole.set(iv)
  whole.set(sealed, iv.length)
  return whole
}

/** Decrypts what {@link seal} made; null where it was made with another key or changed. */
export async function unseal(key: CryptoKey, sealed: Uint8Array<ArrayBuffer>): Promise<string | null> {
  try {
    const iv = sealed.subarray(0, 12)
    return new TextDecoder().decode(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed.subarray(12)))
  } catch {
    return null
  }
}
