import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import type { Issuer } from '../support/issuer.js'
import { signInAt, startIssuer } from '../support/issuer.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const usersCli = fileURLToPath(new URL('../../examples/server/dist/users.js', import.meta.url))
const port = await freePort()
const BASE_URL = `http://127.0.0.1:${port}`
let issuer: Issuer
let folder: string
let env: Record<string, string>
beforeAll(async () => {
  issuer = await startIssuer({ baseUrl: BASE_URL })
  folder = await mkdtemp(join(tmpdir(), 'turnpike-sso-'))
  env = {
    PORT: String(port),
    BASE_URL,
    STORAGE: `fs:${folder}`,
    PASSWORDS: 'off',
    ADMIN_EMAIL: 'root@ai.example',
    ADMIN_PASSWORD: '',
    OIDC_ISSUER: issuer.url,
    OIDC_CLIENT_ID: issuer.clientId,
    OIDC_CLIENT_SECRET: issuer.clientSecret,
  }
})
afterAll(async () => {
  await issuer.close()
  await rm(folder, { recursive: true })
})

/** Signs somebody in who has an e-mail at the issuer. @returns the account */
async function signIn({ url }: Server, email: string) {
  issuer.accounts.set(email, { email, email_verified: true })
  const headers = { 'content-type': 'application/json', origin: BASE_URL }
  const begun = await fetch(`${url}/api/auth/providers/oidc`, { method: 'POST', headers, body: '{}' })
  const cookieOf = (response: Response): string => response.headers.getSetCookie()[0]!.split(';', 1)[0]!
  const back = await signInAt(issuer, ((await begun.json()) as { url: string }).url, email)
  const ended = await fetch(back, { redirect: 'manual', headers: { cookie: cookieOf(begun) } })
  expect(ended.headers.get('location')).toBe(`${BASE_URL}/console`)
  return (await fetch(`${url}/api/account`, { headers: { cookie: cookieOf(ended) } })).json()
}

it('a server without passwords has a first administrator, who signs in at the identity provider, and others by the command', async () => {
  const first = await startServer(env)
  expect(first.output()).toContain(
    'The administrator signs in at an identity provider that has verified the e-mail\n  root@ai.example\n',
  )
  expect(first.output()).not.toContain('password is shown')
  expect(await signIn(first, 'root@ai.example')).toMatchObject({ role: 'admin', provider: 'oidc' })
  await first.stop()

  const cli = promisify(execFile)
  const users = (...args: string[]) =>
    cli(process.execPath, [usersCli, ...args], { env: { PATH: process.env['PATH'], ...env } })
  expect((await users('add', 'ada@ai.example', '--role', 'admin')).stdout).toBe('ada@ai.example\n')
  await expect(users('password', 'ada@ai.example')).rejects.toThrow('Nobody signs in by password here (PASSWORDS=off)')
  const second = await startServer(env)
  expect(await signIn(second, 'ada@ai.example')).toMatchObject({ role: 'admin', provider: 'oidc' })
  await second.stop()

  // Without an e-mail, nobody can be found by one.
  const third = await startServer({ ...env, STORAGE: 'memory', ADMIN_EMAIL: '' })
  expect(third.output()).toContain('No administrator can sign in yet')
  await third.stop()
})
