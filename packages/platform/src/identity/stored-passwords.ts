import type { Entry, KV, User } from '@turnpike/core'
import { invalid, userEntry, userIdOf } from '@turnpike/core/internal'
import { KNOWN_PLACES } from '../conventions.js'
import { memoize } from '../memoize.js'
import type { Source } from './fair-queue.js'
import { fairQueue } from './fair-queue.js'
import type { Named } from './password-rules.js'
import { checkPassword } from './password-rules.js'
import type { PasswordHasher } from './passwords.js'

/** `set_at` is absent where it was set before it was kept. */
export type StoredPassword = { hash: string; set_at?: string }

export const passwordKey = (userId: string): string[] => ['password', userId]

interface StoredPasswordOptions {
  hasher: PasswordHasher
  /** Characters of a password. */
  length: { min: number; max: number }
  /** Passwords that are hashed at a time, and that wait. */
  queue: { running: number; waiting: number }
  now: () => number
}

/** Who tries a password. */
export interface Guess {
  email: string
  password: string
  sources: Source[]
  /** @throws ApiError 429 where it is refused because of earlier failures */
  check(): Promise<void>
  /** Counts a failure. @param userId null for an unknown e-mail. @throws ApiError 429 after several */
  failed(userId: string | null): Promise<void>
}

/** Who administrators' new passwords wait as. */
const NEW_PASSWORDS: Source[] = [{ name: 'new passwords', places: KNOWN_PLACES }]

/** The passwords of users, as stored under `password/<user id>`. */
export function storedPasswords(kv: KV, { hasher, length: { min, max }, queue, now }: StoredPasswordOptions) {
  const hashing = fairQueue(queue, now)
  /** A hash that no password has, so that unknown e-mails take as long as wrong passwords. */
  const dummy = memoize(() => hasher.hash(''))

  return {
    /**
     * The entry of a password, to be written in the commit that makes its user.
     * @param options.of what its user is called by
     * @param options.sources who shares its place in the queue; default administrators
     * @throws ApiError 400 for a password that is too short or too long, common, or made of the user's names, 503 where the queue has no place
     */
    async entry(
      userId: string,
      password: string,
      { of, sources = NEW_PASSWORDS }: { of: Named; sources?: Source[] },
    ): Promise<{ key: string[]; value: StoredPassword }> {
      const length = [...password].length
      if (length < min || length > max) throw invalid(`A password has ${min} to ${max} characters`)
      checkPassword(password, of)
      const hash = await hashing(sources, () => hasher.hash(password))
      return { key: passwordKey(userId), value: { hash, set_at: new Date(now()).toISOString() } }
    },

    /**
     * Checks a password, in the queue. What is refused takes no place; of guesses that come at once, those beyond the limit are not tried.
     * @returns the entries of the user and of the password; null for an unknown e-mail or a wrong password
     * @throws ApiError 429 after several failures, 429 and 503 where the queue has no place
     */
    async verify(guess: Guess): Promise<{ user: Entry<User>; proof: Entry<StoredPassword> } | null> {
      const { email, password } = guess
      const tryPassword = async () => {
        const id = await userIdOf(kv, email)
        const [user, entry] =
          id === null ? [null, null] : await Promise.all([userEntry(kv, id), kv.get<StoredPassword>(passwordKey(id))])
        const unknown = await dummy()
        const hash = entry?.value.hash ?? unknown
        const isRight = await hasher.verify(password, hash)
        if (!user || user.value.deleted_at !== null || !entry || !isRight) {
          await guess.failed(id)
          return null
        }
        if (!hasher.needsRehash(hash)) return { user, proof: entry }
        const { key, version } = entry
        const value = { ...entry.value, hash: await hasher.hash(password) }
        await kv.commit({ check: [{ key, version }], set: [{ key, value }] })
        const stored = await kv.get<StoredPassword>(key)
        if (stored?.value.hash === value.hash) return { user, proof: stored }
        // Another sign-in was faster, or the password was changed meanwhile: then the one that was checked proves nothing any more.
        return stored && (await hasher.verify(password, stored.value.hash)) ? { user, proof: stored } : null
      }
      return hashing(guess.sources, tryPassword, guess.check)
    },
  }
}
