import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import type { Reply, SignedIn, World } from './world.js'
import { chat, worldSuite } from './world.js'

const anId: unknown = expect.stringMatching(uuidv7Pattern)

/** The status of an answer and its request id. */
const head = ({ status, headers }: Reply): [number, string | null] => [status, headers.get('x-request-id')]

/** What a server answers to bytes on a connection of their own. */
async function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(bytes)
  const timer = setTimeout(() => socket.destroy(), 5_000)
  return text(socket).finally(() => clearTimeout(timer))
}

/** platform.md 2.3, items 1 to 28: on the platform and, where they are of the gateway, on the gateway beside it. */
worldSuite('transport and errors', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  let ada: SignedIn | undefined
  const user = async (): Promise<SignedIn> => (ada ??= await world().signedIn('admin'))
  const newKey = async (rateLimit = 60): Promise<string> => {
    const made = await ask<{ key: string }>('POST', '/api/keys', { as: await user(), body: { name: 'k', rateLimit } })
    return made.body.key
  }
  const post = async (body: string, headers?: Record<string, string>): Promise<Reply> =>
    ask('POST', '/api/sessions', { as: await user(), body, ...(headers && { headers }) })
  const refused = async (reply: Promise<Reply>, status: number): Promise<void> => {
    const { status: got, body } = await reply
    expect([got, body]).toEqual([status, { error: expect.any(String) as string }])
  }

  it('#1 has a request id on 200', async () => {
    expect(head(await ask('GET', '/api/account', { as: await user() }))).toEqual([200, anId])
  })
  it('#2 has one on 400', async () => expect(head(await ask('POST', '/api/auth', { body: '{' }))).toEqual([400, anId]))
  it('#3 has one on 401', async () => expect(head(await ask('GET', '/api/account'))).toEqual([401, anId]))
  it('#4 has one on 404', async () => expect(head(await ask('GET', '/api/nothing'))).toEqual([404, anId]))
  it('#5 has one on 429', async () => {
    const key = await newKey(1)
    await ask('GET', '/v1/models', { as: key })
    expect(head(await ask('GET', '/v1/models', { as: key }))).toEqual([429, anId])
  })
  it('#6 has one on 502', async () => {
    const key = await newKey()
    world().fault = () => ({ status: 500, headers: { 'content-type': 'application/json' }, body: '{}' })
    const reply = await ask('POST', '/v1/chat/completions', { as: key, body: chat })
    world().fault = undefined
    expect(head(reply)).toEqual([502, anId])
  })
  it('#7 has one on a stream, before its first event is read', async () => {
    const key = await newKey()
    const response = await fetch(`${world().url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...chat, stream: true }),
    })
    expect(response.headers.get('x-request-id')).toEqual(anId)
    expect(await response.text()).toContain('data: [DONE]')
  })
  it('#8 has one on /health', async () => expect(head(await ask('GET', '/health'))).toEqual([200, anId]))
  it('#9 has one on /admin, for an administrator who is signed in', async () => {
    expect(head(await ask('GET', '/admin/metrics', { as: await user() }))).toEqual([200, anId])
    expect(head(await ask('GET', '/admin/metrics'))).toEqual([401, anId])
    expect(head(await ask('GET', '/admin/metrics', { as: await world().signedIn('developer') }))).toEqual([403, anId])
  })
  it('#10 has one on GET /', async () => expect(head(await ask('GET', '/'))).toEqual([200, anId]))
  it('#11 has one on OPTIONS and 405', async () => {
    const options = await ask('OPTIONS', '/api/auth')
    expect([...head(options), options.headers.get('allow')]).toEqual([204, anId, 'POST, PUT, DELETE, OPTIONS'])
    const put = await ask('PUT', '/api/account')
    expect([...head(put), put.headers.get('allow')]).toEqual([405, anId, 'GET, DELETE, HEAD, OPTIONS'])
  })
  it('#12 has another one on each answer', async () => {
    const [one, other] = [head(await ask('GET', '/api/nothing')), head(await ask('GET', '/api/nothing'))]
    expect(one).not.toEqual(other)
  })
  // On Bun the runtime itself answers what is no HTTP.
  it.skipIf(runtime === 'bun')('#13 has one where the Host is malformed', async () => {
    const answer = await raw(world().url, 'GET /api/account HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n')
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i)
  })
  it('#14 does not repeat the one that a client sends', async () => {
    const sent = 'x'.repeat(200)
    const { headers } = await ask('GET', '/api/nothing', { headers: { 'x-request-id': sent } })
    expect(headers.get('x-request-id')).toEqual(anId)
  })
  it("#15 has the gateway's error body on the gateway's paths", async () => {
    const { status, body } = await ask('GET', '/v1/models')
    const aString = expect.any(String) as string
    expect([status, body]).toEqual([401, { error: { type: aString, message: aString, code: aString } }])
  })
  it('#16 has an error body of one text', async () => {
    await refused(ask('GET', '/api/account'), 401)
    await refused(ask('GET', '/api/users', { as: await world().signedIn() }), 403)
    await refused(ask('GET', '/api/users/none', { as: await user() }), 404)
    await refused(ask('PUT', '/api/account', { as: await user() }), 405)
  })
  it('#17 tells nothing of the inside in an error', async () => {
    const replies = [
      await ask('POST', '/api/auth', { body: '{"' }),
      await ask('GET', '/api/users/%00', { as: await user() }),
    ]
    for (const { body } of replies) expect(JSON.stringify(body)).not.toMatch(/at |\/src\/|\.js|http:|node:/)
  })
  it('#18 names the scheme on 401', async () => {
    expect((await ask('GET', '/api/account')).headers.get('www-authenticate')).toBe('Bearer')
  })
  it("#19 refuses a body that is no JSON in the gateway's words", async () => {
    const { status, body } = await ask('POST', '/v1/chat/completions', { as: await newKey(), body: '{"model":' })
    expect([status, body]).toMatchObject([400, { error: { code: 'invalid_json' } }])
  })
  it("#20 refuses it in the platform's words", async () => refused(post('{"label":'), 400))
  it.each(['[]', '[{}]', '1', '"text"', 'true', 'null'])('#21 refuses the body %s', async (body) => {
    await refused(post(body), 400)
  })
  it('#22 refuses an empty body', async () => refused(post('', { 'content-type': 'application/json' }), 400))
  it('#23 refuses a body over the limit before it has all of it', async () => {
    const { access } = await user()
    const heads = `POST /api/sessions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${access}\r\nContent-Type: application/json\r\n`
    const answer = await raw(world().url, `${heads}Content-Length: 2000000\r\nConnection: close\r\n\r\n{`)
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('{"error":"')
  })
  it('#24 refuses JSON that nests 100,000 levels, and lives', async () => {
    await refused(post(`{"metadata":${'['.repeat(100_000)}${']'.repeat(100_000)}}`), 400)
    expect((await ask('GET', '/api/account', { as: await user() })).status).toBe(200)
  })
  it('#25 says that JSON is UTF-8', async () => {
    for (const path of ['/api/account', '/api/sessions', '/api/nothing'])
      expect((await ask('GET', path, { as: await user() })).headers.get('content-type')).toBe(
        'application/json; charset=utf-8',
      )
  })
  it('#26 answers an unknown path in its own words', async () => {
    await refused(ask('GET', '/api/nothing'), 404)
    await refused(ask('GET', '/api'), 404)
    await refused(ask('GET', '/api/'), 404)
  })
  it('#27 answers HEAD as GET, without a body', async () => {
    const [get, head] = [
      await ask<object>('GET', '/api/account', { as: await user() }),
      await ask('HEAD', '/api/account', { as: await user() }),
    ]
    expect([head.status, head.body]).toEqual([get.status, ''])
    expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
    expect((await ask('HEAD', '/api/account')).status).toBe(401)
  })
  describe('#28 refuses', () => {
    it('what follows the JSON', async () => refused(post('{} {}'), 400))
    it('two byte-order marks', async () => refused(post('\ufeff\ufeff{}'), 400))
    it('bytes that are not UTF-8', async () => {
      const body = new Uint8Array([...Buffer.from('{"label":"'), 0xff, ...Buffer.from('"}')])
      const { access } = await user()
      const headers = { authorization: `Bearer ${access}`, 'content-type': 'application/json' }
      const response = await fetch(`${world().url}/api/sessions`, { method: 'POST', headers, body })
      expect([response.status, await response.json()]).toEqual([400, { error: expect.any(String) as string }])
    })
  })
})
