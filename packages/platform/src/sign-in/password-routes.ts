import * as v from 'valibot'
import type { UserOperations } from '../accounts/users.js'
import { found } from '../errors.js'
import type { SessionIssuer } from '../identity/identity.js'
import { operation } from '../operation.js'
import { IdParams } from '../schemas.js'
import { Password } from './auth-routes.js'
import type { Notices } from './notices.js'

/** PUT /api/account/password */
export const accountPassword = (sessions: SessionIssuer, told: Notices) =>
  operation({
    id: 'account.setPassword',
    summary: "Changes the caller's password and ends the other sign-ins.",
    access: 'user',
    body: v.object({ current: Password, password: Password }),
    example: { current: 'correct horse', password: 'battery staple' },
    errors: [403, 429, 503],
    answerHeaders: ['Set-Cookie'],
    async run(caller, { body }, call) {
      call.setHeader('set-cookie', await sessions.changePassword(caller!.who, body, call))
      told.newPassword(caller!.user)
    },
  })

/** PUT /api/users/{id}/password */
export const usersPassword = (users: UserOperations) =>
  operation({
    id: 'users.setPassword',
    summary: 'Gives a user another password, and ends their sign-ins.',
    access: 'admin',
    params: IdParams,
    body: v.object({ password: Password }),
    example: { password: 'battery staple' },
    errors: [404, 503],
    async run(caller, { params: { id }, body: { password } }, { again }) {
      found('user', await users.get(id))
      await users.setPassword(id, password, { by: caller!.user.id }, again)
    },
  })
