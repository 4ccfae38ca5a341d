import { readFileSync } from 'node:fs'
import { overlayPath } from '../support/contract.js'
import type { SignedIn, World } from './world.js'
import { made, newProject, newTask, patchTask } from './work.js'
import { chat, PASSWORD } from './world.js'

/** Somebody who has one of everything. */
export interface Owner extends SignedIn {
  keyId: string
  key: string
  sessionId: string
  projectId: string
  /** With an output. */
  taskId: string
  messageId: string
  fileId: string
  tokenId: string
  /** Of another sign-in than that of these tokens. */
  signInId: string
  /** A token for programs that may read all that tokens may. */
  token: string
  /** The token of a link by which the password is set. */
  linkToken: string
  invitationId: string
  /** An invitation to the project that nobody can accept. */
  memberId: string
}

/** A request of a route. */
export interface Sent {
  path: string
  /** A JSON body, or a form. */
  body?: object | FormData
}

const newFile = (): FormData => {
  const form = new FormData()
  form.append('file', new Blob(['bytes'], { type: 'text/plain' }), 'a.txt')
  return form
}

let people = 0

/** Makes a developer, or a user of another role who was one, with a gateway key that had the end user `ada`, a session, a project, a task, and a message with a public file. */
export async function newOwner(world: World, role: 'user' | 'developer' | 'admin' = 'developer'): Promise<Owner> {
  const as = await world.signedIn('developer', true)
  const key = await world.ask<{ id: string; key: string }>('POST', '/api/keys', {
    as,
    body: { name: 'k', rateLimit: 1_000_000 },
  })
  await world.ask('PATCH', `/api/keys/${key.body.id}`, { as, body: { endUsers: {} } })
  await world.ask('POST', '/v1/chat/completions', { as: key.body.key, body: { ...chat, user: 'ada' } })
  await world.ask('PATCH', `/api/keys/${key.body.id}`, { as, body: { endUsers: null } })
  const session = await world.ask<{ id: string }>('POST', '/api/sessions', { as, body: {} })
  const project = await newProject(world, as)
  const task = await newTask(world, as, project.id)
  await patchTask(world, as, task.id, { output: 'one' })
  const form = newFile()
  form.append('isPublic', 'true')
  const file = await world.ask<{ id: string }>('POST', '/api/user-files', { as, body: form })
  const message = await world.ask<{ id: string }>('POST', `/api/projects/${project.id}/conversation/messages`, {
    as,
    body: { text: 'Hello', attachments: [file.body.id] },
  })
  const member = await world.ask<{ id: string }>('PUT', `/api/projects/${project.id}/members`, {
    as,
    body: { email: `made-${++people}@example.org`, role: 'reader' },
  })
  const scopes = ['account', 'projects', 'tasks', 'conversations', 'files', 'sessions', 'gateway'].map(
    (part) => `${part}:read`,
  )
  const token = made(
    await world.ask<{ id: string; token: string }>('POST', '/api/tokens', { as, body: { name: 't', scopes } }),
  )
  const linkToken = await world.call<string>('passwordLink', as.id)
  const invitationId = await world.call<string>('invite', as.id, `invited-${++people}@example.org`)
  const signIns = await world.ask<{ id: string; is_current: boolean }[]>('GET', '/api/account/sign-ins', {
    as: await world.signIn(as.email),
  })
  if (role !== 'developer') await world.call('setRole', as.id, role)
  const { id: keyId, key: value } = key.body
  return {
    ...as,
    keyId,
    key: value,
    sessionId: session.body.id,
    projectId: project.id,
    taskId: task.id,
    messageId: message.body.id,
    fileId: file.body.id,
    tokenId: token.id,
    signInId: signIns.body.find(({ is_current }) => is_current)!.id,
    token: token.token,
    linkToken,
    invitationId,
    memberId: member.body.id,
  }
}

/** A good request of each route, typed by hand; ids are those of what `owner` has. */
export const requestsOf = ({
  id,
  email,
  refresh,
  keyId,
  sessionId,
  projectId,
  taskId,
  messageId,
  fileId,
  tokenId,
  linkToken,
  invitationId,
  signInId,
  memberId,
}: Owner): Record<string, Sent> => ({
  'POST /api/auth': { path: '/api/auth', body: { email, password: PASSWORD } },
  'PUT /api/auth': { path: '/api/auth', body: { refresh_token: refresh } },
  'DELETE /api/auth': { path: '/api/auth' },
  'GET /api/auth/session': { path: '/api/auth/session' },
  'GET /api/auth/options': { path: '/api/auth/options' },
  'POST /api/auth/forgotten': { path: '/api/auth/forgotten', body: { email: `made-${++people}@example.org` } },
  'POST /api/auth/sign-up': { path: '/api/auth/sign-up', body: { email: `made-${++people}@example.org` } },
  'POST /api/auth/link': { path: '/api/auth/link', body: { token: linkToken } },
  'PUT /api/auth/link': { path: '/api/auth/link', body: { token: linkToken, password: PASSWORD } },
  'POST /api/auth/providers/{provider}': { path: '/api/auth/providers/unknown', body: { returnTo: '/console' } },
  'GET /api/auth/callback/{provider}': { path: '/api/auth/callback/unknown' },
  'POST /api/auth/sign-out': { path: '/api/auth/sign-out' },
  'GET /.well-known/jwks.json': { path: '/.well-known/jwks.json' },
  'GET /api/account': { path: '/api/account' },
  'DELETE /api/account': { path: '/api/account' },
  'PATCH /api/account/role': { path: '/api/account/role', body: { role: 'developer' } },
  'PUT /api/account/password': {
    path: '/api/account/password',
    body: { current: PASSWORD, password: 'battery staple' },
  },
  'GET /api/account/balance': { path: '/api/account/balance' },
  'GET /api/account/limits': { path: '/api/account/limits' },
  'GET /api/account/shares': { path: '/api/account/shares' },
  'GET /api/usage': { path: '/api/usage?by=model' },
  'POST /api/users': { path: '/api/users', body: { email: `made-${++people}@example.org`, password: PASSWORD } },
  'GET /api/users': { path: '/api/users?limit=1' },
  'GET /api/users/{id}': { path: `/api/users/${id}` },
  'PATCH /api/users/{id}': { path: `/api/users/${id}`, body: { firstName: 'Eve' } },
  'DELETE /api/users/{id}': { path: `/api/users/${id}` },
  'POST /api/users/{id}/restore': { path: `/api/users/${id}/restore` },
  'PUT /api/users/{id}/password': { path: `/api/users/${id}/password`, body: { password: PASSWORD } },
  'POST /api/users/{id}/password-link': { path: `/api/users/${id}/password-link` },
  'POST /api/invitations': { path: '/api/invitations', body: { email: `made-${++people}@example.org` } },
  'GET /api/invitations': { path: '/api/invitations' },
  'DELETE /api/invitations/{id}': { path: `/api/invitations/${invitationId}` },
  'GET /api/account/sign-ins': { path: '/api/account/sign-ins' },
  'DELETE /api/account/sign-ins/{id}': { path: `/api/account/sign-ins/${signInId}` },
  'GET /api/users/{id}/sign-ins': { path: `/api/users/${id}/sign-ins` },
  'DELETE /api/users/{id}/sign-ins/{signInId}': { path: `/api/users/${id}/sign-ins/${signInId}` },
  'DELETE /api/users/{id}/sign-ins': { path: `/api/users/${id}/sign-ins` },
  'GET /api/users/{id}/balance': { path: `/api/users/${id}/balance` },
  'PATCH /api/users/{id}/balance': { path: `/api/users/${id}/balance`, body: { creditCoins: 9 } },
  'POST /api/users/{id}/balance': { path: `/api/users/${id}/balance`, body: { creditCoins: 9 } },
  'POST /api/keys': { path: '/api/keys', body: { name: 'k' } },
  'GET /api/keys': { path: '/api/keys' },
  'GET /api/keys/usage': { path: '/api/keys/usage' },
  'PATCH /api/keys/{id}': { path: `/api/keys/${keyId}`, body: { name: 'kk' } },
  'POST /api/keys/{id}/rotate': { path: `/api/keys/${keyId}/rotate` },
  'GET /api/keys/{id}/end-users': { path: `/api/keys/${keyId}/end-users` },
  'PATCH /api/keys/{id}/end-users/{endUser}': {
    path: `/api/keys/${keyId}/end-users/ada`,
    body: { rateLimit: 5 },
  },
  'DELETE /api/keys/{id}/end-users/{endUser}': { path: `/api/keys/${keyId}/end-users/ada` },
  'DELETE /api/keys/{id}': { path: `/api/keys/${keyId}` },
  'POST /api/tokens': { path: '/api/tokens', body: { name: 't', scopes: ['tasks:read'] } },
  'GET /api/tokens': { path: '/api/tokens' },
  'DELETE /api/tokens/{id}': { path: `/api/tokens/${tokenId}` },
  'POST /api/sessions': { path: '/api/sessions', body: { label: 'l' } },
  'GET /api/sessions': { path: '/api/sessions' },
  'GET /api/sessions/{id}': { path: `/api/sessions/${sessionId}` },
  'GET /api/projects': { path: '/api/projects' },
  'POST /api/projects': { path: '/api/projects', body: { name: 'A' } },
  'GET /api/projects/{id}': { path: `/api/projects/${projectId}` },
  'PATCH /api/projects/{id}': { path: `/api/projects/${projectId}`, body: { name: 'B' } },
  'DELETE /api/projects/{id}': { path: `/api/projects/${projectId}` },
  'GET /api/projects/{id}/members': { path: `/api/projects/${projectId}/members` },
  'PUT /api/projects/{id}/members': {
    path: `/api/projects/${projectId}/members`,
    body: { email: `made-${++people}@example.org`, role: 'editor' },
  },
  'DELETE /api/projects/{id}/members/{memberId}': { path: `/api/projects/${projectId}/members/${memberId}` },
  'POST /api/projects/{id}/members/{memberId}/accept': {
    path: `/api/projects/${projectId}/members/${memberId}/accept`,
  },
  'GET /api/projects/{id}/team': { path: `/api/projects/${projectId}/team` },
  'GET /api/projects/{id}/spend': { path: `/api/projects/${projectId}/spend` },
  'GET /api/projects/{id}/conversation': { path: `/api/projects/${projectId}/conversation` },
  'DELETE /api/projects/{id}/conversation': { path: `/api/projects/${projectId}/conversation` },
  'POST /api/projects/{id}/conversation/messages': {
    path: `/api/projects/${projectId}/conversation/messages`,
    body: { text: 'Hi' },
  },
  'GET /api/projects/{id}/conversation/messages/{messageId}': {
    path: `/api/projects/${projectId}/conversation/messages/${messageId}`,
  },
  'POST /api/projects/{id}/conversation/messages/{messageId}/stop': {
    path: `/api/projects/${projectId}/conversation/messages/${messageId}/stop`,
  },
  'GET /api/projects/{id}/conversation/messages/{messageId}/files/{fileId}': {
    path: `/api/projects/${projectId}/conversation/messages/${messageId}/files/${fileId}`,
  },
  'POST /api/projects/{id}/conversation/reply': { path: `/api/projects/${projectId}/conversation/reply` },
  'GET /api/projects/{id}/conversation/spend': { path: `/api/projects/${projectId}/conversation/spend` },
  'GET /api/tasks': { path: `/api/tasks?projectId=${projectId}` },
  'POST /api/tasks': { path: '/api/tasks', body: { projectId, title: 'A' } },
  'GET /api/tasks/{id}': { path: `/api/tasks/${taskId}` },
  'DELETE /api/tasks/{id}': { path: `/api/tasks/${taskId}` },
  'PATCH /api/tasks/{id}': { path: `/api/tasks/${taskId}`, body: { status: 'done' } },
  'GET /api/tasks/{id}/revisions': { path: `/api/tasks/${taskId}/revisions` },
  'GET /api/tasks/{id}/status': { path: `/api/tasks/${taskId}/status` },
  'GET /api/tasks/{id}/spend': { path: `/api/tasks/${taskId}/spend` },
  'GET /api/results': { path: `/api/results?projectId=${projectId}` },
  'GET /api/results/{id}': { path: `/api/results/${taskId}` },
  'GET /api/user-files': { path: '/api/user-files' },
  'POST /api/user-files': { path: '/api/user-files', body: newFile() },
  'GET /api/user-files/{id}': { path: `/api/user-files/${fileId}` },
  'PATCH /api/user-files/{id}': { path: `/api/user-files/${fileId}`, body: { displayName: 'b' } },
  'DELETE /api/user-files/{id}': { path: `/api/user-files/${fileId}?permanent=true` },
  'POST /api/user-files/{id}/restore': { path: `/api/user-files/${fileId}/restore` },
  'GET /api/user-files/{id}/content': { path: `/api/user-files/${fileId}/content` },
  'GET /api/teams': { path: '/api/teams' },
  'GET /api/openapi.json': { path: '/api/openapi.json' },
})

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { content: Record<string, unknown> }
        responses: Record<string, { content?: Record<string, unknown> }>
      }
    >
  >
}

/** Routes below {@link overlayPath} that a gateway has by itself. */
const ofGateway = ['GET /admin/providers', 'POST /admin/providers/{id}/probe']

/**
 * The routes of an OpenAPI document of docs/openapi, such as `GET /api/keys/{id}`, without the pages of the reference server.
 * @param options.withOverlay whether with what the package `turnpike` adds to a gateway; default without
 */
export function documented(name: 'gateway' | 'platform', { withJson = false, withOverlay = false } = {}): string[] {
  const text = readFileSync(new URL(`../../docs/openapi/${name}.json`, import.meta.url), 'utf8')
  return Object.entries((JSON.parse(text) as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { responses }]) => !responses['200']?.content?.['text/html'])
      .filter(([, { requestBody }]) => !withJson || requestBody?.content['application/json'])
      .map(([method]) => `${method.toUpperCase()} ${path}`)
      .filter((route) => withOverlay || !overlayPath.test(path) || ofGateway.includes(route)),
  )
}
