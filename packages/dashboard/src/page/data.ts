import { signal } from '@preact/signals'

/** Why the user has to sign in; undefined while they are, or while it is not known yet. */
export const refused = signal<string | undefined>(undefined)

/** A gateway key or the administrators' token; '' = the cookie of a session is used. Kept for this tab only. */
let token = sessionStorage.getItem('token') ?? ''

/** An answer that is an error. */
export class AnswerError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly requestId: string | undefined,
  ) {
    super(message)
  }
}

/** The error that an answer says, of the gateway or of the platform. */
async function errorOf(response: Response): Promise<AnswerError> {
  const body = (await response.json().catch(() => ({}))) as { error?: string | { message?: string }; message?: string }
  const text = typeof body.error === 'object' ? body.error.message : (body.message ?? body.error)
  const requestId = response.headers.get('x-request-id') ?? undefined
  return new AnswerError(text ?? `The server answered with ${response.status}`, response.status, requestId)
}

/** Sends a request to a path relative to the place where the gateway is mounted. @throws AnswerError */
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

/** Signs in by a key or token. It is tried by reading. */
export async function signInByToken(given: string): Promise<void> {
  token = given
  await read('providers')
  sessionStorage.setItem('token', given)
  refused.value = undefined
}

/** Signs in at the platform, with a cookie. */
export async function signIn(email: string, password: string): Promise<void> {
  token = ''
  sessionStorage.removeItem('token')
  await send('api/auth', { method: 'POST', body: { email, password, cookie: true } })
  await read('providers')
  refused.value = undefined
}

export async function signOut(): Promise<void> {
  if (token) {
    token = ''
    sessionStorage.removeItem('token')
  } else await send('api/auth', { method: 'DELETE' }).catch(() => undefined)
  refused.value = ''
}
