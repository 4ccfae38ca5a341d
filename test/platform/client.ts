import { expect } from 'vitest'

/** An answer: its status, body and headers. */
export interface Reply<T = unknown> {
  status: number
  body: T
  headers: Headers
}

export interface SignedIn {
  id: string
  email: string
  access: string
  refresh: string
  /** `Cookie` header; undefined where it was not asked for. */
  cookie: string | undefined
  /** `Cookie` header by which the device is known. */
  device: string | undefined
}

/** The answer to a sign-in or a refresh. */
export interface AuthSession {
  access_token: string
  refresh_token: string
  token_type: string
  expires_in: number
  expires_at: number
  user: { id: string; email: string; metadata: object }
}

/** A gateway key; `key` in the answer that makes it. */
export interface Key {
  id: string
  key?: string
  name: string
  rate_limit: number
  revoked: boolean
}

/** Requests to a platform, and people who sign in at it. */
export interface PlatformClient {
  url: string
  /** Sends a request; a body that is neither a string nor a form is sent as JSON. */
  ask<T = never>(method: string, path: string, options?: AskOptions): Promise<Reply<T>>
  /** Makes a user with {@link PASSWORD}. */
  person(role?: 'user' | 'developer' | 'admin'): Promise<{ id: string; email: string }>
  signIn(email: string, options?: { cookie?: boolean; headers?: Record<string, string> }): Promise<SignedIn>
  /** Makes a gateway key. */
  newKey(as: SignedIn, body?: object): Promise<Reply<Key>>
  /** Makes a user and signs in. */
  signedIn(role?: 'user' | 'developer' | 'admin', cookie?: boolean): Promise<SignedIn>
}

export interface AskOptions {
  as?: SignedIn | string | undefined
  body?: unknown
  headers?: Record<string, string>
}

/** Of all people, another one in each process: those that `turnpike-conformance` makes stay on the platform, administrators among them. */
export const PASSWORD = `correct horse ${crypto.randomUUID()}`

/** A time and an id as answers have them, and an id that nobody has. */
export const aTime: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const uuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
export const unknownId = '00000000-0000-7000-8000-00000000ffff'

/** The options of a request by cookie. */
export const withCookie = (cookie: string | undefined, headers: Record<string, string> = {}) => ({
  headers: { cookie: cookie!, ...headers },
})

/** A chat request. */
export const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

/** A part of all e-mails, so that a platform can be tried again. */
const run = crypto.randomUUID().slice(0, 8)
let people = 0

/** A client of the platform at a URL. @param createUser makes a user, as an administrator can */
export function platformClient(
  url: string,
  createUser: (user: { email: string; password: string; role: string }) => Promise<{ id: string }>,
): PlatformClient {
  const ask: PlatformClient['ask'] = async <T>(
    method: string,
    path: string,
    { as, body, headers }: AskOptions = {},
  ) => {
    const token = typeof as === 'string' ? as : as?.access
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && !(body instanceof FormData) && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof FormData ? body : JSON.stringify(body),
      }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    return {
      status: response.status,
      body: (isJson && text !== '' ? JSON.parse(text) : text) as T,
      headers: response.headers,
    }
  }

  const person: PlatformClient['person'] = async (role = 'user') => {
    const email = `person-${run}-${++people}@example.org`
    const { id } = await createUser({ email, password: PASSWORD, role })
    return { id, email }
  }

  const signIn: PlatformClient['signIn'] = async (email, { cookie = false, headers = {} } = {}) => {
    const {
      status,
      body,
      headers: answered,
    } = await ask<Record<string, never>>('POST', '/api/auth', {
      body: { email, password: PASSWORD, ...(cookie && { cookie }) },
      headers: { ...(cookie && { 'sec-fetch-site': 'same-origin' }), ...headers },
    })
    if (status !== 200) throw new Error(`Sign-in answered ${status} ${JSON.stringify(body)}`)
    const { access_token, refresh_token, user } = body as unknown as {
      access_token: string
      refresh_token: string
      user: { id: string }
    }
    const set = (name: string) =>
      answered
        .getSetCookie()
        .find((one) => one.split('=', 1)[0]!.replace('__Host-', '') === name)
        ?.split(';', 1)[0]
    return {
      id: user.id,
      email,
      access: access_token,
      refresh: refresh_token,
      cookie: set('session'),
      device: set('device'),
    }
  }

  return {
    url,
    ask,
    person,
    signIn,
    newKey: (as, body = { name: 'my key' }) => ask<Key>('POST', '/api/keys', { as, body }),
    signedIn: async (role, cookie = false) => signIn((await person(role)).email, { cookie }),
  }
}
