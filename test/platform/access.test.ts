import { afterEach, expect, it } from 'vitest'
import type { Owner } from './requests.js'
import { documented, newOwner, requestsOf } from './requests.js'
import { newMember } from './work.js'
import type { SignedIn } from './world.js'
import { chat, worldSuite } from './world.js'

// The ids in the paths are those of the owner, a developer, whose token may read all that tokens may; everybody else asks for what is somebody else's. Its project is shared with
// the reader and the editor, who are users.
const columns = [
  'anonymous',
  'expired',
  'deleted',
  'gateway key',
  'other user',
  'developer',
  'owner',
  'admin',
  'reading token',
  'reader',
  'editor',
] as const

/** The expected status of each route for each of {@link columns}. */
const expected: Record<string, number[]> = {
  // Whoever has the e-mail and password or the refresh token, which is in the body.
  'POST /api/auth': [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'PUT /api/auth': [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'DELETE /api/auth': [401, 401, 401, 401, 204, 204, 204, 204, 403, 204, 204],
  'GET /api/auth/session': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /api/auth/options': [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'POST /api/auth/forgotten': [204, 204, 204, 204, 204, 204, 204, 204, 204, 204, 204],
  'POST /api/auth/sign-up': [204, 204, 204, 204, 204, 204, 204, 204, 204, 204, 204],
  // Whoever has a link, which works once: this one is nobody's.
  'POST /api/auth/link': [404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404],
  'PUT /api/auth/link': [404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404],
  // There is no such provider.
  'POST /api/auth/providers/{provider}': [404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404],
  'GET /api/auth/callback/{provider}': [404, 404, 404, 404, 404, 404, 404, 404, 404, 404, 404],
  'POST /api/auth/sign-out': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /.well-known/jwks.json': [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'GET /api/account': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'DELETE /api/account': [401, 401, 401, 401, 204, 204, 204, 204, 403, 204, 204],
  'PATCH /api/account/role': [401, 401, 401, 401, 403, 200, 200, 200, 403, 403, 403],
  'PUT /api/account/password': [401, 401, 401, 401, 204, 204, 204, 204, 403, 204, 204],
  'GET /api/account/sign-ins': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'DELETE /api/account/sign-ins/{id}': [401, 401, 401, 401, 404, 404, 204, 404, 403, 404, 404],
  'GET /api/users/{id}/sign-ins': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'DELETE /api/users/{id}/sign-ins/{signInId}': [401, 401, 401, 401, 403, 403, 403, 204, 403, 403, 403],
  'DELETE /api/users/{id}/sign-ins': [401, 401, 401, 401, 403, 403, 403, 204, 403, 403, 403],
  'GET /api/account/balance': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'GET /api/account/limits': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'GET /api/account/shares': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /api/usage': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'POST /api/users': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'GET /api/users': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'GET /api/users/{id}': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'PATCH /api/users/{id}': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'DELETE /api/users/{id}': [401, 401, 401, 401, 403, 403, 403, 204, 403, 403, 403],
  'POST /api/users/{id}/restore': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'PUT /api/users/{id}/password': [401, 401, 401, 401, 403, 403, 403, 204, 403, 403, 403],
  'POST /api/invitations': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'GET /api/invitations': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'DELETE /api/invitations/{id}': [401, 401, 401, 401, 403, 403, 403, 204, 403, 403, 403],
  'POST /api/users/{id}/password-link': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'GET /api/users/{id}/balance': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'PATCH /api/users/{id}/balance': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'POST /api/users/{id}/balance': [401, 401, 401, 401, 403, 403, 403, 200, 403, 403, 403],
  'POST /api/keys': [401, 401, 401, 401, 403, 200, 200, 200, 403, 403, 403],
  'GET /api/keys': [401, 401, 401, 401, 403, 200, 200, 200, 403, 403, 403],
  'GET /api/keys/usage': [401, 401, 401, 401, 403, 200, 200, 200, 403, 403, 403],
  'PATCH /api/keys/{id}': [401, 401, 401, 401, 403, 404, 200, 200, 403, 403, 403],
  'POST /api/keys/{id}/rotate': [401, 401, 401, 401, 403, 404, 200, 404, 403, 403, 403],
  'GET /api/keys/{id}/end-users': [401, 401, 401, 401, 403, 404, 200, 404, 403, 403, 403],
  'PATCH /api/keys/{id}/end-users/{endUser}': [401, 401, 401, 401, 403, 404, 200, 404, 403, 403, 403],
  'DELETE /api/keys/{id}/end-users/{endUser}': [401, 401, 401, 401, 403, 404, 204, 404, 403, 403, 403],
  'DELETE /api/keys/{id}': [401, 401, 401, 401, 403, 404, 204, 404, 403, 403, 403],
  'POST /api/tokens': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /api/tokens': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'DELETE /api/tokens/{id}': [401, 401, 401, 401, 404, 404, 204, 404, 403, 404, 404],
  'POST /api/sessions': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /api/sessions': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'GET /api/sessions/{id}': [401, 401, 401, 401, 404, 404, 200, 404, 200, 404, 404],
  'GET /api/projects': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'POST /api/projects': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /api/projects/{id}': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'PATCH /api/projects/{id}': [401, 401, 401, 401, 403, 403, 200, 403, 403, 403, 403],
  'DELETE /api/projects/{id}': [401, 401, 401, 401, 403, 403, 204, 403, 403, 403, 403],
  'GET /api/projects/{id}/members': [401, 401, 401, 401, 404, 404, 200, 404, 403, 200, 200],
  'PUT /api/projects/{id}/members': [401, 401, 401, 401, 404, 404, 200, 404, 403, 403, 403],
  'DELETE /api/projects/{id}/members/{memberId}': [401, 401, 401, 401, 404, 404, 204, 404, 403, 403, 403],
  // Whoever has the e-mail: here, nobody.
  'POST /api/projects/{id}/members/{memberId}/accept': [401, 401, 401, 401, 404, 404, 404, 404, 403, 404, 404],
  'GET /api/projects/{id}/team': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/projects/{id}/spend': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/projects/{id}/conversation': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'DELETE /api/projects/{id}/conversation': [401, 401, 401, 401, 404, 404, 204, 404, 403, 403, 204],
  'POST /api/projects/{id}/conversation/messages': [401, 401, 401, 401, 404, 404, 200, 404, 403, 403, 200],
  'GET /api/projects/{id}/conversation/messages/{messageId}': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'POST /api/projects/{id}/conversation/messages/{messageId}/stop': [
    401, 401, 401, 401, 404, 404, 200, 404, 403, 403, 200,
  ],
  'GET /api/projects/{id}/conversation/messages/{messageId}/files/{fileId}': [
    401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200,
  ],
  'POST /api/projects/{id}/conversation/reply': [401, 401, 401, 401, 404, 404, 200, 404, 403, 403, 200],
  'GET /api/projects/{id}/conversation/spend': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/tasks': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'POST /api/tasks': [401, 401, 401, 401, 404, 404, 200, 404, 403, 403, 200],
  'GET /api/tasks/{id}': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'DELETE /api/tasks/{id}': [401, 401, 401, 401, 403, 403, 204, 403, 403, 403, 403],
  'PATCH /api/tasks/{id}': [401, 401, 401, 401, 403, 403, 200, 403, 403, 403, 200],
  'GET /api/tasks/{id}/revisions': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/tasks/{id}/status': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/tasks/{id}/spend': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/results': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/results/{id}': [401, 401, 401, 401, 404, 404, 200, 404, 200, 200, 200],
  'GET /api/user-files': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'POST /api/user-files': [401, 401, 401, 401, 200, 200, 200, 200, 403, 200, 200],
  'GET /api/user-files/{id}': [401, 401, 401, 401, 404, 404, 200, 404, 200, 404, 404],
  'PATCH /api/user-files/{id}': [401, 401, 401, 401, 404, 404, 200, 404, 403, 404, 404],
  'DELETE /api/user-files/{id}': [401, 401, 401, 401, 404, 404, 204, 404, 403, 404, 404],
  'POST /api/user-files/{id}/restore': [401, 401, 401, 401, 404, 404, 200, 404, 403, 404, 404],
  // It is public; that of a private file is refused without its signature (files.test.ts).
  'GET /api/user-files/{id}/content': [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
  'GET /api/teams': [401, 401, 401, 401, 200, 200, 200, 200, 200, 200, 200],
  'GET /api/openapi.json': [200, 200, 200, 200, 200, 200, 200, 200, 200, 200, 200],
}

/** Statuses of the gateway's routes for an access token in place of a gateway key: of a developer and of an administrator. */
const onGateway: Record<string, [developer: number, admin: number]> = {
  'POST /v1/chat/completions': [401, 401],
  'POST /v1/embeddings': [401, 401],
  'POST /v1/images/generations': [401, 401],
  'POST /v1/audio/speech': [401, 401],
  'POST /v1/audio/transcriptions': [401, 401],
  'GET /v1/models': [401, 401],
  'GET /v1/models/{model}': [401, 401],
  'GET /v1/users': [403, 200],
  'POST /v1/users': [403, 200],
  'GET /v1/users/{id}': [403, 200],
  'DELETE /v1/users/{id}': [403, 204],
  'GET /v1/users/{id}/usage': [403, 200],
  'GET /health/providers': [403, 200],
  'GET /health': [200, 200],
  'GET /admin/metrics': [403, 200],
  'GET /admin/providers': [403, 200],
  'GET /admin/pricing': [403, 200],
  'GET /admin/users/summary': [403, 200],
  'GET /admin/balancer': [403, 200],
  'POST /admin/providers/{id}/probe': [403, 200],
  'POST /admin/balancer/simulate': [403, 200],
  'GET /admin/usage': [403, 200],
  'GET /admin/usage/hours': [403, 200],
  'GET /admin/keys': [403, 200],
  'DELETE /admin/keys/{id}': [403, 204],
  'GET /admin/audit': [403, 200],
  'GET /admin/failed-requests': [403, 200],
  'GET /admin/failed-requests/{id}': [403, 404],
  'GET /admin/events': [403, 200],
  'GET /metrics': [403, 200],
  'GET /v1/openapi.json': [200, 200],
  'GET /': [200, 200],
}

/** The queries of the gateway's routes that need one. */
const queries: Record<string, string> = {
  '/admin/usage': '?by=user',
  '/admin/usage/hours': '?by=user&id=x',
}

worldSuite('access', (world) => {
  /** What those whom nobody lets in send as bearer token. */
  let outside: Record<'anonymous' | 'expired' | 'deleted' | 'gateway key', string | undefined> | undefined
  const outsiders = async () => {
    if (outside) return outside
    const expired = await world().signedIn('admin')
    await world().advance(900_000)
    const [deleted, keyOwner, root] = [
      await world().signedIn('admin'),
      await newOwner(world(), 'admin'),
      await world().signedIn('admin'),
    ]
    // The deleted one has been seen, so that it is in all caches.
    expect((await world().ask('GET', '/api/account', { as: deleted })).status).toBe(200)
    expect((await world().ask('DELETE', `/api/users/${deleted.id}`, { as: root })).status).toBe(204)
    return (outside = {
      anonymous: undefined,
      expired: expired.access,
      deleted: deleted.access,
      'gateway key': keyOwner.key,
    })
  }
  let inside: (Record<'user' | 'developer' | 'admin' | 'reader' | 'editor', SignedIn> & { owner: Owner }) | undefined
  /** Those who are signed in: the same for routes that only read or add. */
  const everybody = async () => {
    if (inside) return inside
    const owner = await newOwner(world())
    return (inside = {
      owner,
      user: await world().signedIn('user', true),
      developer: await world().signedIn('developer', true),
      admin: await world().signedIn('admin', true),
      reader: await newMember(world(), owner, owner.projectId, 'reader'),
      editor: await newMember(world(), owner, owner.projectId, 'editor'),
    })
  }
  afterEach(() => {
    const { currentTestName = '' } = expect.getState()
    if (/ (PUT|PATCH|DELETE) | \/api\/auth\/sign-out$/.test(currentTestName)) inside = undefined
  })

  it('is expected of each route', () => {
    expect(Object.keys(expected).toSorted()).toEqual(documented('platform').toSorted())
    expect(Object.keys(onGateway).toSorted()).toEqual(documented('gateway').toSorted())
  })

  it.each(Object.entries(expected))('%s', async (route, statuses) => {
    const outside = await outsiders()
    const { user, owner, ...people } = await everybody()
    const tokens = { ...outside, 'other user': user, owner, ...people, 'reading token': owner.token }
    const [got, others]: [Record<string, number>, unknown[]] = [{}, []]
    // Those who are refused ask first, before anything is changed or gone.
    const isLet = (name: (typeof columns)[number]): number => Number(statuses[columns.indexOf(name)]! < 400)
    for (const name of columns.toSorted((one, other) => isLet(one) - isLet(other))) {
      const { path, body } = requestsOf({ ...owner, linkToken: 'none' })[route]!
      const reply = await world().ask<object>(route.split(' ')[0]!, path, { as: tokens[name], body })
      got[name] = reply.status
      if (reply.status >= 400 && Object.keys(reply.body).join() !== 'error') others.push(reply.body)
    }
    expect(got).toEqual(Object.fromEntries(columns.map((name, i) => [name, statuses[i]])))
    expect(others, 'error bodies of another shape').toEqual([])
  })

  it.each(Object.entries(onGateway))('%s with an access token', async (route, statuses) => {
    const { owner, developer, admin } = await everybody()
    const [method, template] = route.split(' ') as [string, string]
    const ids: Record<string, string> = { keys: owner.keyId, providers: 'openai' }
    const path =
      template
        .replace(/(\w+)\/\{id\}/, (_, of: string) => `${of}/${ids[of] ?? owner.id}`)
        .replace('{model}', 'gpt-4o-mini') + (queries[template] ?? '')
    const body = JSON.stringify(template.endsWith('/simulate') ? chat : { email: `by-${owner.id}@example.org` })
    const got: number[] = []
    for (const { access } of [developer, admin]) {
      const controller = new AbortController()
      const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' }
      const sent = { method, headers, body: method === 'POST' ? body : null, signal: controller.signal }
      got.push((await fetch(`${world().url}${path}`, sent)).status)
      // The events of requests are a stream without an end.
      controller.abort()
    }
    expect(got).toEqual(statuses)
  })

  it('is the same by cookie', async () => {
    const { owner, ...others } = await everybody()
    const statuses: Record<string, number[]> = {}
    for (const route of [
      'GET /api/users/{id}',
      'PATCH /api/users/{id}',
      'DELETE /api/keys/{id}',
      'GET /api/sessions/{id}',
      'GET /api/projects/{id}',
      'PATCH /api/projects/{id}',
      'POST /api/tasks',
      'PATCH /api/tasks/{id}',
    ]) {
      const { path, body } = requestsOf(owner)[route]!
      statuses[route] = []
      for (const { cookie } of [others.user, others.developer, others.admin]) {
        const headers = { cookie: cookie!, 'sec-fetch-site': 'same-origin' }
        statuses[route].push((await world().ask(route.split(' ')[0]!, path, { headers, body })).status)
      }
    }
    expect(statuses).toEqual({
      'GET /api/users/{id}': [403, 403, 200],
      'PATCH /api/users/{id}': [403, 403, 200],
      'DELETE /api/keys/{id}': [403, 404, 404],
      'GET /api/sessions/{id}': [404, 404, 404],
      'GET /api/projects/{id}': [404, 404, 404],
      'PATCH /api/projects/{id}': [403, 403, 403],
      'POST /api/tasks': [404, 404, 404],
      'PATCH /api/tasks/{id}': [403, 403, 403],
    })
  })
})
