import { signal } from '@preact/signals'
import type { PlatformError } from '@turnpike/client'
import { errorOf } from '@turnpike/client'

/** Why the user has to sign in; undefined while they are, or while it is not known yet. */
export const refused = signal<string | undefined>(undefined)

/** A gateway key or the administrators' token; '' = the cookie of a session is used. Kept for this tab only, and for this page: the console has sessions only. */
let token = ''

/** Signs in by the token that was given to this tab before. */
export function restoreToken(): void {
  try {
    token = sessionStorage.getItem('token') ?? ''
  } catch {
    // Storage may be forbidden; the token then lasts until the page is loaded again.
  }
}

function storeToken(given: string): void {
  token = given
  try {
    if (given) sessionStorage.setItem('token', given)
    else sessionStorage.removeItem('token')
  } catch {
    // As above.
  }
}

/** Whether somebody is signed in at the platform: tokens and keys are for the gateway only. */
export const hasSession = (): boolean => token === ''

/** Sends a request to a path relative to the place where the gateway is mounted. @throws PlatformError */
export async function send(
  path: string,
  {
    body,
    headers,
    ...init
  }: { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Response> {
  const response = await fetch(path, {
    ...init,
    headers: {
      ...headers,
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.ok) return response
  const error = await errorOf(response)
  if (response.status === 401) refused.value = token ? 'This key or token is not valid.' : ''
  if (response.status === 403 && (init.method ?? 'GET') === 'GET') refused.value = error.message
  throw error
}

/** Reads JSON from a path below `admin/`. */
export const read = async <T>(path: string, signal?: AbortSignal): Promise<T> =>
  (await send(`admin/${path}`, signal && { signal })).json() as Promise<T>

/** The e-mail of whoever is signed in at the platform. @throws PlatformError 401 where nobody is */
export const emailOf = async (signal: AbortSignal): Promise<string> =>
  ((await (await send('api/account', { signal })).json()) as { email: string }).email

/** Signs in by a key or token. It is tried by reading. */
export async function signInByToken(given: string): Promise<void> {
  storeToken(given)
  try {
    await read('providers')
  } catch (error) {
    storeToken('')
    throw error
  }
  refused.value = undefined
}

/** Signs in at the platform, with a cookie. */
export async function signIn(email: string, password: string): Promise<void> {
  storeToken('')
  await send('api/auth', { method: 'POST', body: { email, password, cookie: true } })
  await read('providers')
  refused.value = undefined
}

/** Forgets the token, or ends the session. @throws PlatformError where the session could not be ended */
export async function signOut(): Promise<void> {
  if (token) storeToken('')
  else
    await send('api/auth', { method: 'DELETE' }).catch((error: PlatformError) => {
      // It was over already.
      if (error.status !== 401) throw error
    })
  refused.value = ''
}
