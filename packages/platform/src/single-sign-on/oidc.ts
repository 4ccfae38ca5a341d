import type { Role } from '@turnpike/core'
import { parseUrl } from '@turnpike/core/helpers'
import type * as OAuth from 'oauth4webapi'
import * as oauth from 'oauth4webapi'
import { CLOCK_S, PROVIDER_CACHE_S, PROVIDER_ID_TOKEN } from '../conventions.js'
import { boundedFetch } from './bounded-fetch.js'
import type { Claims, RoleValues } from './claims.js'
import { emailOf, hasClaim, roleIn, textOf } from './claims.js'
import type { BegunSignIn, SignInProvider, Vouched } from './provider.js'
import { SignInCancelled, SignInError } from './provider.js'

/** What all providers need. */
export interface ProviderOptions {
  /** Default the name of the preset. */
  id?: string | undefined
  name?: string | undefined
  clientId: string
  /** Absent for a public client. */
  clientSecret?: string | undefined
  /** Domains of the verified e-mails that make an account without an invitation; default none. */
  domains?: readonly string[] | undefined
}

/** Options of {@link oidc}. */
export interface OidcOptions extends ProviderOptions {
  /** Such as `https://id.example`; its metadata is at `/.well-known/openid-configuration` below it. */
  issuer: string
  /** Default `openid`, `email` and `profile`. */
  scopes?: readonly string[] | undefined
  /** The claim that has the role or the groups, such as `groups` or `realm_access.roles`; default none: roles are the platform's. */
  roleClaim?: string | undefined
  /** Its values that make an administrator or a developer; default `admin` and `developer`. */
  roles?: RoleValues | undefined
  /** Whether who signs out here does so at the issuer; default false. */
  signOut?: boolean | undefined
  /** Whether the claim `email` is verified; default by `email_verified`. */
  isEmailVerified?: ((claims: Claims) => boolean) | undefined
}

const isVerified = ({ email_verified: verified }: Claims): boolean => verified === true || verified === 'true'

/** Whether a URL may be without TLS: on this machine. */
const isLocal = ({ hostname }: URL): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)

/** How the client shows its secret. In the body where the issuer takes that, as some do not decode a secret in a header. */
function clientAuthOf({ token_endpoint_auth_methods_supported: methods }: OAuth.AuthorizationServer, secret?: string) {
  if (secret === undefined) return oauth.None()
  return methods?.includes('client_secret_post') ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret)
}

/** The issuer for the tenant of an answer, where it has one issuer for each, as Entra's `common` does. */
async function ofTenant(server: OAuth.AuthorizationServer, response: Response): Promise<OAuth.AuthorizationServer> {
  if (!server.issuer.includes('{tenantid}')) return server
  const { id_token } = (await response.clone().json()) as { id_token?: string }
  const [, payload = ''] = (id_token ?? '').split('.')
  const { tid } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { tid?: unknown }
  if (typeof tid !== 'string' || !/^[\da-f-]{36}$/.test(tid))
    throw new SignInError('The ID token names no tenant', 'no_tenant')
  return { ...server, issuer: server.issuer.replace('{tenantid}', tid) }
}

/**
 * Any issuer of OpenID Connect: authorization code with PKCE, by its metadata, which are read when they are needed first.
 * @throws TypeError for an issuer that is no URL, or without TLS on another machine; for `roleClaim` where the issuer is Entra's for any tenant
 * @example const provider = oidc({ id: 'corp', issuer: 'https://id.example', clientId, clientSecret })
 */
export function oidc(options: OidcOptions & { id: string }): SignInProvider {
  const { id, name = id, clientId, clientSecret, domains, issuer, roleClaim, roles, signOut = false } = options
  const { scopes = ['openid', 'email', 'profile'], isEmailVerified = isVerified } = options
  const url = parseUrl(issuer)
  if (!url) throw new TypeError(`The issuer of the sign-in provider "${id}" is no URL`)
  const isPlain = url.protocol !== 'https:' && isLocal(url)
  if (url.protocol !== 'https:' && !isPlain)
    throw new TypeError(`The issuer of the sign-in provider "${id}" needs https`)
  if (roleClaim !== undefined && anyTenant.test(url.pathname))
    throw new TypeError(
      `The sign-in provider "${id}" can grant roles by a claim with the id of one tenant only: administrators of others would grant them as well`,
    )
  const client: OAuth.Client = { client_id: clientId, [oauth.clockTolerance]: CLOCK_S }
  const http = { [oauth.customFetch]: boundedFetch, [oauth.allowInsecureRequests]: isPlain }
  const keys: OAuth.JWKSCacheInput = {}

  let known: { server: Promise<OAuth.AuthorizationServer>; until: number } | undefined
  /** The metadata of the issuer. What failed is tried again with the next sign-in. */
  const metadata = (): Promise<OAuth.AuthorizationServer> => {
    if (known && known.until > Date.now()) return known.server
    // Entra's has a place for the tenant, in the position of the tenant that was asked.
    const read = async (): Promise<OAuth.AuthorizationServer> => {
      const response = await oauth.discoveryRequest(url, { ...http, algorithm: 'oidc' })
      const found = (await response.clone().json()) as { issuer?: unknown }
      const expected = typeof found.issuer === 'string' && isEntraOfTenants(url, found.issuer) ? found.issuer : url.href
      return oauth.processDiscoveryResponse(new URL(expected), response)
    }
    const server = read()
    const entry = { server, until: Date.now() + PROVIDER_CACHE_S * 1_000 }
    known = entry
    server.catch(() => {
      if (known === entry) known = undefined
    })
    return server
  }

  /** A page of the issuer, which browsers are sent to. */
  const pageOf = (endpoint: string): URL => {
    const page = new URL(endpoint)
    if (page.protocol !== 'https:' && !(isPlain && page.protocol === 'http:'))
      throw new SignInError('A page of the issuer needs https', 'no_https')
    return page
  }

  /**
   * The claims of the ID token and, where what is needed is not in it, of the endpoint for that.
   * @returns ofEmail those of the answer that the e-mail is from: no other can say that it is verified
   */
  const claimsOf = async (
    server: OAuth.AuthorizationServer,
    tokens: OAuth.TokenEndpointResponse,
  ): Promise<{ claims: Claims & { sub: string }; ofEmail: Claims }> => {
    const claims = oauth.getValidatedIdTokenClaims(tokens)!
    const isWhole = claims['email'] !== undefined && (roleClaim === undefined || hasClaim(claims, roleClaim))
    if (isWhole || server.userinfo_endpoint === undefined) return { claims, ofEmail: claims }
    const response = await oauth.userInfoRequest(server, client, tokens.access_token, http)
    const more = await oauth.processUserInfoResponse(server, client, claims.sub, response)
    return { claims: { ...more, ...claims }, ofEmail: claims['email'] === undefined ? more : claims }
  }

  return {
    id,
    name,
    domains,

    async start({ redirectUri, state, nonce, verifier }) {
      const { authorization_endpoint: endpoint } = await metadata()
      if (endpoint === undefined)
        throw new SignInError('The issuer has no authorization_endpoint', 'no_authorization_endpoint')
      const to = pageOf(endpoint)
      const asked = {
        response_type: 'code',
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes.join(' '),
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }
      for (const [name, value] of Object.entries(asked)) to.searchParams.set(name, value)
      return to.href
    },

    async finish(answer: URLSearchParams, { redirectUri, state, nonce, verifier }: BegunSignIn): Promise<Vouched> {
      const server = await metadata()
      let checked: URLSearchParams
      try {
        checked = oauth.validateAuthResponse(server, client, answer, state)
      } catch (error) {
        if (error instanceof oauth.AuthorizationResponseError) throw new SignInCancelled(error.error)
        throw error
      }
      const auth = clientAuthOf(server, clientSecret)
      const response = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        auth,
        checked,
        redirectUri,
        verifier,
        http,
      )
      const issued = await ofTenant(server, response)
      if (roleClaim !== undefined && issued !== server)
        throw new SignInError('Any tenant could grant roles by the claim', 'roles_of_any_tenant')
      const expected = { expectedNonce: nonce, requireIdToken: true }
      const tokens = await oauth.processAuthorizationCodeResponse(issued, client, response, expected)
      await oauth.validateApplicationLevelSignature(issued, response, { ...http, [oauth.jwksCache]: keys })
      const { claims, ofEmail } = await claimsOf(issued, tokens)
      const role: Role | undefined = roleClaim === undefined ? undefined : roleIn(claims, roleClaim, roles)
      const { id_token: idToken } = tokens
      return {
        issuer: issued.issuer,
        subject: claims.sub,
        email: isEmailVerified(ofEmail) ? emailOf(ofEmail['email']) : undefined,
        firstName: textOf(claims['given_name']),
        lastName: textOf(claims['family_name']),
        role,
        ...(signOut && idToken !== undefined && idToken.length <= PROVIDER_ID_TOKEN && { idToken }),
      }
    },

    ...(signOut && {
      async signOut({ idToken, returnTo }) {
        const { end_session_endpoint: endpoint } = await metadata()
        if (endpoint === undefined) return undefined
        const to = pageOf(endpoint)
        to.searchParams.set('client_id', clientId)
        to.searchParams.set('post_logout_redirect_uri', returnTo)
        if (idToken !== undefined) to.searchParams.set('id_token_hint', idToken)
        return to.href
      },
    }),
  }
}

/** Paths of Entra's issuers for any tenant, whose administrators write what they like into the claims of theirs. */
const anyTenant = /^\/(common|organizations)\//i
/** Whether an issuer is Entra's for any tenant, whose metadata have a place for the tenant (Microsoft, "OpenID Connect on the Microsoft identity platform"). */
const isEntraOfTenants = ({ origin }: URL, found: string): boolean => found === `${origin}/{tenantid}/v2.0`
