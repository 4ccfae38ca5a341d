/** Issuers of OpenID Connect, and GitHub, as sign-in providers. It needs the package oauth4webapi. @module */
export type { Claims, RoleValues } from './single-sign-on/claims.js'
export { github } from './single-sign-on/github.js'
export type { OidcOptions, ProviderOptions } from './single-sign-on/oidc.js'
export { oidc } from './single-sign-on/oidc.js'
export type { Preset, PresetPlace } from './single-sign-on/presets.js'
export { presetOf, PRESETS } from './single-sign-on/presets.js'
export type { BegunSignIn, SignInProvider, Vouched } from './single-sign-on/provider.js'
export { SignInCancelled, SignInError } from './single-sign-on/provider.js'
