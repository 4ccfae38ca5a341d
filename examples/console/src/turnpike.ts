import { effect, signal, untracked } from '@preact/signals'
import type { Schemas } from '@turnpike/client'
import { createClient } from '@turnpike/client'
import { refused } from '@turnpike/dashboard/session'
import { NONE } from '@turnpike/ui'

/** Somebody who uses the platform. */
export type User = Schemas['User']

export const fullName = ({ first_name, last_name }: User): string => `${first_name} ${last_name}`.trim() || NONE

/** Who is signed in; null = nobody. Undefined until it has been asked. */
export const account = signal<User | null | undefined>(undefined)

/** The platform that serves this page. The session is a cookie that no script can read. */
export const turnpike = createClient({
  baseUrl: new URL('.', location.href).href,
  onSignedOut: () => (account.value = null),
})

/** Calls `forget` when nobody is signed in, so that the next user does not see what this one has begun. */
export function whenSignedOut(forget: () => void): void {
  effect(() => {
    if (account.value === null) untracked(forget)
  })
}

/** Asks who is signed in. Somebody else than before starts with nothing of theirs. */
export async function readAccount(): Promise<void> {
  const before = account.value
  const user = await turnpike.get('/api/account')
  // Meanwhile somebody has signed out, or changed the account.
  if (account.value !== before) return
  if (before && before.id !== user.id) account.value = null
  account.value = user
}

/** All tabs share the session: another one may have signed in somebody else. */
const check = (): void => {
  if (account.value && !document.hidden) void readAccount().catch(() => undefined)
}
addEventListener('focus', check)
document.addEventListener('visibilitychange', check)

// What administrators read was refused: they have signed out elsewhere, or are administrators no more.
effect(() => {
  if (refused.value === undefined) return
  refused.value = undefined
  void readAccount().catch(() => undefined)
})

/** @throws PlatformError such as 401 for a wrong password */
export async function signIn(email: string, password: string): Promise<void> {
  await turnpike.signIn({ email, password })
  await readAccount()
}

/** Signs out here and, where that is to be, at the identity provider, which leads back. */
export async function signOut(): Promise<void> {
  const { url } = await turnpike.post('/api/auth/sign-out')
  account.value = null
  if (url !== null) location.assign(url)
}
