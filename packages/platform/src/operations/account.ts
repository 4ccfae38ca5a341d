import type { SessionIssuer } from '../identity/identity.js'
import * as v from 'valibot'
import { forbidden, unauthenticated } from '../errors.js'
import { operation } from '../operation.js'
import { Role, User } from '../schemas.js'
import type { UserOperations } from './users.js'
import { userView } from './users.js'

/** GET /api/account */
export const accountGet = () =>
  operation({
    id: 'account.get',
    summary: 'The user who is signed in.',
    access: 'user',
    output: User,
    run: (caller) => userView(caller!.user),
  })

/** PATCH /api/account/role: nobody makes an administrator of themselves; an administrator may step down, unless there is no other. */
export const accountRole = (users: UserOperations, sessions: SessionIssuer | undefined) =>
  operation({
    id: 'account.setRole',
    summary: "Changes the caller's role to user or developer, and the session cookie with it.",
    access: 'user',
    body: v.object({ role: Role }),
    example: { role: 'developer' },
    output: User,
    errors: [403],
    answerHeaders: ['Set-Cookie'],
    async run(caller, { body: { role } }, call) {
      const { user, who } = caller!
      if (role === user.role) return userView(user)
      if (role === 'admin') throw forbidden('Only an administrator can make somebody an administrator')
      const changed = await users.update(user.id, { role }, { by: user.id })
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
