import { calculatePKCECodeChallenge } from 'oauth4webapi'
import * as v from 'valibot'
import { boundedFetch } from './bounded-fetch.js'
import { emailOf } from './claims.js'
import type { ProviderOptions } from './oidc.js'
import type { SignInProvider } from './provider.js'
import { SignInCancelled, SignInError } from './provider.js'

const GITHUB = 'https://github.com'

const Token = v.object({ access_token: v.pipe(v.string(), v.nonEmpty()) })
const Account = v.object({ id: v.pipe(v.number(), v.safeInteger()), name: v.nullish(v.string()) })
const Emails = v.array(v.object({ email: v.string(), primary: v.boolean(), verified: v.boolean() }))

/** What GitHub says of an error, as far as it is one of its words. */
const wordOf = (value: unknown): string => (typeof value === 'string' && /^\w{1,60}$/.test(value) ? value : 'no_answer')

/**
 * GitHub, by OAuth 2 with PKCE: the person is the id of the account, and the e-mail the primary one, where it is verified.
 * @param options.url of a GitHub Enterprise Server; default github.com
 * @example const provider = github({ id: 'github', clientId, clientSecret })
 */
export function github(options: ProviderOptions & { url?: string | undefined }): SignInProvider {
  const { id = 'github', name = 'GitHub', clientId, clientSecret = '', domains, url = GITHUB } = options
  const api = url === GITHUB ? 'https://api.github.com' : `${url}/api/v3`

  const ask = async (path: string, token: string): Promise<unknown> => {
    const response = await boundedFetch(`${api}${path}`, {
      headers: { accept: 'application/vnd.github+json', authorization: `Bearer ${token}`, 'user-agent': 'turnpike' },
    })
    if (!response.ok) throw new SignInError(`${path} is answered with ${response.status}`, `status_${response.status}`)
    return response.json()
  }

  return {
    id,
    name,
    domains,

    async start({ redirectUri, state, verifier }) {
      const to = new URL(`${url}/login/oauth/authorize`)
      const asked = {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'read:user user:email',
        state,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(asked)) to.searchParams.set(name, value)
      return to.href
    },

    async finish(answer, { redirectUri, state, verifier }) {
      if (answer.get('state') !== state) throw new SignInError('The state is another one', 'state')
      const code = answer.get('code')
      if (code === null) throw new SignInCancelled(wordOf(answer.get('error')))
      const response = await boundedFetch(`${url}/login/oauth/access_token`, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({
          client_id: clientId,
          client_secret: clientSecret,
          code,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        }),
      })
      // An error has the status 200.
      const told = (await response.json()) as { error?: unknown }
      if (!v.is(Token, told)) throw new SignInError('GitHub refuses the code', wordOf(told.error))
      const [account, emails] = await Promise.all([
        ask('/user', told.access_token),
        ask('/user/emails', told.access_token),
      ])
      const { id: subject, name: fullName } = v.parse(Account, account)
      const primary = v.parse(Emails, emails).find((one) => one.primary && one.verified)
      const [first, ...last] = (fullName ?? '').split(' ')
      return {
        issuer: url,
        subject: String(subject),
        email: emailOf(primary?.email),
        firstName: first,
        lastName: last.join(' '),
      }
    },
  }
}
