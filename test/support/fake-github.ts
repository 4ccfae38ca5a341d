import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An account of the fake. */
export interface GithubAccount {
  id: number
  name: string | null
  emails: { email: string; primary: boolean; verified: boolean }[]
}

/**
 * What refuses as GitHub does (docs.github.com, "Authorizing OAuth apps" and "Troubleshooting OAuth app access token request errors"): a wrong
 * secret, another redirect_uri, a code that was used, has another verifier or none, and requests without a token, its scopes or a User-Agent.
 * Errors of the token have the status 200.
 */
export interface FakeGithub {
  url: string
  clientId: string
  clientSecret: string
  /** Authorizes as the person does. @returns where the browser is sent back to */
  authorize(start: string, account: GithubAccount | null): URL
  close(): Promise<void>
}

interface Grant {
  account: GithubAccount
  redirectUri: string
  challenge: string
  scopes: string[]
}

async function formOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return new URLSearchParams(text)
}

/** Starts a fake of a GitHub Enterprise Server. @param callback the URL that is registered */
export async function fakeGithub(callback: string): Promise<FakeGithub> {
  const [clientId, clientSecret] = ['Iv1.client', 'a secret of GitHub']
  const codes = new Map<string, Grant>()
  const tokens = new Map<string, Grant>()

  const exchange = (form: URLSearchParams): object => {
    const grant = codes.get(form.get('code') ?? '')
    if (form.get('client_id') !== clientId || form.get('client_secret') !== clientSecret)
      return { error: 'incorrect_client_credentials' }
    codes.delete(form.get('code') ?? '')
    const digest = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!grant || grant.challenge !== digest) return { error: 'bad_verification_code' }
    if (form.get('redirect_uri') !== grant.redirectUri) return { error: 'redirect_uri_mismatch' }
    const token = `gho_${randomBytes(18).toString('hex')}`
    tokens.set(token, grant)
    return { access_token: token, token_type: 'bearer', scope: grant.scopes.join(',') }
  }

  const server = createServer((request, response) => {
    void (async () => {
      const say = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body))
      const { url: path, method, headers } = request
      if (path === '/login/oauth/access_token') {
        if (method !== 'POST' || headers.accept !== 'application/json') return say(404, {})
        return say(200, exchange(await formOf(request)))
      }
      const grant = tokens.get(headers.authorization?.replace(/^Bearer /, '') ?? '')
      if (!headers['user-agent']) return say(403, { message: 'Request forbidden by administrative rules.' })
      if (!grant) return say(401, { message: 'Bad credentials' })
      const { id, name, emails } = grant.account
      if (path === '/api/v3/user') return say(200, { id, login: `person-${id}`, name, email: null })
      if (path === '/api/v3/user/emails' && grant.scopes.includes('user:email')) return say(200, emails)
      return say(404, { message: 'Not Found' })
    })()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientId,
    clientSecret,
    authorize(start, account) {
      const { pathname, searchParams: asked } = new URL(start)
      const redirectUri = asked.get('redirect_uri') ?? callback
      if (pathname !== '/login/oauth/authorize' || asked.get('client_id') !== clientId || redirectUri !== callback)
        throw new Error('GitHub shows an error')
      if (asked.get('code_challenge_method') !== 'S256') throw new Error('GitHub shows an error')
      const back = new URL(redirectUri)
      back.searchParams.set('state', asked.get('state') ?? '')
      if (account) {
        const code = randomBytes(10).toString('hex')
        const scopes = (asked.get('scope') ?? '').split(' ')
        codes.set(code, { account, redirectUri, challenge: asked.get('code_challenge') ?? '', scopes })
        back.searchParams.set('code', code)
      } else {
        back.searchParams.set('error', 'access_denied')
        back.searchParams.set('error_description', 'The user has denied your application access.')
      }
      return back
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
