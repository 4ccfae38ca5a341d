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
  server = await startServer({ STORAGE: '', BOOTSTRAP_GATEWAY_KEY: '' }, { cwd: folder })
})
afterAll(async () => {
  await server.stop()
  await rm(folder, { recursive: true })
})

/** The lines of the first shell block of a section, for the server of this test and the password that it printed. */
async function linesOf(page: string, heading: string): Promise<string> {
  const text = await readFile(new URL(`../${page}`, import.meta.url), 'utf8')
  const section = text.slice(text.indexOf(`## ${heading}\n`))
  const [, block] = /^```sh\n([^]*?)^```/m.exec(section)!
  await expect.poll(server.output).toMatch(/^ {2}admin@localhost {2}\S+$/m)
  const password = /^ {2}admin@localhost {2}(\S+)$/m.exec(server.output())![1]!
  const lines = block!
    .replace('URL=http://127.0.0.1:8787', `URL=${server.url}`)
    .replace('PASSWORD=…', `PASSWORD=${password}`)
  expect(lines).toContain(`URL=${server.url} PASSWORD=${password}\n`)
  return lines
}

/** Runs lines in bash. @returns what they print, line by line, and the values of variables at the end */
async function bash(lines: string, names: string[]): Promise<{ printed: string[]; values: string[] }> {
  const { PATH, HOME } = process.env
  const script = `${lines}\nprintf '%s\\n' ${names.map((name) => `"$${name}"`).join(' ')}`
  const { stdout, stderr } = await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { PATH, HOME },
  })
  expect(stderr).toBe('')
  const printed = stdout.trimEnd().split('\n')
  return { printed, values: printed.splice(-names.length) }
}

it('README.md: who pastes its lines signs in, adds a developer, and makes, uses and revokes a key', async () => {
  const { printed, values } = await bash(await linesOf('README.md', 'Sign in'), ['ADA', 'KEY', 'ID'])
  const [ada, key, id] = values as [string, string, string]
  expect(printed.map((line): unknown => (line === '' ? '' : JSON.parse(line)))).toEqual([
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
  expect(await readdir(folder)).toEqual(['.turnpike'])
})

it('README.md has at most 110 lines', async () => {
  const text = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(110)
})
