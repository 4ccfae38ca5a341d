import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import type { Context } from 'oidc-provider'
import OidcProvider from 'oidc-provider'

/** What an issuer tells of somebody. */
export type Account = Record<string, unknown>

/** A certified issuer of OpenID Connect, oidc-provider, at which people sign in by the name of their account. */
export interface Issuer {
  url: string
  clientId: string
  clientSecret: string
  /** By the subject. */
  accounts: Map<string, Account>
  /** Errors that it has answered with. */
  errors: string[]
  /** How many have signed out there. */
  signedOut(): number
  close(): Promise<void>
}

const page = (body: string): string =>
  `<!doctype html><html lang="en"><title>The issuer</title><main><h1>The issuer</h1>${body}</main></html>`

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

/**
 * Starts an issuer.
 * @param options.baseUrl of the platform whose client it knows
 * @param options.id that of the provider there; default `oidc`
 * @param options.port default a free one
 * @param options.inIdToken whether the ID token has the e-mail, and not only its endpoint of claims; default true
 */
export async function startIssuer({
  baseUrl,
  id = 'oidc',
  port = 0,
  inIdToken = true,
}: {
  baseUrl: string
  id?: string
  port?: number
  inIdToken?: boolean
}): Promise<Issuer> {
  const accounts = new Map<string, Account>()
  const errors: string[] = []
  let ended = 0
  const server = createServer()
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [clientId, clientSecret] = ['turnpike', 'a secret: of the client/+%']
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new OidcProvider(url, {
    jwks: { keys: [await exportJWK(privateKey)] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${baseUrl}/api/auth/callback/${id}`],
        post_logout_redirect_uris: [`${baseUrl}/console`],
      },
    ],
    cookies: { keys: ['of the tests'] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    pkce: { required: () => true },
    conformIdTokenClaims: !inIdToken,
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['given_name', 'family_name'] },
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource(context: { body: string }, form: string) {
          context.body = page(
            `${form}<button type="submit" form="op.logoutForm" name="logout" value="yes">Sign out here</button>`,
          )
        },
      },
    },
    findAccount: (_: Context, sub: string) =>
      accounts.has(sub) ? { accountId: sub, claims: () => ({ sub, ...accounts.get(sub) }) } : undefined,
    interactions: { url: (_: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  for (const event of ['authorization.error', 'grant.error', 'server_error'])
    provider.on(event, (_, error) => errors.push(String((error as Error).message)))
  provider.on('end_session.success', () => ended++)
  const answer = provider.callback()
  server.on('request', (request, response) => {
    if (!request.url!.startsWith('/interaction/')) return answer(request, response)
    void (async () => {
      if (request.method === 'GET')
        return response
          .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
          .end(
            page(
              '<form method="post"><label>Account <input name="account"></label> <button>Continue</button> <button name="cancel" value="yes">Cancel</button></form>',
            ),
          )
      const form = await formOf(request)
      const result = form.has('cancel')
        ? { error: 'access_denied', error_description: 'The person has cancelled' }
        : { login: { accountId: form.get('account') } }
      return provider.interactionFinished(request, response, result)
    })()
  })
  return {
    url,
    clientId,
    clientSecret,
    accounts,
    errors,
    signedOut: () => ended,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/**
 * Goes through the pages of an issuer as a browser that has never been there.
 * @param account whose name is typed in; null cancels
 * @returns where the issuer sends the browser back to
 */
export async function signInAt({ url }: Pick<Issuer, 'url'>, start: string, account: string | null): Promise<URL> {
  const jar = new Map<string, string>()
  const visit = async (to: string, init: RequestInit = {}): Promise<Response> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(new URL(to, url), {
      ...init,
      redirect: 'manual',
      headers: { cookie, ...init.headers },
    })
    for (const set of response.headers.getSetCookie()) {
      const [name, value] = set.split(';', 1)[0]!.split('=') as [string, string]
      jar.set(name, value)
    }
    return response
  }
  let response = await visit(start)
  for (let steps = 0; steps < 10; steps++) {
    const to = response.headers.get('location')
    if (to === null) throw new Error(`The issuer says ${response.status} ${await response.text()}`)
    const next = new URL(to, url)
    if (next.origin !== url) return next
    if (!next.pathname.startsWith('/interaction/')) response = await visit(next.href)
    else
      response = await visit(next.href, {
        method: 'POST',
        body: new URLSearchParams(account === null ? { cancel: 'yes' } : { account }),
      })
  }
  throw new Error('The issuer does not come to an end')
}
