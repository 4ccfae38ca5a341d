import type { User } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import { COMMON_PASSWORDS } from './common-passwords.js'

/** What a user is called by, which is the first that somebody tries. */
export type Named = Partial<Pick<User, 'email' | 'first_name' | 'last_name' | 'username' | 'name'>>

/** Without case, and without what stands between letters and digits. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')

/** Without the digits and signs that people put around a word. */
const word = (text: string): string => text.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, '')

/**
 * Refuses passwords that are tried first: the most common ones and the user's own names, with digits and signs around them as well.
 * @throws ApiError 400
 */
export function checkPassword(password: string, { email, first_name, last_name, username, name }: Named): void {
  const lower = password.toLowerCase()
  if ([lower, word(lower)].some((one) => COMMON_PASSWORDS.has(one)))
    throw invalid('password must not be one of the most common ones', { field: 'password' })
  const names = [email, email?.split('@')[0], first_name, last_name, `${first_name}${last_name}`, username, name]
  const own = new Set(names.map((one) => plain(one ?? '')).filter((one) => one.length > 2))
  if ([plain(password), plain(word(password))].some((one) => own.has(one)))
    throw invalid('password must not be a name or the e-mail of its user', { field: 'password' })
}
