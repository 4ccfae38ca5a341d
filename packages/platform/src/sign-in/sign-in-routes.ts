import * as v from 'valibot'
import type { UserOperations } from '../accounts/users.js'
import type { Caller } from '../caller.js'
import { found, notFound } from '../errors.js'
import type { ListedSignIn, SessionIssuer } from '../identity/identity.js'
import { operation } from '../operation.js'
import { IdParams, UserSignIn } from '../schemas.js'

/** Sign-ins as a caller sees them, with which one is the caller's. */
const viewOf = (signIns: ListedSignIn[], caller: Caller): v.InferOutput<typeof UserSignIn>[] =>
  signIns.map((signIn) => ({ ...signIn, is_current: signIn.id === caller!.who.signInId }))

/** GET /api/account/sign-ins. Its id closes it to tokens for programs. */
export const signInsList = (sessions: SessionIssuer) =>
  operation({
    id: 'signIns.list',
    summary: "The caller's sign-ins, the one that was used last first.",
    access: 'user',
    output: v.array(UserSignIn),
    run: async (caller) => viewOf(await sessions.signIns(caller!.user.id), caller),
  })

/** DELETE /api/account/sign-ins/{id} */
export const signInsEnd = (sessions: SessionIssuer) =>
  operation({
    id: 'signIns.end',
    summary: "Ends one of the caller's sign-ins, as signing out there does.",
    access: 'user',
    params: IdParams,
    errors: [404],
    answerHeaders: ['Set-Cookie'],
    async run(caller, { params: { id } }, call) {
      const cookies = await sessions.endSignIn(caller!.who, id, call)
      if (!cookies) throw notFound('sign-in')
      call.setHeader('set-cookie', cookies)
    },
  })

/** GET /api/users/{id}/sign-ins */
export const usersSignIns = (users: UserOperations, sessions: SessionIssuer) =>
  operation({
    id: 'users.signIns',
    summary: 'The sign-ins of a user, the one that was used last first.',
    access: 'admin',
    params: IdParams,
    output: v.array(UserSignIn),
    errors: [404],
    async run(caller, { params: { id } }) {
      found('user', await users.get(id))
      return viewOf(await sessions.signIns(id), caller)
    },
  })

/** DELETE /api/users/{id}/sign-ins */
export const usersSignOut = (users: UserOperations, sessions: SessionIssuer) =>
  operation({
    id: 'users.signOut',
    summary: 'Ends all sign-ins of a user.',
    access: 'admin',
    params: IdParams,
    errors: [404],
    async run(caller, { params: { id } }) {
      found('user', await users.get(id))
      await sessions.signOutUser(id, { by: caller!.user.id })
    },
  })

/** DELETE /api/users/{id}/sign-ins/{signInId} */
export const usersEndSignIn = (users: UserOperations, sessions: SessionIssuer) =>
  operation({
    id: 'users.endSignIn',
    summary: 'Ends one sign-in of a user.',
    access: 'admin',
    params: v.object({ id: v.string(), signInId: v.string() }),
    errors: [404],
    async run(caller, { params: { id, signInId } }) {
      found('user', await users.get(id))
      if (!(await sessions.signOutUser(id, { id: signInId, by: caller!.user.id }))) throw notFound('sign-in')
    },
  })
