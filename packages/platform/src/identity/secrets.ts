import type { KV } from '@turnpike/core'
import type { CryptoKey } from 'jose'
import { base64url } from 'jose'
import { memoize } from '../memoize.js'
import { fromBase64url, randomText } from './base64url.js'

const text = new TextEncoder()
const secretKey = ['session-secret']

/** A secret: at least 32 characters or bytes. */
export type Secret = string | Uint8Array

const importSecret = (bytes: Uint8Array): Promise<CryptoKey> =>
  crypto.subtle.importKey('raw', bytes as Uint8Array<ArrayBuffer>, 'HKDF', false, ['deriveKey'])

/**
 * The secrets that all keys are derived from: the given ones or, without any, one that is made once and kept in the store. The first one is
 * used for what is made, all for what was made before.
 */
export async function masterSecrets(kv: KV, given: readonly Secret[]): Promise<CryptoKey[]> {
  if (given.length > 0)
    return Promise.all(given.map((secret) => importSecret(typeof secret === 'string' ? text.encode(secret) : secret)))
  for (;;) {
    const kept = (await kv.get<{ secret: string }>(secretKey))?.value
    if (kept) return [await importSecret(fromBase64url(kept.secret)!)]
    await kv.commit({
      check: [{ key: secretKey, version: null }],
      set: [{ key: secretKey, value: { secret: randomText(32) } }],
    })
  }
}

type Derivation = Parameters<typeof crypto.subtle.deriveKey>

/** A key of each secret for one purpose, which tells nothing about the secret or other keys (HKDF, RFC 5869). */
export const deriveKeys = (
  masters: CryptoKey[],
  purpose: string,
  algorithm: Derivation[2],
  usages: Derivation[4],
): Promise<CryptoKey[]> => {
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: text.encode(`turnpike ${purpose}`) }
  return Promise.all(masters.map((master) => crypto.subtle.deriveKey(hkdf, master, algorithm, false, usages)))
}

/** What keys by HMAC-SHA256 are derived for. */
export const HMAC = { name: 'HMAC', hash: 'SHA-256', length: 256 }

/** Signs with the first key. */
export const sign = (keys: CryptoKey[], bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> =>
  crypto.subtle.sign('HMAC', keys[0]!, bytes)

/** Whether a signature was made by one of the keys. All are tried, so that the time tells nothing. */
export async function verify(
  keys: CryptoKey[],
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const results = await Promise.all(keys.map((key) => crypto.subtle.verify('HMAC', key, signature, bytes)))
  return results.includes(true)
}

/** Encrypts by AES-GCM. @returns the nonce and the ciphertext */
async function seal(key: CryptoKey, plain: string): Promise<Uint8Array> {
  const iv = crypto.getRandomValues(new Uint8Array(12))
  const sealed = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, text.encode(plain)))
  const whole = new Uint8Array(iv.length + sealed.length)
  whole.set(iv)
  whole.set(sealed, iv.length)
  return whole
}

/** Decrypts what {@link seal} made; null where it was made with another key or changed. */
async function unseal(key: CryptoKey, sealed: Uint8Array<ArrayBuffer>): Promise<string | null> {
  try {
    const iv = sealed.subarray(0, 12)
    return new TextDecoder().decode(await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, sealed.subarray(12)))
  } catch {
    return null
  }
}

/** Encrypts what is stored, for one purpose. */
export interface Sealing {
  /** With the first secret, and differently each time. */
  seal(plain: string): Promise<string>
  /** @returns null where no secret is the one that it was encrypted with; `isCurrent`: whether that is the first one */
  unseal(sealed: string): Promise<{ plain: string; isCurrent: boolean } | null>
}

/** {@link Sealing} by keys of one purpose that are derived from the secrets. */
export function sealingBy(masters: () => Promise<CryptoKey[]>, purpose: string): Sealing {
  const keys = memoize(async () =>
    deriveKeys(await masters(), purpose, { name: 'AES-GCM', length: 256 }, ['encrypt', 'decrypt']),
  )
  return {
    seal: async (plain) => base64url.encode(await seal((await keys())[0]!, plain)),
    async unseal(sealed) {
      for (const [i, key] of (await keys()).entries()) {
        const plain = await unseal(key, fromBase64url(sealed) ?? new Uint8Array())
        if (plain !== null) return { plain, isCurrent: i === 0 }
      }
      return null
    },
  }
}

/**
 * Encrypts what a host stores (AES-256-GCM), by keys that are derived from its secrets for one purpose.
 * @param secrets as the `secret` of {@link passwordAuth}: the first encrypts, all decrypt; none = the one that is made and kept in the store
 * @example const sealed = await sealing(kv, [secret], 'my settings').seal(text)
 */
export const sealing = (kv: KV, secrets: readonly Secret[], purpose: string): Sealing =>
  sealingBy(() => masterSecrets(kv, secrets), purpose)
