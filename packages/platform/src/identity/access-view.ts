import type { User } from '@turnpike/core'
import type { AccessToken } from './access-tokens.js'
import type { AuthSession } from './identity.js'

/** What a user is told with an access token: an AuthSession without the refresh token. @param expires_in seconds */
export function accessView(
  { token, exp }: AccessToken,
  { id, email, role, first_name, last_name, username }: User,
  expires_in: number,
): Omit<AuthSession, 'refresh_token'> {
  const metadata = { role, first_name, last_name, username }
  return { access_token: token, token_type: 'bearer', expires_in, expires_at: exp, user: { id, email, metadata } }
}
