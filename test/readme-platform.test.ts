import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Server } from './support/server.js'
import { startServer } from './support/server.js'

const run = promisify(execFile)

let folder: string
let server: Server
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-readme-'))
  // As `npm start` in an empty folder, but on a free port.
  server = await startServer({ STORAGE: '', BOOTSTRAP_GATEWAY_KEY: '', ADMIN_PASSWORD: '' }, { cwd: folder })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

/** The shell lines of the section "Sign in" of a page, for the server of this test and the password that it printed. */
async function linesOf(page: string): Promise<string> {
  const text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith('Sign in\n'))!
  const blocks = [...section.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => block)
  await expect.poll(server.output).toMatch(/^ {2}admin@localhost {2}\S+$/m)
  const password = /^ {2}admin@localhost {2}(\S+)$/m.exec(server.output())![1]!
  const [first, ...rest] = blocks.join('').split('\n')
  expect(first).toBe('export URL=http://127.0.0.1:8787 PASSWORD=…')
  return [`export URL=${server.url} PASSWORD=${password}`, ...rest].join('\n')
}

/** Runs lines in bash. @returns the JSON that they print, line by line, and the values of variables at the end */
async function bash(lines: string, names: string[]): Promise<{ printed: unknown[]; values: string[] }> {
  const { PATH, HOME } = process.env
  const script = `${lines}\nprintf '%s\\n' ${names.map((name) => `"$${name}"`).join(' ')}`
  const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH, HOME },
  })
  expect(stderr).toBe('')
  const printed = stdout.trimEnd().split('\n')
  return {
    values: printed.splice(-names.length),
    printed: printed.map((line): unknown => (line === '' ? '' : JSON.parse(line))),
  }
}

it('README.md: who pastes its lines signs in, adds a developer, and makes, uses and revokes a key', async () => {
  const { printed, values } = await bash(await linesOf('README.md'), ['ADA', 'KEY', 'ID'])
  const [ada, key, id] = values as [string, string, string]
  expect(printed).toEqual([
    expect.objectContaining({ email: 'ada@example.org', role: 'developer' }),
    expect.objectContaining({
      choices: [
        expect.objectContaining({
          message: expect.objectContaining({ content: 'This is a simulated answer. You said: Hello!' }) as object,
        }),
      ],
    }),
    expect.objectContaining({
      requests: 1,
      total_tokens: 20,
      keys: [expect.objectContaining({ id, name: 'laptop', requests: 1 })],
    }),
    '',
  ])

  const ask = (path: string, token: string) =>
    fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })
  expect(await (await ask('/api/keys', ada)).json()).toMatchObject([{ id, name: 'laptop', revoked: true }])
  expect((await ask('/v1/models', key)).status).toBe(401)
  expect(await readdir(folder)).toContain('.turnpike')
})

it('docs/platform.md: who pastes its lines signs in, refreshes, uses a cookie and signs out', async () => {
  const { printed, values } = await bash(await linesOf('docs/platform.md'), ['TOKEN', 'REFRESH'])
  const administrator = expect.objectContaining({ email: 'admin@localhost' }) as object
  expect(printed).toEqual([
    expect.objectContaining({ email: 'admin@localhost', role: 'admin' }),
    expect.objectContaining({ user: administrator, refresh_token: expect.any(String) as string }),
    expect.not.objectContaining({ refresh_token: expect.any(String) as string }),
    '',
    '',
  ])
  expect(printed[2]).toMatchObject({ token_type: 'bearer', user: administrator })
  const [token, refresh_token] = values
  expect((await fetch(`${server.url}/api/account`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(401)
  const body = JSON.stringify({ refresh_token })
  const headers = { 'content-type': 'application/json' }
  expect((await fetch(`${server.url}/api/auth`, { method: 'PUT', headers, body })).status).toBe(401)
})

it('README.md has at most 110 lines', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(110)
})
