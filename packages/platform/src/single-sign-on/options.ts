import type { SessionIssuer } from '../identity/identity.js'
import type { SignInProvider } from './provider.js'
import type { SingleSignOn } from './single-sign-on.js'

/**
 * What the options make of sign-ins at other places; undefined where the identity does not sign in those whom others vouch for.
 * @throws TypeError for providers that cannot be told apart, or without what they need
 */
export function singleSignOnOf(
  providers: readonly SignInProvider[],
  sessions: SessionIssuer | undefined,
  { baseUrl, passwords }: { baseUrl: string | undefined; passwords: boolean },
): SingleSignOn | undefined {
  const ids = providers.map(({ id }) => id)
  for (const [i, id] of ids.entries()) {
    if (!/^[a-z\d-]{1,40}$/.test(id))
      throw new TypeError(
        `createPlatform: the id "${id}" of a sign-in provider has other characters than a-z, 0-9 and -`,
      )
    if (ids.indexOf(id) !== i) throw new TypeError(`createPlatform: there are two sign-in providers "${id}"`)
  }
  if (ids.length === 0 && !passwords)
    throw new TypeError('createPlatform: the option "passwords": false needs "signInProviders"')
  if (ids.length > 0 && baseUrl === undefined)
    throw new TypeError(
      'createPlatform: the option "signInProviders" needs "baseUrl", to which they send browsers back',
    )
  if (ids.length > 0 && !sessions?.vouched)
    throw new TypeError('createPlatform: the option "signInProviders" needs an identity such as passwordAuth()')
  return sessions?.vouched && { providers, sessions, vouched: sessions.vouched, baseUrl }
}
