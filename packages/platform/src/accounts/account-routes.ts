import { unauthenticated } from '@turnpike/core/internal'
import * as v from 'valibot'
import type { SessionIssuer } from '../identity/identity.js'
import { operation } from '../operation.js'
import { Role, User } from '../schemas.js'
import { userView } from './user-routes.js'
import type { UserOperations } from './users.js'

/** GET /api/account */
export const accountGet = (users: UserOperations) =>
  operation({
    id: 'account.get',
    summary: 'The user who is signed in.',
    access: 'user',
    output: User,
    run: async (caller) => ({ ...userView(caller!.user), ...(await users.budgetUsed(caller!.user)) }),
  })

/** PATCH /api/account/role: up to the highest role that an administrator granted. The last administrator does not step down. */
export const accountRole = (users: UserOperations, sessions: SessionIssuer | undefined) =>
  operation({
    id: 'account.setRole',
    summary:
      "Changes the caller's role, up to the highest one that an administrator granted, and the session cookie with it.",
    access: 'user',
    body: v.object({ role: Role }),
    example: { role: 'developer' },
    output: User,
    errors: [403],
    answerHeaders: ['Set-Cookie'],
    async run(caller, { body: { role } }, call) {
      const { user, who } = caller!
      if (role === user.role) return userView(user)
      const changed = await users.changeOwnRole(user.id, role)
      if (!changed) throw unauthenticated()
      if (who.via === 'cookie' && sessions) call.setHeader('set-cookie', await sessions.renewCookie(who))
      return userView(changed)
    },
  })

/** DELETE /api/account: soft; an administrator can restore it. */
export const accountRemove = (users: UserOperations) =>
  operation({
    id: 'account.remove',
    summary: "Deletes the caller's account, which an administrator can restore.",
    access: 'user',
    errors: [400],
    async run(caller) {
      await users.remove(caller!.user.id, { by: caller!.user.id })
    },
  })
