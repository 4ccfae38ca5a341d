import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { base64url, decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runtime } from '../support/runtime.js'
import { newOwner, requestsOf } from './requests.js'
import type { Reply, World } from './world.js'
import { PASSWORD, startWorld, worldSuite } from './world.js'

const MINUTE = 60_000
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

worldSuite('threats', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const account = async (headers: Record<string, string>): Promise<number> =>
    (await ask('GET', '/api/account', { headers })).status
  const bearer = (token: string) => account({ authorization: `Bearer ${token}` })
  let nobodies = 0
  const signIn = (at: World, from: string): Promise<Reply> =>
    at.ask('POST', '/api/auth', {
      body: { email: `nobody-${++nobodies}@example.org`, password: PASSWORD },
      headers: { 'x-forwarded-for': from },
    })

  it('threat 16: IDOR, does not tell what is of somebody else from what is not there', async () => {
    const [ada, eve] = [await newOwner(world()), await newOwner(world(), 'admin')]
    const nothing = '00000000-0000-7000-8000-00000000ffff'
    const { keyId, sessionId, projectId, taskId } = ada
    for (const [method, path, id] of [
      ['DELETE', '/api/keys/', keyId],
      ['GET', '/api/sessions/', sessionId],
      ['GET', '/api/projects/', projectId],
      ['GET', '/api/tasks/', taskId],
      ['GET', '/api/tasks?projectId=', projectId],
      ['GET', '/api/results/', taskId],
      ['GET', '/api/results?projectId=', projectId],
    ] as const) {
      const [foreign, missing] = [
        await ask(method, path + id, { as: eve }),
        await ask(method, path + nothing, { as: eve }),
      ]
      expect([path, foreign.status, foreign.body]).toEqual([path, 404, missing.body])
    }
    for (const path of ['conversation', 'team', 'spend', 'conversation/spend'])
      expect((await ask('GET', `/api/projects/${projectId}/${path}`, { as: eve })).status).toBe(404)
    for (const path of ['revisions', 'status', 'spend'])
      expect((await ask('GET', `/api/tasks/${taskId}/${path}`, { as: eve })).status).toBe(404)
    const task = (id: string) => ask('POST', '/api/tasks', { as: eve, body: { projectId: id, title: 'A' } })
    expect(await task(projectId)).toMatchObject({ status: 404, body: (await task(nothing)).body })
    // Nor is it in a list that is asked for by its id, or that of its owner.
    const hers = [keyId, sessionId, projectId]
    const queries = hers.flatMap((id) => [`?after=${id}`, `?id=${id}`])
    for (const query of [...queries, `?user_id=${ada.id}`, `?userId=${ada.id}`])
      for (const path of ['/api/sessions', '/api/keys', '/api/projects'])
        expect(JSON.stringify((await ask('GET', path + query, { as: eve })).body)).not.toMatch(
          new RegExp([ada.id, ...hers].join('|')),
        )
    // Nor is it counted in.
    const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
    const headers = { 'x-session-id': sessionId, 'x-project-id': projectId, 'x-task-id': taskId }
    await ask('POST', '/v1/chat/completions', { as: eve.key, body, headers })
    expect((await ask('GET', `/api/sessions/${sessionId}`, { as: ada })).body).toMatchObject({ request_count: 0 })
    for (const path of [`/api/projects/${projectId}/spend`, `/api/tasks/${taskId}/spend`])
      expect((await ask('GET', path, { as: ada })).body).toMatchObject({ requests: 0, total_tokens: 0, cost_usd: 0 })
    expect((await ask('GET', '/v1/models', { as: ada.key })).status).toBe(200)
  })

  it('threat 19: cookie fixation, gives every sign-in a cookie of its own', async () => {
    const { email } = await world().person()
    const planted = `__Host-session=${'A'.repeat(43)}`
    const first = await world().signIn(email, { cookie: true, headers: { cookie: planted } })
    const second = await world().signIn(email, { cookie: true, headers: { cookie: first.cookie! } })
    expect(new Set([planted, first.cookie, second.cookie]).size).toBe(3)
    expect(await account({ cookie: planted })).toBe(401)
    // Only under the name that browsers keep for this host, and as given.
    const value = first.cookie!.split('=')[1]!
    expect(await account({ cookie: `__Host-session=${value}` })).toBe(200)
    for (const name of ['session', '__host-session', '__Secure-session']) {
      expect([name, await account({ cookie: `${name}=${value}` })]).toEqual([name, 401])
    }
    // Nor is it a bearer token, or the other way round: what both are is in one cache.
    expect([await bearer(first.access), await bearer(value)]).toEqual([200, 401])
    expect(await account({ cookie: `__Host-session=${first.access}` })).toBe(401)
  })

  it('threat 19: cookie theft, a copy ends with the sign-in, and the store has only hashes', async () => {
    const ada = await world().signedIn('user', true)
    const value = ada.cookie!.split('=')[1]!
    expect(base64url.decode(value)).toHaveLength(32)
    expect(await account({ cookie: ada.cookie! })).toBe(200)
    const stored = JSON.stringify(await world().call('dump'))
    expect([stored.includes(value), stored.includes(sha256(value))]).toEqual([false, true])
    expect((await ask('DELETE', '/api/auth', { as: ada })).status).toBe(204)
    expect(await account({ cookie: ada.cookie! })).toBe(401)
    const { headers } = await ask('POST', '/api/auth', {
      body: { email: ada.email, password: PASSWORD, cookie: true },
      headers: { 'sec-fetch-site': 'same-origin' },
    })
    const attributes = headers.getSetCookie()[0]!.split('; ').slice(1)
    expect(attributes).toEqual(['Max-Age=604800', 'Path=/', 'Secure', 'HttpOnly', 'SameSite=Lax'])
  })

  describe('threat 21: spoofed X-Forwarded-For and Host', () => {
    let proxied: World
    beforeAll(async () => {
      proxied = await startWorld('memory', { TRUSTED_HOPS: '1' })
    })
    afterAll(() => proxied.kill())
    /** Statuses of failures at once from each address, in turn. */
    const failures = async (at: World, from: (i: number) => string, count: number): Promise<Record<number, number>> => {
      const statuses: Record<number, number> = {}
      for (let i = 0; i < count; i++) {
        const { status } = await signIn(at, from(i))
        statuses[status] = (statuses[status] ?? 0) + 1
      }
      return statuses
    }

    it('believes nobody without a proxy', async () => {
      await world().advance(MINUTE)
      expect(await failures(world(), (i) => `10.0.0.${i}`, 31)).toEqual({ 401: 30, 429: 1 })
      await world().advance(MINUTE)
    })
    it('believes one proxy, and not what the client wrote before it', async () => {
      expect(await failures(proxied, (i) => `10.0.0.${i}, 192.0.2.1`, 31)).toEqual({ 401: 30, 429: 1 })
      expect(await failures(proxied, (i) => `192.0.2.1, 192.0.2.${100 + i}`, 31)).toEqual({ 401: 31 })
      expect(await failures(proxied, () => '::ffff:192.0.2.1', 1)).toEqual({ 429: 1 })
    })
    it('takes an IPv6 network of 64 bits for one address', async () => {
      expect(await failures(proxied, (i) => `2001:db8:0:1:${(i * 997).toString(16)}::${i}`, 31)).toEqual({
        401: 30,
        429: 1,
      })
      expect(await failures(proxied, () => '2001:DB8::0001:0:0:0:7', 1)).toEqual({ 429: 1 })
      expect(await failures(proxied, () => '2001:db8:0:2::1', 1)).toEqual({ 401: 1 })
    })
    it('takes no other origin for its own by a header', async () => {
      const { cookie } = await world().signedIn('user', true)
      for (const headers of [
        { 'x-forwarded-host': 'evil.example' },
        { forwarded: 'host=evil.example' },
        { 'x-original-url': 'http://evil.example/' },
      ] as Record<string, string>[])
        expect(
          (
            await ask('POST', '/api/sessions', {
              body: {},
              headers: { cookie: cookie!, origin: 'http://evil.example', ...headers },
            })
          ).status,
        ).toBe(403)
    })
    // Bun answers it itself.
    it.skipIf(runtime === 'bun')('takes no other origin for its own by an absolute-form target', async () => {
      const { cookie } = await world().signedIn('user', true)
      const { host, hostname, port } = new URL(world().url)
      const socket = connect(Number(port), hostname)
      socket.write(
        `POST http://evil.example/api/sessions HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://evil.example\r\nCookie: ${cookie}\r\n` +
          'Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
      )
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[034] /)
    })
  })

  it('threat 22: JWT confusion, fetches no key that a token names, and takes no other token for it', async () => {
    const ada = await world().signedIn()
    let fetched = 0
    const evil = createServer((_, response) => void (fetched++, response.end('{"keys":[]}')))
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(evil.address() as AddressInfo).port}/jwks.json`
    const { privateKey } = await generateKeyPair('ES256')
    const header = { alg: 'ES256', typ: 'at+jwt', kid: decodeProtectedHeader(ada.access).kid! }
    for (const more of [
      {},
      { jku: url },
      { x5u: url },
      { kid: url },
      { kid: '../../etc/passwd' },
      { kid: '__proto__' },
    ])
      expect(
        await bearer(
          await new SignJWT(decodeJwt(ada.access)).setProtectedHeader({ ...header, ...more }).sign(privateKey),
        ),
      ).toBe(401)
    for (const other of [ada.refresh, (await newOwner(world())).key]) expect(await bearer(other)).toBe(401)
    expect([fetched, await bearer(ada.access)]).toEqual([0, 200])
    evil.close()
  })

  it('threat 25: race on refreshes, 50 at once get one token', async () => {
    const ada = await world().signedIn()
    const replies = await Promise.all(
      Array.from({ length: 50 }, () =>
        ask<{ refresh_token: string }>('PUT', '/api/auth', { body: { refresh_token: ada.refresh } }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(new Set(replies.map(({ body }) => body.refresh_token)).size).toBe(1)
  })

  it('threat 26: shared caches keep nothing but public keys and files', async () => {
    const admin = await world().signedIn('admin', true)
    const owner = await newOwner(world())
    const seen: Record<string, string[]> = {}
    const note = ({ headers }: Reply, name: string): void => {
      const caching = `${headers.get('cache-control')}; vary: ${headers.get('vary')}`
      ;(seen[caching] ??= []).push(name)
    }
    const routes = Object.entries(requestsOf({ ...owner, linkToken: 'none' })).filter(
      ([route]) => !route.startsWith('DELETE /api/a'),
    )
    for (const [route, { path, body }] of routes) {
      const method = route.split(' ')[0]!
      note(await ask(method, path, { body }), `${route} anonymous`)
      note(await ask(method, path, { body, as: admin }), `${route} bearer`)
      const headers = { cookie: admin.cookie!, 'sec-fetch-site': 'same-origin' }
      note(await ask(method, path, { body, headers }), `${route} cookie`)
    }
    note(await ask('GET', `/api/tasks/${owner.taskId}/status`, { as: owner }), 'polling')
    for (const path of ['/api/nothing', '/api/users/%00', '/.well-known/nothing'])
      note(await ask('GET', path, { as: admin }), path)
    note(await ask('PUT', '/api/account', { as: admin }), '405')
    note(await ask('OPTIONS', '/api/account'), 'OPTIONS')
    note(await ask('HEAD', '/api/account', { as: admin }), 'HEAD')
    const { 'private, no-store; vary: Cookie, Authorization': kept, ...others } = seen
    expect(kept).toHaveLength(3 * (routes.length - 3) + 6)
    const allWays = (route: string): string[] => ['anonymous', 'bearer', 'cookie'].map((way) => `${route} ${way}`)
    expect(others).toEqual({
      'public, max-age=600; vary: Cookie, Authorization': allWays('GET /.well-known/jwks.json'),
      // Before somebody has removed the file.
      'public, max-age=300, must-revalidate; vary: Origin': allWays('GET /api/user-files/{id}/content'),
      'private, no-cache; vary: Cookie, Authorization': ['polling'],
      'no-cache; vary: Cookie, Authorization': allWays('GET /api/openapi.json'),
    })
  })
})
