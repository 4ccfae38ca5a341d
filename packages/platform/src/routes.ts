import { route } from '@turnpike/http'
import { accountGet, accountRemove, accountRole } from './accounts/account-routes.js'
import { balancesAdd, balancesGet, balancesSet, ownBalance, ownLimits } from './accounts/balance-routes.js'
import { endUsersList, endUsersRemove, endUsersUpdate } from './accounts/end-user-routes.js'
import { usersCreate, usersGet, usersList, usersRemove, usersRestore, usersUpdate } from './accounts/user-routes.js'
import { AUTH_BODY_LIMIT, TASK_BODY_LIMIT } from './conventions.js'
import {
  conversationClear,
  conversationGet,
  conversationMessage,
  conversationReply,
  conversationSend,
  conversationStop,
} from './conversations/conversation-routes.js'
import { fileRoutes } from './files/file-routes.js'
import type { FilesOptions } from './files/options.js'
import { keysCreate, keysList, keysRevoke, keysRotate, keysUpdate, keysUsage } from './keys/key-routes.js'
import { membersAccept, membersList, membersRemove, membersSet, membersShares } from './members/member-routes.js'
import type { PlatformRoute } from './operation.js'
import type { Parts } from './parts.js'
import type { Operations } from './platform.js'
import { projectsCreate, projectsGet, projectsList, projectsRemove, projectsUpdate } from './projects/project-routes.js'
import { projectsTeam, teamsList } from './projects/team-routes.js'
import { sessionsCreate, sessionsGet, sessionsList } from './sessions/session-routes.js'
import type { CheckSite } from './sign-in/auth-routes.js'
import { browserSession, jwks, refresh, signIn, signOut } from './sign-in/auth-routes.js'
import { invitationsCreate, invitationsList, invitationsRevoke } from './sign-in/invitation-routes.js'
import { forgotten, linkLook, linkUse, signInOptions, signUp, usersPasswordLink } from './sign-in/link-routes.js'
import { accountPassword, usersPassword } from './sign-in/password-routes.js'
import { signInsEnd, signInsList, usersEndSignIn, usersSignIns, usersSignOut } from './sign-in/sign-in-routes.js'
import { withoutPasswords } from './sign-in/without-passwords.js'
import { providerBegin, providerFinish, providerSignOut } from './single-sign-on/provider-routes.js'
import { resultsGet, resultsList } from './tasks/result-routes.js'
import {
  tasksCreate,
  tasksGet,
  tasksList,
  tasksRemove,
  tasksRevisions,
  tasksStatus,
  tasksUpdate,
} from './tasks/task-routes.js'
import { tokensCreate, tokensList, tokensRevoke } from './tokens/token-routes.js'
import { conversationSpend, projectsSpend, tasksSpend } from './usage/spend-routes.js'
import { usageOf } from './usage/usage-routes.js'

/** The routes of a platform. */
export function platformRoutes(
  operations: Operations,
  {
    kv,
    now,
    sessions,
    teams,
    files,
    bodyLimit,
    checkSite,
    told,
    passwords,
  }: Pick<Parts, 'kv' | 'now' | 'sessions' | 'teams' | 'told' | 'passwords'> & {
    files: FilesOptions | undefined
    bodyLimit: number
    checkSite: CheckSite
  },
): PlatformRoute[] {
  const { users, links, invitations, balances, keys, tokens, projects, members } = operations
  const { tasks, conversations, results, spend, usage, singleSignOn: sso } = operations
  const ours = { convention: true }
  const gone = { convention: true, status: 204 }
  const small = { bodyLimit: Math.min(bodyLimit, AUTH_BODY_LIMIT) }

  const all: PlatformRoute[] = [
    ...(sessions
      ? [
          route('POST', '/api/auth', signIn(sessions, checkSite), small),
          route('PUT', '/api/auth', refresh(sessions, checkSite), small),
          route('DELETE', '/api/auth', signOut(sessions), gone),
          route('GET', '/api/auth/session', browserSession(sessions)),
          route('GET', '/.well-known/jwks.json', jwks(sessions), ours),
          route('GET', '/api/auth/options', signInOptions(links, sso), ours),
          route('POST', '/api/auth/forgotten', forgotten(links, checkSite), { ...gone, ...small }),
          route('POST', '/api/auth/sign-up', signUp(links, checkSite), { ...gone, ...small }),
          route('POST', '/api/auth/link', linkLook(links), { ...ours, ...small }),
          route('PUT', '/api/auth/link', linkUse(links, checkSite), { ...ours, ...small }),
          ...(sso
            ? [
                route('POST', '/api/auth/providers/{provider}', providerBegin(sso, checkSite), { ...ours, ...small }),
                route('GET', '/api/auth/callback/{provider}', providerFinish(sso), { convention: true, status: 303 }),
                route('POST', '/api/auth/sign-out', providerSignOut(sso), ours),
              ]
            : []),
          route('PUT', '/api/account/password', accountPassword(sessions, told), gone),
          route('PUT', '/api/users/{id}/password', usersPassword(users), gone),
          route('POST', '/api/users/{id}/password-link', usersPasswordLink(links), ours),
          route('POST', '/api/invitations', invitationsCreate(invitations), ours),
          route('GET', '/api/invitations', invitationsList(invitations), ours),
          route('DELETE', '/api/invitations/{id}', invitationsRevoke(invitations), gone),
          route('GET', '/api/account/sign-ins', signInsList(sessions), ours),
          route('DELETE', '/api/account/sign-ins/{id}', signInsEnd(sessions), gone),
          route('GET', '/api/users/{id}/sign-ins', usersSignIns(users, sessions), ours),
          route('DELETE', '/api/users/{id}/sign-ins', usersSignOut(users, sessions), gone),
          route('DELETE', '/api/users/{id}/sign-ins/{signInId}', usersEndSignIn(users, sessions), gone),
        ]
      : []),
    route('GET', '/api/account', accountGet(users), ours),
    route('DELETE', '/api/account', accountRemove(users), gone),
    route('PATCH', '/api/account/role', accountRole(users, sessions), ours),
    route('GET', '/api/account/balance', ownBalance(balances), ours),
    route('GET', '/api/account/limits', ownLimits(balances, users, keys), ours),
    route('GET', '/api/account/shares', membersShares(members), ours),
    route('POST', '/api/users', usersCreate(users), ours),
    route('GET', '/api/users', usersList(users), ours),
    route('GET', '/api/users/{id}', usersGet(users), ours),
    route('PATCH', '/api/users/{id}', usersUpdate(users), ours),
    route('DELETE', '/api/users/{id}', usersRemove(users, operations.erasures), gone),
    route('POST', '/api/users/{id}/restore', usersRestore(users), ours),
    route('GET', '/api/users/{id}/balance', balancesGet(balances), ours),
    route('PATCH', '/api/users/{id}/balance', balancesSet(balances), ours),
    route('POST', '/api/users/{id}/balance', balancesAdd(balances), ours),
    route('POST', '/api/keys', keysCreate(keys), ours),
    route('GET', '/api/keys', keysList(keys), ours),
    route('GET', '/api/usage', usageOf(usage), ours),
    route('GET', '/api/keys/usage', keysUsage(keys), ours),
    route('PATCH', '/api/keys/{id}', keysUpdate(keys), ours),
    route('DELETE', '/api/keys/{id}', keysRevoke(keys), gone),
    route('POST', '/api/keys/{id}/rotate', keysRotate(keys), ours),
    route('GET', '/api/keys/{id}/end-users', endUsersList(keys), ours),
    route('PATCH', '/api/keys/{id}/end-users/{endUser}', endUsersUpdate(keys), ours),
    route('DELETE', '/api/keys/{id}/end-users/{endUser}', endUsersRemove(keys), gone),
    route('POST', '/api/tokens', tokensCreate(tokens), ours),
    route('GET', '/api/tokens', tokensList(tokens), ours),
    route('DELETE', '/api/tokens/{id}', tokensRevoke(tokens), gone),
    route('POST', '/api/sessions', sessionsCreate(operations.sessions), ours),
    route('GET', '/api/sessions', sessionsList(operations.sessions), ours),
    route('GET', '/api/sessions/{id}', sessionsGet(operations.sessions), ours),
    route('GET', '/api/projects', projectsList(projects)),
    route('POST', '/api/projects', projectsCreate(projects)),
    route('GET', '/api/projects/{id}', projectsGet(projects)),
    route('PATCH', '/api/projects/{id}', projectsUpdate(projects)),
    route('DELETE', '/api/projects/{id}', projectsRemove(projects), { status: 204 }),
    route('GET', '/api/projects/{id}/members', membersList(members), ours),
    route('PUT', '/api/projects/{id}/members', membersSet(members), ours),
    route('DELETE', '/api/projects/{id}/members/{memberId}', membersRemove(members), gone),
    route('POST', '/api/projects/{id}/members/{memberId}/accept', membersAccept(members), ours),
    route('GET', '/api/projects/{id}/team', projectsTeam(projects), ours),
    route('GET', '/api/projects/{id}/spend', projectsSpend(spend), ours),
    route('GET', '/api/projects/{id}/conversation', conversationGet(conversations, projects), ours),
    route('DELETE', '/api/projects/{id}/conversation', conversationClear(conversations), gone),
    route('POST', '/api/projects/{id}/conversation/messages', conversationSend(conversations), ours),
    route('GET', '/api/projects/{id}/conversation/messages/{messageId}', conversationMessage(conversations), ours),
    route('POST', '/api/projects/{id}/conversation/messages/{messageId}/stop', conversationStop(conversations), ours),
    route('POST', '/api/projects/{id}/conversation/reply', conversationReply(conversations), ours),
    route('GET', '/api/projects/{id}/conversation/spend', conversationSpend(spend), ours),
    route('GET', '/api/tasks', tasksList(tasks, projects), ours),
    route('POST', '/api/tasks', tasksCreate(tasks)),
    route('GET', '/api/tasks/{id}', tasksGet(tasks)),
    route('DELETE', '/api/tasks/{id}', tasksRemove(tasks), gone),
    route('PATCH', '/api/tasks/{id}', tasksUpdate(tasks), { bodyLimit: Math.max(bodyLimit, TASK_BODY_LIMIT) }),
    route('GET', '/api/tasks/{id}/revisions', tasksRevisions(tasks)),
    route('GET', '/api/tasks/{id}/status', tasksStatus(tasks)),
    route('GET', '/api/tasks/{id}/spend', tasksSpend(spend), ours),
    route('GET', '/api/results', resultsList(results, projects), ours),
    route('GET', '/api/results/{id}', resultsGet(results), ours),
    route('GET', '/api/teams', teamsList(teams), ours),
    ...(operations.files && files ? fileRoutes(operations.files, conversations, { kv, now }, files) : []),
  ]
  return passwords ? all : withoutPasswords(all)
}
