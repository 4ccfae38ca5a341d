import { Email, UserName } from '@turnpike/core/internal'
import * as v from 'valibot'
import { found } from '../errors.js'
import { present } from '../given-fields.js'
import { operation } from '../operation.js'
import { Link, SentLink, SignInOptions } from '../schemas-people.js'
import { IdParams } from '../schemas.js'
import type { SingleSignOnOperations } from '../single-sign-on/single-sign-on.js'
import type { CheckSite } from './auth-routes.js'
import { Password, SignIn } from './auth-routes.js'
import type { LinkOperations } from './links.js'

/** The token of a link. */
export const Token = v.pipe(v.string(), v.minLength(1), v.maxLength(100))

/** GET /api/auth/options */
export const signInOptions = (links: LinkOperations, sso: SingleSignOnOperations | undefined) =>
  operation({
    id: 'auth.options',
    summary: 'How people sign in here.',
    access: 'open',
    output: SignInOptions,
    run: () => ({ ...links.options(), providers: sso?.list() ?? [] }),
  })

/** POST /api/auth/forgotten */
export const forgotten = (links: LinkOperations, checkSite: CheckSite) =>
  operation({
    id: 'auth.forgotten',
    summary: 'Sends a link by which a password is set; the answer is the same whether anybody has the e-mail or not.',
    access: 'open',
    body: v.pick(SignIn, ['email']),
    example: { email: 'ada@example.org' },
    errors: [403, 429],
    async run(_, { body: { email } }, call) {
      checkSite(call)
      await links.forgotten(email, call)
    },
  })

/** POST /api/auth/sign-up */
export const signUp = (links: LinkOperations, checkSite: CheckSite) =>
  operation({
    id: 'auth.signUp',
    summary: 'Sends a link by which an account is made; the answer is the same where the e-mail has one.',
    access: 'open',
    body: v.object({ email: Email }),
    example: { email: 'ada@example.org' },
    errors: [403, 429],
    async run(_, { body: { email } }, call) {
      checkSite(call)
      await links.signUp(email, call)
    },
  })

/** POST /api/auth/link */
export const linkLook = (links: LinkOperations) =>
  operation({
    id: 'auth.link',
    summary: 'Tells what a link is for.',
    access: 'open',
    body: v.object({ token: Token }),
    example: { token: '…' },
    output: Link,
    errors: [403, 404],
    run: (_, { body: { token } }) => links.look(token),
  })

/** PUT /api/auth/link */
export const linkUse = (links: LinkOperations, checkSite: CheckSite) =>
  operation({
    id: 'auth.useLink',
    summary: 'Uses a link, once: sets the password of its user, and ends their sign-ins, or makes the account.',
    access: 'open',
    aliases: { first_name: 'firstName', last_name: 'lastName' },
    body: v.object({ token: Token, password: Password, firstName: v.nullish(UserName), lastName: v.nullish(UserName) }),
    example: { token: '…', password: 'battery staple' },
    output: v.object({ email: v.string() }),
    errors: [403, 404, 429, 503],
    run(_, { body: { token, password, firstName, lastName } }, call) {
      checkSite(call)
      return links.use(token, { password, ...present({ first_name: firstName, last_name: lastName }) }, call)
    },
  })

/** POST /api/users/{id}/password-link */
export const usersPasswordLink = (links: LinkOperations) =>
  operation({
    id: 'users.sendPasswordLink',
    summary: 'Sends a user a link by which they set a password. Where no e-mail is sent, it is in the answer.',
    access: 'admin',
    params: IdParams,
    output: SentLink,
    errors: [400, 404],
    run: async (caller, { params: { id } }) => found('user', await links.sendPasswordLink(id, { by: caller!.user.id })),
  })
