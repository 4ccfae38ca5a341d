/** The places besides the platform where people sign in. @module */
import type { SignInProvider } from '@turnpike/platform'
import { fileOf } from './config/check.js'
import { ConfigError } from './config/faults.js'
import type { Config } from './config/schema.js'
import type { SignInSettings } from './config/sign-in.js'
import { isMade } from './config/sign-in.js'
import { missingPackage } from './open-by-prefix.js'

/** @throws TypeError where a setting is missing */
async function open({
  preset,
  issuer,
  tenant,
  host,
  admins,
  developers,
  ...given
}: SignInSettings): Promise<SignInProvider> {
  const { github, oidc, presetOf } = await import('@turnpike/platform/single-sign-on')
  if (preset === 'github') return github({ ...given, url: issuer?.replace(/\/+$/, '') })
  const known = preset && presetOf(preset, { tenant, host, issuer })
  const id = given.id ?? preset
  const at = known?.issuer ?? issuer
  if (id === undefined || at === undefined)
    throw new TypeError('A sign-in provider without a preset needs id and issuer')
  const roles = (admins || developers) && {
    ...(admins && { admin: admins }),
    ...(developers && { developer: developers }),
  }
  return oidc({ ...known, ...given, id, issuer: at, roles })
}

/** Opens the sign-in providers of a configuration. @throws ConfigError where a setting is missing, or the package oauth4webapi */
export async function openSignInProviders(config: Config): Promise<SignInProvider[]> {
  const { signInProviders = [], passwords = true } = config.platform
  const fault = (text: string, cause?: unknown) => new ConfigError([text], fileOf(config), { cause })
  if (signInProviders.length === 0 && !passwords)
    throw fault('platform.passwords (PASSWORDS) as off needs platform.signInProviders, such as by OIDC_CLIENT_ID')
  if (signInProviders.length > 0 && config.server.baseUrl === undefined)
    throw fault('platform.signInProviders needs server.baseUrl (BASE_URL), to which they send browsers back')
  try {
    return await Promise.all(signInProviders.map((given) => (isMade(given) ? given : open(given))))
  } catch (error) {
    const name = missingPackage(error)
    if (name !== undefined)
      throw fault(`platform.signInProviders needs the package ${name}: npm install ${name}`, error)
    throw fault((error as Error).message, error)
  }
}
