import type { Identified } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { callHook, sha256 } from '@turnpike/core/helpers'
import type { Head } from '@turnpike/http'
import type { UserOperations } from '../accounts/users.js'
import { BEGUN_COOKIE, PLAIN_BEGUN_COOKIE, PROVIDER_MINUTES, PROVIDER_SIGN_INS } from '../conventions.js'
import { found, tooMany } from '../errors.js'
import { randomText } from '../identity/base64url.js'
import { countNetworks } from '../identity/count-networks.js'
import { hostCookie } from '../identity/host-cookie.js'
import type { SessionIssuer, VouchedSessions } from '../identity/identity.js'
import type { Parts } from '../parts.js'
import { begin, isBrowser, take } from './begun-sign-ins.js'
import type { SignInProvider, Vouched } from './provider.js'
import { SignInCancelled, SignInError } from './provider.js'
import type { SignInProblem } from './vouched-users.js'
import { SignInRefused, vouchedUsers } from './vouched-users.js'

/** The sign-in providers of a platform, and what signs in those whom they vouch for. */
export interface SingleSignOn {
  providers: readonly SignInProvider[]
  sessions: SessionIssuer
  vouched: VouchedSessions
  /** Where browsers reach the platform: providers send them back there. There is one where there are providers. */
  baseUrl: string | undefined
}

const refuse = (retryAfter: number) => tooMany('Too many sign-ins were begun; try again later', retryAfter)

/** The codes of an error and its causes, as far as they are words: not the answer that some carry along, which has codes and tokens. */
function wordsOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return []
  const {
    name,
    code,
    error: told,
    cause,
  } = error as { name?: unknown; code?: unknown; error?: unknown; cause?: unknown }
  const words = [code, told].filter((word) => typeof word === 'string' && /^\w{1,60}$/.test(word)) as string[]
  const inner = cause instanceof Error ? wordsOf(cause) : []
  return words.length + inner.length > 0 ? [...words, ...inner] : [String(name)]
}

/** What may be told of an error of a provider. */
const described = (id: string, error: unknown): SignInError => {
  const code = wordsOf(error).join(' ')
  return new SignInError(`The sign-in provider ${id}: ${code}`, code)
}

/** Sign-ins at other places, without HTTP. */
export function singleSignOn(
  parts: Parts,
  users: UserOperations,
  { providers, sessions, vouched, baseUrl }: SingleSignOn,
) {
  const { kv, rateLimiter, links, now, onError } = parts
  const base = (baseUrl ?? '').replace(/\/+$/, '')
  const cookie = hostCookie({ host: BEGUN_COOKIE, plain: PLAIN_BEGUN_COOKIE }, baseUrl, PROVIDER_MINUTES / 1_440)
  const people = vouchedUsers(parts, users)
  const providerOf = (id: string): SignInProvider =>
    found('sign-in provider', providers.find((one) => one.id === id) ?? null)
  /** Never by the host that a request names. */
  const redirectUriOf = ({ id }: SignInProvider): string => `${base}/api/auth/callback/${id}`
  const failed = (problem: SignInProblem) => ({ to: `${links.address}#/?problem=${problem}`, cookies: [] as string[] })

  /** @throws SignInRefused */
  const ask = async (provider: SignInProvider, ...given: Parameters<SignInProvider['finish']>): Promise<Vouched> => {
    try {
      const person = await provider.finish(...given)
      for (const text of [person.issuer, person.subject])
        if (text.length === 0 || text.length > 255)
          throw new SignInError('The issuer or the subject has no fit length', 'subject_length')
      return person
    } catch (error) {
      if (error instanceof SignInCancelled) throw new SignInRefused('cancelled')
      callHook(() => onError?.(described(provider.id, error), { provider: provider.id }))
      throw new SignInRefused('provider')
    }
  }

  return {
    /** The providers, as pages show them. */
    list: () => providers.map(({ id, name }) => ({ id, name })),

    /**
     * Begins a sign-in at a provider.
     * @param input.returnTo a local path; default the page that links lead to
     * @param input.token of a link that makes an account
     * @returns where the browser goes, and the cookies to set
     * @throws ApiError 404 for an unknown provider, 429 where too many are begun, 503 where the provider cannot be reached
     */
    async begin(id: string, { returnTo, token }: { returnTo?: string; token?: string }, head: Head) {
      const provider = providerOf(id)
      await countNetworks(rateLimiter, 'sign-ins begun', PROVIDER_SIGN_INS, head, refuse)
      const given = cookie.of(head)
      // Of all that a browser begins at a time, so that two tabs do not disturb each other.
      const browser = isBrowser(given) ? given : randomText(32)
      const value = {
        provider: id,
        ...(returnTo !== undefined && { return_to: returnTo }),
        ...(token !== undefined && { link: await sha256(token) }),
      }
      const secrets = await begin(kv, browser, value, now() + PROVIDER_MINUTES * 60_000)
      try {
        const url = await provider.start({ ...secrets, redirectUri: redirectUriOf(provider) })
        return { url, cookies: [cookie.set(browser)] }
      } catch (error) {
        throw new ApiError(503, 'server_error', `${provider.name} cannot be reached; try again later`, {
          code: 'internal_error',
          cause: described(id, error),
        })
      }
    },

    /**
     * Ends a sign-in at a provider, once, in the browser that has begun it.
     * @returns where the browser goes, with the problem where it has failed, and the cookies to set
     * @throws ApiError 404 for an unknown provider
     */
    async finish(id: string, answer: URLSearchParams, head: Head): Promise<{ to: string; cookies: string[] }> {
      const provider = providerOf(id)
      const begun = await take(kv, cookie.of(head), answer.get('state') ?? '', now())
      if (begun?.value.provider !== id) return failed('over')
      const { link, return_to } = begun.value
      try {
        const person = await ask(provider, answer, { ...begun.secrets, redirectUri: redirectUriOf(provider) })
        const { user, identity } = await people.find(provider, person, link)
        const by = { provider: id, ...(person.idToken !== undefined && { id_token: person.idToken }) }
        const cookies = await vouched.signIn(user, identity, by, head)
        if (!cookies) return failed('not-allowed')
        return { to: return_to === undefined ? links.address : new URL(return_to, base).href, cookies }
      } catch (error) {
        if (error instanceof SignInRefused) return failed(error.problem)
        throw error
      }
    },

    /** Signs out here. @returns where the browser goes to sign out at the provider as well, null = nowhere, and the cookies to set */
    async signOut(who: Identified, head: Head): Promise<{ url: string | null; cookies: string[] }> {
      const by = await vouched.of(who)
      const cookies = await sessions.signOut(who, 'local', head)
      const provider = providers.find(({ id }) => id === by?.provider)
      try {
        const url = await provider?.signOut?.({ idToken: by?.id_token, returnTo: links.address })
        return { url: url ?? null, cookies }
      } catch (error) {
        callHook(() => onError?.(described(provider!.id, error), { provider: provider!.id }))
        return { url: null, cookies }
      }
    },
  }
}

export type SingleSignOnOperations = ReturnType<typeof singleSignOn>
