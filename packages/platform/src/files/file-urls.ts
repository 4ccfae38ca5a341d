import type { KV } from '@turnpike/core'
import { base64url } from 'jose'
import { fromBase64url } from '../identity/base64url.js'
import { deriveKeys, HMAC, masterSecrets, sign, verify } from '../identity/secrets.js'
import { memoize } from '../memoize.js'

/** URLs of private files end at such multiples of seconds, so that a list made a little later has the same ones. */
const STEP_S = 300

const utf8 = new TextEncoder()

/** What is signed: the method, the file, the time until which the URL is valid and, where it is not '', what it is bound to. */
const signed = (id: string, exp: number | string, state: string): Uint8Array<ArrayBuffer> =>
  utf8.encode(`v1\nGET\n${id}\n${exp}${state && `\n${state}`}`)

/** Signs the URLs of private files, and verifies them. */
export interface FileSigner {
  /**
   * The query that makes a file readable for anybody, for at least as long as the option `seconds` says.
   * @param state what else it is bound to: with another one, it is not valid
   */
  sign(id: string, state: string): Promise<string>
  /** Whether a query is one that was signed for this file, and is still valid. Takes the same time whatever is wrong with the signature. */
  verify(id: string, state: string, query: { exp?: string | undefined; sig?: string | undefined }): Promise<boolean>
}

/**
 * A signer by HMAC-SHA256.
 * @param options.secrets the first one signs, all verify: for a change of secrets, put the new one first for as long as URLs are valid. Default one
 * that is made once and kept in the store
 * @param options.seconds how long a URL is valid at least
 */
export function fileSigner(
  kv: KV,
  { secrets, seconds, now }: { secrets: readonly string[]; seconds: number; now: () => number },
): FileSigner {
  const keys = memoize(async () => deriveKeys(await masterSecrets(kv, secrets), 'file urls', HMAC, ['sign', 'verify']))

  return {
    async sign(id, state) {
      const exp = Math.ceil((now() / 1000 + seconds) / STEP_S) * STEP_S
      const signature = await sign(await keys(), signed(id, exp, state))
      return `exp=${exp}&sig=${base64url.encode(new Uint8Array(signature))}`
    },
    async verify(id, state, { exp = '', sig = '' }) {
      const signature = fromBase64url(sig)
      if (!signature || !/^\d{1,12}$/.test(exp)) return false
      const isGenuine = await verify(await keys(), signature, signed(id, exp, state))
      return isGenuine && Number(exp) * 1000 > now()
    },
  }
}
