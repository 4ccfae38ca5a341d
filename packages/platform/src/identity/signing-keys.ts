import type { KV } from '@turnpike/core'
import { update } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import type { CryptoKey, JWK } from 'jose'
import { exportJWK, generateKeyPair, importJWK } from 'jose'
import { KEY_PUBLISHED_S, KEY_RETIRED_S } from '../conventions.js'
import { sealingBy } from './secrets.js'

/** The algorithm of all access tokens. */
export const ALGORITHM = 'ES256'

/** A signing key as stored. It is published as `next`, signs while `active`, and verifies for a while when `retired`. */
type StoredKey = {
  kid: string
  state: 'next' | 'active' | 'retired'
  public: { kty: string; crv: string; x: string; y: string }
  /** The private key, encrypted. */
  sealed: string
  /** When it got its state, in milliseconds. */
  since: number
}

type StoredKeys = { keys: StoredKey[] }

const storedKey = ['signing-keys']

/** How long the keys stay in memory, in milliseconds. What another process adds is published long before it is used. */
const CACHE_MS = 60_000
/** How long an unknown id is not looked for again, in milliseconds, so that made-up ids cost no reads. */
const RELOAD_MS = 1_000

/** The keys that sign and verify access tokens; the private ones are encrypted in the store. */
export interface SigningKeys {
  /** The key that signs. */
  active(): Promise<{ kid: string; key: CryptoKey }>
  /** The key that verifies tokens with this id; undefined where there is none. */
  find(kid: string): Promise<CryptoKey | undefined>
  /** The public keys (RFC 7517). */
  jwks(): Promise<{ keys: JWK[] }>
  /**
   * Makes the next key the active one, and a new next one. Tokens of the old one stay valid until they expire.
   * @param olderThanMs only if the active key is older than that; default 0
   * @returns false where it is not, or the next key was not published for long enough
   */
  rotate(olderThanMs?: number): Promise<boolean>
}

/**
 * The signing keys of a store. The first ones are made when they are first needed.
 * @param options.tokenS how long a token is valid, in seconds
 */
export function signingKeys(
  kv: KV,
  masters: () => Promise<CryptoKey[]>,
  { tokenS, now }: { tokenS: number; now: () => number },
): SigningKeys {
  interface Loaded {
    active: { kid: string; key: CryptoKey }
    publics: Map<string, CryptoKey>
    jwks: { keys: JWK[] }
  }
  let loaded: Promise<Loaded> | undefined
  let loadedAt = -Infinity

  const { seal, unseal } = sealingBy(masters, 'signing keys')

  const make = async (state: StoredKey['state']): Promise<StoredKey> => {
    const { publicKey, privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    const { kty, crv, x, y } = await exportJWK(publicKey)
    return {
      kid: uuidv7(now()),
      state,
      public: { kty: kty!, crv: crv!, x: x!, y: y! },
      sealed: await seal(JSON.stringify(await exportJWK(privateKey))),
      since: now(),
    }
  }

  const open = async (stored: StoredKey): Promise<CryptoKey | null> => {
    const found = await unseal(stored.sealed)
    return found && ((await importJWK(JSON.parse(found.plain) as JWK, ALGORITHM)) as CryptoKey)
  }

  /** Encrypts with the first secret what is encrypted with another one, which can then be dropped. */
  const reseal = async ({ keys }: StoredKeys): Promise<void> => {
    const anew = new Map<string, string>()
    for (const key of keys) {
      const found = await unseal(key.sealed)
      if (found && !found.isCurrent) anew.set(key.kid, await seal(found.plain))
    }
    if (anew.size === 0) return
    await update<StoredKeys>(kv, storedKey, (stored) => ({
      keys: stored!.keys.map((key) => ({ ...key, sealed: anew.get(key.kid) ?? key.sealed })),
    }))
  }

  const load = async (): Promise<Loaded> => {
    let stored = (await kv.get<StoredKeys>(storedKey))?.value
    let active = stored?.keys.find(({ state }) => state === 'active')
    let key = active ? await open(active) : null
    if (!key) {
      // There are no keys yet, or the secret that they were encrypted with is another one: all have to sign in again.
      const unusable = active?.kid
      const keys = [await make('active'), await make('next')]
      stored = (await update<StoredKeys>(kv, storedKey, (others) =>
        others?.keys.find(({ state }) => state === 'active')?.kid === unusable ? { keys } : undefined,
      ))!
      active = stored.keys.find(({ state }) => state === 'active')!
      key = await open(active)
      if (!key) throw new Error('SESSION_SECRET differs between the processes that share the store')
    } else await reseal(stored!)
    const publics = new Map<string, CryptoKey>()
    for (const { kid, public: jwk } of stored!.keys) publics.set(kid, (await importJWK(jwk, ALGORITHM)) as CryptoKey)
    const jwks = stored!.keys.map(({ kid, public: jwk }) => ({ ...jwk, kid, alg: ALGORITHM, use: 'sig' }))
    return { active: { kid: active!.kid, key }, publics, jwks: { keys: jwks } }
  }

  /** The keys, read again where those in memory are older than `ms`. */
  const keys = (ms: number): Promise<Loaded> => {
    if (loaded && now() - loadedAt < ms) return loaded
    loadedAt = now()
    const loading = load()
    loaded = loading
    loading.catch(() => {
      if (loaded === loading) loaded = undefined
    })
    return loading
  }

  return {
    active: async () => (await keys(CACHE_MS)).active,
    async find(kid) {
      const found = (await keys(CACHE_MS)).publics.get(kid)
      return found ?? (await keys(RELOAD_MS)).publics.get(kid)
    },
    jwks: async () => (await keys(RELOAD_MS)).jwks,
    async rotate(olderThanMs = 0) {
      await keys(CACHE_MS)
      const fresh = await make('next')
      let rotated = false
      await update<StoredKeys>(kv, storedKey, (stored) => {
        const time = now()
        const [active, next] = (['active', 'next'] as const).map((state) =>
          stored!.keys.find((key) => key.state === state)!,
        )
        rotated = time - active!.since >= olderThanMs && time - next!.since >= KEY_PUBLISHED_S * 1_000
        if (!rotated) return undefined
        const retired = stored!.keys.filter(
          ({ state, since }) => state === 'retired' && time - since < (tokenS + KEY_RETIRED_S) * 1_000,
        )
        return {
          keys: [
            { ...next!, state: 'active', since: time },
            fresh,
            { ...active!, state: 'retired', since: time },
            ...retired,
          ],
        }
      })
      loaded = undefined
      return rotated
    },
  }
}
