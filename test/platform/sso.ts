import type { Issuer } from '../support/issuer.js'
import { signInAt } from '../support/issuer.js'
import type { Reply, World } from './world.js'

/** Where the platform of these tests is said to be. */
export const BASE_URL = 'https://ai.example'

/** Headers of the platform's own page. */
const own = { 'sec-fetch-site': 'same-origin' }

/** The cookies that an answer sets, as a request has them. */
export const cookiesOf = ({ headers }: Reply): string =>
  headers
    .getSetCookie()
    .map((set) => set.split(';', 1)[0]!)
    .join('; ')

/** Begins a sign-in, as the console does. @param cookie of an earlier one */
export const begin = (
  world: World,
  body: object = {},
  {
    provider = 'oidc',
    cookie,
    headers = {},
  }: { provider?: string; cookie?: string; headers?: Record<string, string> } = {},
) =>
  world.ask<{ url: string; error?: string }>('POST', `/api/auth/providers/${provider}`, {
    body,
    headers: { ...own, ...(cookie !== undefined && { cookie }), ...headers },
  })

/** Brings a browser back. Redirects are not followed. @param cookie '' = a browser that has begun nothing */
export async function comeBack(world: World, back: URL | string, cookie: string, headers: Record<string, string> = {}) {
  const { pathname, search } = new URL(back)
  const response = await fetch(`${world.url}${pathname}${search}`, {
    redirect: 'manual',
    headers: { ...(cookie && { cookie }), 'sec-fetch-site': 'cross-site', ...headers },
  })
  const [session] = response.headers.getSetCookie().flatMap((set) => /^__Host-session=[^;]+/.exec(set) ?? [])
  return { status: response.status, to: response.headers.get('location'), session, text: await response.text() }
}

/** Signs in from the beginning to the end. @param account null cancels */
export async function signInBy(world: World, issuer: Issuer, account: string | null, body: object = {}) {
  const begun = await begin(world, body)
  if (begun.status !== 200) throw new Error(`It did not begin: ${begun.status} ${begun.body.error}`)
  return comeBack(world, await signInAt(issuer, begun.body.url, account), cookiesOf(begun))
}

/** Where a sign-in leads that has failed. */
export const failed = (problem: string) => ({
  status: 303,
  to: `${BASE_URL}/console#/?problem=${problem}`,
  session: undefined,
})

/** Who has a session. */
export const accountOf = (world: World, session: string | undefined) =>
  world.ask<{ id: string; email: string; role: string; provider: string; first_name: string; last_name: string }>(
    'GET',
    '/api/account',
    { headers: { cookie: session ?? '' } },
  )

/** The settings of an issuer for server.mjs. */
export const settingsOf = ({ url, clientId, clientSecret }: Issuer, more: object = {}): object => ({
  id: 'oidc',
  name: 'The issuer',
  issuer: url,
  clientId,
  clientSecret,
  ...more,
})
