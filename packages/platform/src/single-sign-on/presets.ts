import type { Claims } from './claims.js'
import type { OidcOptions } from './oidc.js'

/** Issuers whose addresses and ways are known (docs/sign-in.md), and GitHub, which is none. */
export const PRESETS = ['google', 'entra', 'okta', 'auth0', 'keycloak', 'gitlab', 'github'] as const
/** One of {@link PRESETS}. */
export type Preset = (typeof PRESETS)[number]

/** What tells one customer of a vendor from others. */
export interface PresetPlace {
  /** Of Entra: the id of a tenant, or `organizations` or `common` for those of all. */
  tenant?: string | undefined
  /** Of Okta and Auth0: the host, such as `example.okta.com`. */
  host?: string | undefined
  /** Of Keycloak, such as `https://id.example/realms/main`, and of GitLab and GitHub on servers of one's own. */
  issuer?: string | undefined
}

type Known = Required<Pick<OidcOptions, 'name' | 'issuer'>> & Pick<OidcOptions, 'isEmailVerified'>

const TENANT = /^([\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|common|organizations)$/i

/** Entra's e-mails are what an administrator of some tenant has written, unless the domain was verified (Microsoft, "Migrate away from using email claims"). */
const isEntraVerified =
  (isOneTenant: boolean) =>
  ({ xms_edov: isDomainOwner }: Claims): boolean =>
    isOneTenant || isDomainOwner === true || isDomainOwner === 1 || isDomainOwner === '1' || isDomainOwner === 'true'

/**
 * Google is not asked again who reads an e-mail of another, such as of a private account that somebody made with one of their employer's: it
 * answers for its own and for those of an organisation (Google, "Authenticate with a backend server").
 */
const isGoogleVerified = ({ email, email_verified: verified, hd }: Claims): boolean =>
  (verified === true || verified === 'true') &&
  (typeof hd === 'string' || (typeof email === 'string' && /@(gmail|googlemail)\.com$/i.test(email)))

function entra(tenant: string): Known {
  const isOneTenant = tenant !== 'common' && tenant !== 'organizations'
  return {
    name: 'Microsoft',
    issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
    isEmailVerified: isEntraVerified(isOneTenant),
  }
}

/**
 * What is known of a preset.
 * @throws TypeError where its place is missing, or of another form
 * @example const provider = oidc({ id: 'google', clientId, clientSecret, ...presetOf('google', {}) })
 */
export function presetOf(preset: Exclude<Preset, 'github'>, { tenant, host, issuer }: PresetPlace): Known {
  const needed = (what: keyof PresetPlace, value: string | undefined, form = /./): string => {
    if (value !== undefined && form.test(value)) return value
    throw new TypeError(`The sign-in provider ${preset} needs ${what}`)
  }
  const isHost = /^[a-z\d.-]+$/i
  switch (preset) {
    case 'google':
      return { name: 'Google', issuer: 'https://accounts.google.com', isEmailVerified: isGoogleVerified }
    case 'entra':
      return entra(needed('tenant', tenant, TENANT).toLowerCase())
    case 'okta':
      return { name: 'Okta', issuer: issuer ?? `https://${needed('host', host, isHost)}` }
    case 'auth0':
      return { name: 'Auth0', issuer: `https://${needed('host', host, isHost)}/` }
    case 'keycloak':
      return { name: 'Keycloak', issuer: needed('issuer', issuer) }
    case 'gitlab':
      return { name: 'GitLab', issuer: issuer ?? 'https://gitlab.com' }
  }
}
