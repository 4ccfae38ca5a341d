import { parseUrl } from '@turnpike/core/helpers'
import * as v from 'valibot'
import { RETURN_LENGTH } from '../conventions.js'
import { operation } from '../operation.js'
import type { CheckSite } from '../sign-in/auth-routes.js'
import { Token } from '../sign-in/link-routes.js'
import type { SingleSignOnOperations } from './single-sign-on.js'

const Provider = v.object({ provider: v.pipe(v.string(), v.maxLength(40)) })

const ORIGIN = 'https://turnpike.invalid'
/** Whether browsers read a text as a path of the own origin: they take `//`, `/\` and what has line breaks for others. */
const isLocalPath = (text: string): boolean =>
  /^\/[^\\\p{Cc}]*$/u.test(text) && parseUrl(text, ORIGIN)?.origin === ORIGIN

/** POST /api/auth/providers/{provider} */
export const providerBegin = (sso: SingleSignOnOperations, checkSite: CheckSite) =>
  operation({
    id: 'auth.beginAtProvider',
    summary: 'Begins a sign-in at an identity provider: the browser goes to the `url` of the answer.',
    access: 'open',
    params: Provider,
    aliases: { return_to: 'returnTo' },
    body: v.object({
      /** A path of this server; default the page of links. */
      returnTo: v.nullish(
        v.pipe(v.string(), v.maxLength(RETURN_LENGTH), v.check(isLocalPath, 'expected a path of this server')),
      ),
      /** Of a link that makes an account, which is used by the sign-in. */
      token: v.nullish(Token),
    }),
    example: { returnTo: '/console' },
    output: v.object({ url: v.string() }),
    errors: [403, 404, 429, 503],
    answerHeaders: ['Set-Cookie'],
    async run(_, { params: { provider }, body: { returnTo, token } }, call) {
      checkSite(call)
      const given = { ...(returnTo != null && { returnTo }), ...(token != null && { token }) }
      const { url, cookies } = await sso.begin(provider, given, call)
      call.setHeader('set-cookie', cookies)
      return { url }
    },
  })

const part = v.optional(v.pipe(v.string(), v.maxLength(8_192)))

/** GET /api/auth/callback/{provider} */
export const providerFinish = (sso: SingleSignOnOperations) =>
  operation({
    id: 'auth.endAtProvider',
    summary:
      'Where an identity provider sends the browser back: sets the session cookie, and leads to the page where the sign-in began, or to the sign-in with `problem`.',
    access: 'open',
    params: Provider,
    query: v.looseObject({ state: part, code: part, iss: part, error: part }),
    errors: [404],
    answerHeaders: ['Location', 'Set-Cookie'],
    async run(_, { params: { provider }, query }, call) {
      const { to, cookies } = await sso.finish(provider, new URLSearchParams(query as Record<string, string>), call)
      call.setHeader('location', to)
      call.setHeader('set-cookie', cookies)
    },
  })

/** POST /api/auth/sign-out */
export const providerSignOut = (sso: SingleSignOnOperations) =>
  operation({
    id: 'auth.signOutAtProvider',
    summary: 'Signs out here, and tells where the browser signs out at the identity provider, if that is to be.',
    access: 'user',
    output: v.object({ url: v.nullable(v.string()) }),
    answerHeaders: ['Set-Cookie'],
    async run(caller, _, call) {
      const { url, cookies } = await sso.signOut(caller!.who, call)
      call.setHeader('set-cookie', cookies)
      return { url }
    },
  })
