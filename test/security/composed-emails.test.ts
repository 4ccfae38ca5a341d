import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

/** A letter that becomes three with composed characters. */
const email = `${'\ufb2c'.repeat(250)}@x.y`

let server: Server
let authorization: string
beforeAll(async () => {
  server = await startServer()
  const signIn = { email: 'admin@localhost', password: 'the password of the tests' }
  const { access_token } = (await (await send('POST', '/api/auth', signIn)).json()) as { access_token: string }
  authorization = `Bearer ${access_token}`
})
afterAll(() => server.stop())

const send = (method: string, path: string, body?: object) =>
  fetch(server.url + path, {
    method,
    headers: { ...(authorization && { authorization }), 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })

describe(`threat 13: e-mails that grow where they are composed, on ${runtime}`, () => {
  it('are refused, or are nobody, and are no failure of the server', async () => {
    expect((await send('POST', '/api/auth', { email, password: 'x' })).status).toBe(401)
    const admin = { id: '00000000-0000-7000-8000-000000000001' }
    expect((await send('POST', '/api/users', { email })).status).toBe(400)
    expect((await send('PATCH', `/api/users/${admin.id}`, { email })).status).toBe(400)
    const found = await send('GET', `/api/users?email=${encodeURIComponent(email)}`)
    expect([found.status, await found.json()]).toEqual([200, []])
    authorization = `Bearer ${server.key}`
    expect((await send('POST', '/v1/users', { email })).status).toBe(400)
    expect(server.output()).not.toContain('"level":50')
  })
})
