/** Settings of sign-in providers. @module */
import type { SignInProvider } from '@turnpike/platform'
import * as v from 'valibot'
import { either, flag, list, matching, oneOf, section, setting, text } from './values.js'

export const isMade = (value: unknown): value is SignInProvider =>
  typeof value === 'object' && value !== null && typeof (value as Partial<SignInProvider>).start === 'function'

/** Those of `@turnpike/platform/single-sign-on`, which is loaded only where one is used. */
const PRESETS = ['google', 'entra', 'okta', 'auth0', 'keycloak', 'gitlab', 'github'] as const

const values = (expected: string) => list(expected, (value) => value !== '')

const Given = section({
  id: setting(
    'What its addresses end with; default the preset.',
    matching(/^[a-z\d-]{1,40}$/, 'up to 40 of a-z, 0-9 and -'),
  ),
  preset: setting('A vendor whose ways are known (sign-in.md); default any issuer of OpenID Connect.', oneOf(PRESETS)),
  issuer: setting(
    'The address of the issuer; of GitLab and GitHub, that of a server of your own.',
    matching(/^https?:\/\/\S+$/, 'a URL that begins with https://'),
  ),
  tenant: setting('Of Entra: the id of the tenant, or organizations or common.', text()),
  host: setting('Of Okta and Auth0: the host, such as example.okta.com.', text()),
  clientId: v.pipe(text(), v.description('The id of the client that was registered there.')),
  clientSecret: setting('Its secret.', text()),
  name: setting('What people read at the button; default that of the preset, or the id.', text()),
  scopes: setting('Default openid, email and profile.', list('scopes')),
  domains: setting(
    'Domains of the verified e-mails that make an account without an invitation; default none.',
    list('domains, such as ai.example', (domain) => /^[^@\s/]+\.[^@\s/]+$/.test(domain)),
  ),
  roleClaim: setting('The claim that has the role or the groups; default none: administrators grant roles.', text()),
  admins: setting('The values of that claim that make an administrator; default admin.', values('values of the claim')),
  developers: setting('Those that make a developer; default developer.', values('values of the claim')),
  signOut: setting('Whether who signs out here does so at the issuer.', flag(), false),
})
const Made = v.custom<SignInProvider>(isMade)

export const SignInProviders = v.array(either(isMade, Made, Given), 'a list of sign-in providers')
/** One of them, as its settings. */
export type SignInSettings = v.InferOutput<typeof Given>
