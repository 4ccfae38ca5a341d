import type { Role } from '@turnpike/core'

/** A sign-in that has begun, as its provider is told of it. */
export interface BegunSignIn {
  /** Where the provider sends the browser back to. */
  redirectUri: string
  /** Random, and of this sign-in alone, as the two others. */
  state: string
  nonce: string
  /** Of PKCE (RFC 7636). */
  verifier: string
}

/** Somebody as a provider vouches for them. */
export interface Vouched {
  /** Who vouches, and what they call the person: both together are one person for ever. At most 255 characters each. */
  issuer: string
  subject: string
  /** Undefined unless the provider has verified it. */
  email?: string | undefined
  firstName?: string | undefined
  lastName?: string | undefined
  /** The role to take; undefined = the role is not the provider's to give. */
  role?: Role | undefined
  /** What the provider wants to see again when the person signs out there. */
  idToken?: string | undefined
}

/** Thrown by {@link SignInProvider.finish} where the person, or the provider, does not want the sign-in. */
export class SignInCancelled extends Error {
  override name = 'SignInCancelled'
}

/** What is wrong with a provider, or with what it answers. @param code words for a log */
export class SignInError extends Error {
  override name = 'SignInError'
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message)
  }
}

/** Another place where people sign in: `oidc()` and `github()` of `@turnpike/platform/single-sign-on`, or one of your own. */
export interface SignInProvider {
  /** Letters, digits and `-`, in lower case: a part of the address that the provider sends the browser to. */
  id: string
  /** How people call it, such as `Google`. */
  name: string
  /** Domains of the verified e-mails that make an account without an invitation; default none. */
  domains?: readonly string[] | undefined
  /** Where the browser goes to sign in. */
  start(begun: BegunSignIn): Promise<string>
  /**
   * Finds out who has signed in.
   * @param answer what the browser brings back
   * @throws SignInCancelled; any other error where the answer is not good
   */
  finish(answer: URLSearchParams, begun: BegunSignIn): Promise<Vouched>
  /** Where the browser goes to sign out at the provider as well; absent, or undefined = nowhere. */
  signOut?(input: { idToken: string | undefined; returnTo: string }): Promise<string | undefined>
}
