import type { KV } from '@turnpike/core'
import { TOKEN_PREFIX, unauthenticated } from '@turnpike/core/internal'
import type { Authenticator } from '@turnpike/http'
import { findToken } from '../tokens/stored-tokens.js'
import { bearer } from './identity.js'

/** The same identity, which knows the tokens for programs as well (`/api/tokens`): users act by them as far as their scopes go. */
export const withTokens = (kv: KV, identity: Authenticator, now: () => number): Authenticator => ({
  async authenticate(head, waited = 0) {
    const value = bearer(head)
    if (!value?.startsWith(TOKEN_PREFIX)) return identity.authenticate(head, waited)
    const token = await findToken(kv, value, now() - waited)
    if (!token) throw unauthenticated('This token is unknown, revoked or expired')
    const { user_id: userId, scopes, created_at } = token
    return { userId, scopes, via: 'bearer', issuedAt: Date.parse(created_at) }
  },
})
