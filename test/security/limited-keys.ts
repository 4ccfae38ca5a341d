import type { FamiliesStack } from '../clients/families-stack.js'
import { KEY } from '../support/server.js'

/** Limits of a gateway key; `rateLimit` default 100,000. */
export interface Limits {
  models?: string[]
  budget?: { usd: number }
  rateLimit?: number
}

/** What a request was answered with. */
export interface Answered {
  status: number
  headers: Headers
  text: string
}

/** Makes requests with keys that have limits, as a program would: over HTTP, on the running server. */
export function limitedKeys(stack: Pick<FamiliesStack, 'url'>) {
  const origin = new URL(stack.url).origin
  const json = (path: string, body: object, token?: string) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body: JSON.stringify(body),
    })
  let token: string | undefined

  /** The value of a new key of the administrator. */
  async function create(limits: Limits): Promise<string> {
    if (token === undefined) {
      const session = await json('/api/auth', { email: 'admin@localhost', password: 'the password of the tests' })
      token = ((await session.json()) as { access_token: string }).access_token
    }
    const made = await json('/api/keys', { name: 'limited', rateLimit: 100_000, ...limits }, token)
    return ((await made.json()) as { key: string }).key
  }

  async function post(
    path: string,
    body: object,
    key: string = KEY,
    headers: Record<string, string> = {},
  ): Promise<Answered> {
    const asked = body instanceof FormData ? new Response(body) : Response.json(body)
    const response = await fetch(origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': asked.headers.get('content-type')!, ...headers },
      body: await asked.arrayBuffer(),
    })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  const chat = (fields: object, key?: string): Promise<Answered> =>
    post('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], ...fields }, key)

  return { create, post, chat }
}
