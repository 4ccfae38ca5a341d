import { invalid } from '@turnpike/core/internal'
import { base64url } from 'jose'
import { PASSWORD_BYTES, SCRYPT } from '../conventions.js'
import { fromBase64url } from './base64url.js'

/** Turns passwords into what is stored in their place. */
export interface PasswordHasher {
  hash(password: string): Promise<string>
  /**
   * Whether a hash is that of the password; false for a hash of another kind. A wrong password takes no less than `hash` does, so that the
   * time does not tell an e-mail with an older hash from one that nobody has.
   */
  verify(password: string, hash: string): Promise<boolean>
  /** Whether a hash was made with other parameters, so that it is to be made again at the next sign-in. */
  needsRehash(hash: string): boolean
}

interface ScryptOptions {
  N: number
  r: number
  p: number
  maxmem: number
}

interface NodeCrypto {
  scrypt(
    password: Uint8Array,
    salt: Uint8Array,
    length: number,
    options: ScryptOptions,
    done: (error: Error | null, key: Uint8Array) => void,
  ): void
  timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean
}

const HASH_BYTES = 32
const SALT_BYTES = 16

/** The same text in whatever way it was typed (NIST SP 800-63B, 5.1.1.2). @throws ApiError 400 for one that is too long */
const normalised = (password: string): Uint8Array => {
  const bytes = new TextEncoder().encode(password.normalize('NFKC'))
  if (bytes.length > PASSWORD_BYTES) throw invalid(`A password has at most ${PASSWORD_BYTES} bytes`)
  return bytes
}

/** Base64 without padding, as PHC strings have it. */
const toBase64 = (bytes: Uint8Array): string => base64url.encode(bytes).replaceAll('-', '+').replaceAll('_', '/')
const fromBase64 = (text: string): Uint8Array | null => fromBase64url(text.replaceAll('+', '-').replaceAll('/', '_'))

/** The parameters, salt and hash of a PHC string (`$scrypt$ln=15,r=8,p=3$salt$hash`); null for one of another kind. */
function parse(phc: string) {
  const found = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(phc)
  if (!found) return null
  const [ln, r, p] = found.slice(1, 4).map(Number) as [number, number, number]
  const [salt, hash] = found.slice(4).map(fromBase64) as [Uint8Array | null, Uint8Array | null]
  return salt && hash && { ln, r, p, salt, hash }
}

/**
 * scrypt of node:crypto, which Bun has too; it does not block the event loop. Default N = 2^15, r = 8, p = 3.
 * @example const identity = passwordAuth({ kv, hasher: scryptHasher({ ln: 15 }) })
 */
export function scryptHasher(cost: Partial<typeof SCRYPT> = {}): PasswordHasher {
  const { ln, r, p } = { ...SCRYPT, ...cost }
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): NodeCrypto | undefined } }
  const node = process?.getBuiltinModule?.('node:crypto')
  if (!node) throw new Error('scryptHasher needs node:crypto; give passwordAuth another hasher here')

  const scrypt = (password: string, salt: Uint8Array, length: number, [ln, r, p]: [number, number, number]) =>
    new Promise<Uint8Array>((resolve, reject) => {
      const N = 2 ** ln
      node.scrypt(normalised(password), salt, length, { N, r, p, maxmem: 256 * N * r }, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })

  return {
    async hash(password) {
      const salt = crypto.getRandomValues(new Uint8Array(SALT_BYTES))
      const hash = new Uint8Array(await scrypt(password, salt, HASH_BYTES, [ln, r, p]))
      return `$scrypt$ln=${ln},r=${r},p=${p}$${toBase64(salt)}$${toBase64(hash)}`
    },
    async verify(password, phc) {
      const stored = parse(phc)
      if (stored) {
        const hash = await scrypt(password, stored.salt, stored.hash.length, [stored.ln, stored.r, stored.p])
        if (node.timingSafeEqual(hash, stored.hash)) return true
      }
      // The rest of the work, in memory of the same size.
      const like = stored ?? { ln, r, p: 0 }
      const rest = Math.round((2 ** ln * r * p) / (2 ** like.ln * like.r)) - like.p
      if (rest > 0) await scrypt(password, new Uint8Array(SALT_BYTES), HASH_BYTES, [like.ln, like.r, rest])
      return false
    },
    needsRehash(phc) {
      const stored = parse(phc)
      return stored?.ln !== ln || stored.r !== r || stored.p !== p
    },
  }
}
