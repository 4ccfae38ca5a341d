import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { chat } from '../support/raw-client.js'
import { startServer } from '../support/server.js'

const ADMIN_ID = '00000000-0000-7000-8000-000000000001'
const ADMIN_TOKEN = 'admin-token-0123456789'

it('the server also starts where its first administrator has been deleted', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-first-'))
  const env = { STORAGE: `fs:${folder}`, ADMIN_TOKEN }
  const first = await startServer(env)
  const ask = async (method: string, path: string, body?: object): Promise<number> => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
    return (await fetch(first.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })).status
  }
  const remove = () => ask('DELETE', `/v1/users/${ADMIN_ID}`)
  // Somebody has to be left who can make others.
  expect(await remove()).toBe(400)
  expect(await ask('POST', '/v1/users', { role: 'admin' })).toBe(200)
  expect(await remove()).toBe(204)
  await first.stop()

  const second = await startServer(env)
  expect(second.output()).toContain('its owner, the first administrator, was deleted')
  expect((await chat(second)).status).toBe(401)
  expect(await second.stop()).toBe(0)
  await rm(folder, { recursive: true })
})
