import { signal } from '@preact/signals'
import type { Schemas } from '@turnpike/client'
import { createClient } from '@turnpike/client'

/** Somebody who uses the platform. */
export type User = Schemas['User']

/** Who is signed in; null = nobody. Undefined until it has been asked. */
export const account = signal<User | null | undefined>(undefined)

/** The platform that serves this page. The session is a cookie that no script can read. */
export const turnpike = createClient({
  baseUrl: new URL('.', location.href).href,
  onSignedOut: () => (account.value = null),
})

/** Asks who is signed in. */
export async function readAccount(): Promise<void> {
  account.value = await turnpike.get('/api/account')
}

/** @throws PlatformError such as 401 for a wrong password */
export async function signIn(email: string, password: string): Promise<void> {
  await turnpike.signIn({ email, password })
  await readAccount()
}

export async function signOut(): Promise<void> {
  await turnpike.signOut()
  account.value = null
}
