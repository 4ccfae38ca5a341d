import { expect, it } from 'vitest'
import { newTask, newProject } from './work.js'
import type { SignedIn, World } from './world.js'
import { chat, uuid, withCookie, worldSuite } from './world.js'

interface Usage {
  total_tokens: number
  records: { session_id: string; tokens: number; [field: string]: unknown }[]
}

const shaped = (type: string, code: string): object => ({
  error: { type, code, message: expect.any(String) as string },
})
/** A session, a project and a task of somebody. */
async function newTags(world: World, as: SignedIn): Promise<{ session: string; project: string; task: string }> {
  const session = await world.ask<{ id: string }>('POST', '/api/sessions', { as, body: {} })
  const project = await newProject(world, as)
  return { session: session.body.id, project: project.id, task: (await newTask(world, as, project.id)).id }
}

const V1 = '/api/gateway/v1'

worldSuite('the gateway for browsers', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  let administrator: Promise<SignedIn> | undefined
  const usageOf = async (id: string): Promise<Usage> => {
    const as = await (administrator ??= world().signedIn('admin'))
    return (await ask<Usage>('GET', `/v1/users/${id}/usage`, { as })).body
  }
  const sameOrigin = ({ cookie }: SignedIn, more: Record<string, string> = {}) =>
    withCookie(cookie, { 'sec-fetch-site': 'same-origin', ...more })
  const complete = (options: object) => ask<object>('POST', `${V1}/chat/completions`, { body: chat, ...options })

  it('#167 needs a session', async () => {
    for (const as of [undefined, 'nonsense', 'a.b.c']) {
      const { status, body, headers } = await complete({ as })
      expect([status, body, headers.get('www-authenticate')]).toEqual([
        401,
        shaped('authentication_error', 'invalid_api_key'),
        'Bearer',
      ])
      expect(headers.get('x-request-id')).toEqual(uuid)
    }
    expect(
      (await complete({ headers: { cookie: '__Host-session=nonsense', 'sec-fetch-site': 'same-origin' } })).status,
    ).toBe(401)
    expect(world().upstream.requests).toHaveLength(0)
  })

  it('#168 takes the cookie, and counts for its user', async () => {
    const as = await world().signedIn('user', true)
    const byCookie = await complete(sameOrigin(as))
    expect([byCookie.status, byCookie.body]).toMatchObject([200, { object: 'chat.completion' }])
    expect((await usageOf(as.id)).records).toHaveLength(1)
    expect((await complete({ as })).status).toBe(200)
    const { records, total_tokens } = await usageOf(as.id)
    expect(records).toHaveLength(2)
    expect(total_tokens).toBe(records.reduce((sum, { tokens }) => sum + tokens, 0))
    expect((await ask<{ data: object[] }>('GET', `${V1}/models`, { as })).body.data.length).toBeGreaterThan(1)
  })

  it('#169 takes no gateway key', async () => {
    const as = await world().signedIn('developer')
    const { key } = (await world().newKey(as)).body
    expect(await complete({ as: key })).toMatchObject({
      status: 401,
      body: shaped('authentication_error', 'invalid_api_key'),
    })
    const cookie = await world().signedIn('user', true)
    // A bearer token counts before a cookie.
    expect((await complete({ as: key, ...sameOrigin(cookie) })).status).toBe(401)
  })

  it('#170 counts for nobody else, whatever a client sends', async () => {
    const [as, other] = [await world().signedIn('user'), await world().signedIn('user')]
    const tags = await newTags(world(), other)
    const headers = {
      'x-user-id': other.id,
      'x-session-id': tags.session,
      'x-project-id': tags.project,
      'x-task-id': tags.task,
    }
    const body = { ...chat, user: other.id }
    expect((await ask('POST', `${V1}/chat/completions?user=${other.id}`, { as, body, headers })).status).toBe(200)
    expect((await usageOf(other.id)).records).toEqual([])
    expect((await usageOf(as.id)).records).toHaveLength(1)
    expect((await ask('GET', `/api/sessions/${tags.session}`, { as: other })).body).toMatchObject({ request_count: 0 })
    expect((await ask('GET', `/api/projects/${tags.project}/spend`, { as: other })).body).toMatchObject({ requests: 0 })
    const own = await newTags(world(), as)
    await complete({ as, headers: { 'x-session-id': own.session, 'x-project-id': own.project } })
    expect((await ask('GET', `/api/sessions/${own.session}`, { as })).body).toMatchObject({ request_count: 1 })
    expect((await ask('GET', `/api/projects/${own.project}/spend`, { as })).body).toMatchObject({ requests: 1 })
  })

  it('#171 streams', async () => {
    const as = await world().signedIn('user', true)
    const { status, body, headers } = await ask<string>('POST', `${V1}/chat/completions`, {
      body: { ...chat, stream: true },
      ...sameOrigin(as),
    })
    expect([status, headers.get('content-type'), headers.get('x-request-id')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      uuid,
    ])
    expect(body).toMatch(/^data: \{.*\n\n(.*\n\n)*data: \[DONE\]\n\n$/)
    expect((await usageOf(as.id)).records).toHaveLength(1)
  })

  it('#172 has neither users, nor routes for administrators or anybody', async () => {
    const as = await world().signedIn('admin')
    for (const [method, path] of [
      ['GET', `${V1}/users`],
      ['POST', `${V1}/users`],
      ['GET', `${V1}/users/${as.id}`],
      ['DELETE', `${V1}/users/${as.id}`],
      ['GET', `${V1}/users/${as.id}/usage`],
      ['GET', `${V1}/openapi.json`],
      ['GET', `${V1}/nothing`],
      ['GET', `${V1}/`],
      ['GET', `${V1}/../users`],
    ] as const) {
      const reply = await ask(method, path, { as, ...(method === 'POST' && { body: {} }) })
      const isNormalised = path.includes('..')
      expect([reply.status, reply.body], path).toEqual([
        404,
        isNormalised ? { error: expect.any(String) as string } : shaped('not_found_error', 'not_found'),
      ])
      expect(reply.headers.get('x-request-id')).toEqual(uuid)
    }
    for (const path of ['/api/gateway/admin/metrics', '/api/gateway/health', '/api/gateway', '/api/gateway/v1'])
      expect((await ask('GET', path, { as })).status, path).toBe(404)
    expect((await ask('PUT', `${V1}/chat/completions`, { as, body: chat })).status).toBe(405)
  })

  it('#173 shows no key to the browser', async () => {
    const as = await world().signedIn('user', true)
    for (const body of [chat, { ...chat, stream: true }, { ...chat, model: 'nothing' }, {}]) {
      const reply = await ask<unknown>('POST', `${V1}/chat/completions`, { body, ...sameOrigin(as) })
      const seen = JSON.stringify([[...reply.headers], reply.body])
      for (const secret of ['sk-upstream', 'gw-', as.access, as.cookie!.split('=')[1]!])
        expect(seen).not.toContain(secret)
      expect(reply.headers.get('set-cookie')).toBeNull()
      // No cache keeps what is answered to somebody.
      expect(Object.fromEntries(reply.headers)).toMatchObject({
        'cache-control': expect.stringContaining('private, no-store') as string,
        vary: 'Cookie, Authorization',
        'x-content-type-options': 'nosniff',
      })
    }
  })

  it('#174 sends neither cookie nor token to the upstream', async () => {
    const as = await world().signedIn('user', true)
    const before = world().upstream.requests.length
    await complete(sameOrigin(as, { 'x-api-key': as.access, 'proxy-authorization': `Bearer ${as.access}` }))
    await complete({ as })
    const sent = world().upstream.requests.slice(before)
    expect(sent).toHaveLength(2)
    for (const request of sent) {
      const all = JSON.stringify(request)
      expect(request.headers['authorization']).toBe('Bearer sk-upstream')
      for (const secret of [as.access, as.cookie!.split('=')[1]!, '__Host-session']) expect(all).not.toContain(secret)
    }
  })

  it('refuses what another site sends with the cookie, in the form of the gateway', async () => {
    const as = await world().signedIn('user', true)
    for (const from of [
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: world().url },
      { origin: 'https://evil.example' },
      {},
    ] as Record<string, string>[]) {
      const reply = await complete(withCookie(as.cookie, from))
      expect([reply.status, reply.body], JSON.stringify(from)).toEqual([403, shaped('permission_error', 'forbidden')])
      expect(reply.headers.get('x-request-id')).toEqual(uuid)
    }
    expect((await complete({ as, headers: { 'sec-fetch-site': 'cross-site' } })).status).toBe(200)
    expect(
      (await complete({ ...sameOrigin(as), headers: { ...sameOrigin(as).headers, 'content-type': 'text/plain' } }))
        .status,
    ).toBe(400)
  })

  it('has the errors of the gateway', async () => {
    const as = await world().signedIn('user')
    expect(await complete({ as, body: '{' })).toMatchObject({
      status: 400,
      body: shaped('invalid_request_error', 'invalid_json'),
    })
    const none = { error: { message: 'There is no such model', code: 'model_not_found' } }
    world().fault = () => ({ status: 404, headers: {}, body: JSON.stringify(none) })
    try {
      expect(await complete({ as, body: { ...chat, model: 'nothing' } })).toMatchObject({
        status: 400,
        body: shaped('invalid_request_error', 'model_not_found'),
      })
      world().fault = () => ({ status: 500, headers: {}, body: '{}' })
      expect(await complete({ as })).toMatchObject({ status: 502, body: shaped('upstream_error', 'upstream_error') })
    } finally {
      world().fault = undefined
    }
  })

  it('allows pages of other origins nothing', async () => {
    const as = await world().signedIn('user')
    const headers = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const preflight = await ask('OPTIONS', `${V1}/chat/completions`, { headers })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, null])
    const reply = await complete({ as, headers })
    expect(reply.headers.get('access-control-allow-origin')).toBeNull()
  })
})
