import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { chat } from '../support/raw-client.js'
import { freePort } from '../support/free-port.js'
import { KEY, listens, startServer } from '../support/server.js'

const ADMIN_ID = '00000000-0000-7000-8000-000000000001'
const ADMIN_TOKEN = 'admin-token-0123456789'

it.each(['deleted', 'erased'])('the server also starts where its first administrator was %s', async (how) => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-first-'))
  const env = { STORAGE: `fs:${folder}`, ADMIN_TOKEN }
  const first = await startServer(env)
  const ask = (method: string, path: string, body?: object, token = ADMIN_TOKEN): Promise<Response> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return fetch(first.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  }
  const signIn = async (email: string, password: string): Promise<string> => {
    const response = await ask('POST', '/api/auth', { email, password })
    return ((await response.json()) as { access_token: string }).access_token
  }
  const remove = async (): Promise<number> => (await ask('DELETE', `/v1/users/${ADMIN_ID}`)).status
  // Somebody has to be left who can make others.
  expect(await remove()).toBe(400)
  const ada = { email: 'ada@example.org', password: 'correct horse', role: 'admin' }
  const made = await ask('POST', '/api/users', ada, await signIn('admin@localhost', 'the password of the tests'))
  expect(made.status).toBe(200)
  expect(await remove()).toBe(204)
  if (how === 'erased') {
    const token = await signIn(ada.email, ada.password)
    const { status } = await ask('DELETE', `/api/users/${ADMIN_ID}?permanent=true`, undefined, token)
    expect(status).toBe(204)
  }
  await first.stop()

  const second = await startServer(env)
  expect(second.output()).toContain('its owner, the first administrator, was deleted')
  expect((await chat(second)).status).toBe(401)
  expect(await second.stop()).toBe(0)
  await rm(folder, { recursive: true })
})

it('the password of the first administrator is shown once, and one that was given never', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-first-'))
  const env = { STORAGE: `fs:${folder}`, ADMIN_EMAIL: 'ada@example.org', ADMIN_PASSWORD: '' }
  const shown = /The administrator, whose password is shown this once:\n {2}ada@example\.org {2}[\w-]{16}\n/
  const first = await startServer(env)
  expect(first.output()).toMatch(shown)
  await first.stop()
  const second = await startServer(env)
  await second.stop()
  expect(second.output()).not.toContain('administrator')
  await rm(folder, { recursive: true })

  const given = await startServer({ ADMIN_PASSWORD: 'correct horse' })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ email: 'admin@localhost', password: 'correct horse' })
  expect((await fetch(`${given.url}/api/auth`, { method: 'POST', headers, body })).status).toBe(200)
  await given.stop()
  expect(given.output()).not.toMatch(/administrator|correct horse/)
})

it('a first start on a port in use shows the password and the key that it made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-first-'))
  const other = await startServer()
  const env = { STORAGE: `fs:${folder}`, ADMIN_PASSWORD: '', BOOTSTRAP_GATEWAY_KEY: '' }
  const failed: unknown = await startServer({ ...env, PORT: new URL(other.url).port }).catch(
    (error: Error) => error.message,
  )
  await other.stop()
  const [, password, key] = /^ {2}admin@localhost {2}(\S+)$[^]*^ {2}(gw-\S+)$[^]*Turnpike cannot start/m.exec(
    String(failed),
  )!

  const server = await startServer(env)
  expect((await chat({ url: server.url, key: key! })).status).toBe(200)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ email: 'admin@localhost', password })
  expect((await fetch(`${server.url}/api/auth`, { method: 'POST', headers, body })).status).toBe(200)
  await server.stop()
  await rm(folder, { recursive: true })
})

it('another BOOTSTRAP_GATEWAY_KEY revokes the one before', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-first-'))
  const env = { STORAGE: `fs:${folder}` }
  const [before, after] = ['gw-leaked-0123456789abcdef', 'gw-fresh-0123456789abcdef']
  const statuses: number[][] = []
  // The old one, given once more, stays revoked, and revokes nothing.
  for (const key of [before, after, before, after]) {
    const { url, stop } = await startServer({ ...env, BOOTSTRAP_GATEWAY_KEY: key })
    statuses.push([(await chat({ url, key: before })).status, (await chat({ url, key: after })).status])
    await stop()
  }
  expect(statuses).toEqual([
    [200, 401],
    [401, 200],
    [401, 200],
    [401, 200],
  ])
  await rm(folder, { recursive: true })
})

it('the server does not start where its first administrator cannot be made, and says why', async () => {
  const start = startServer({ ADMIN_PASSWORD: 'x'.repeat(257) })
  await expect(start).rejects.toThrow(
    'The first administrator, admin@localhost, cannot be made: A password has 8 to 256',
  )
})

it('the first request after the port has opened finds the first key', async () => {
  const port = await freePort()
  const starting = startServer({ PORT: String(port), PASSWORD_COST: '15' })
  while (!(await listens(`http://127.0.0.1:${port}`))) await setTimeout(5)
  const headers = { authorization: `Bearer ${KEY}` }
  expect((await fetch(`http://127.0.0.1:${port}/v1/models`, { headers })).status).toBe(200)
  await (await starting).stop()
})
