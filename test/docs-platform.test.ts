import { execFile } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blocksOf, readPage, sectionOf } from './support/page.js'
import type { Server } from './support/server.js'
import { startServer } from './support/server.js'

const run = promisify(execFile)

interface Chunk {
  choices: { delta: { content?: string } }[]
}

const page = readPage('docs/platform.md')

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

/** The shell lines of sections of docs/platform.md, for the server of this test and the password that it printed. */
async function linesOf(...sections: string[]): Promise<string> {
  const lines = sections.flatMap((heading) => blocksOf(sectionOf(page, heading), 'sh')).join('')
  await expect.poll(server.output).toMatch(/^ {2}admin@localhost {2}\S+$/m)
  const password = /^ {2}admin@localhost {2}(\S+)$/m.exec(server.output())![1]!
  expect(lines).toContain('export URL=http://127.0.0.1:8787 PASSWORD=…\n')
  return lines.replace(/^export URL=.*$/gm, `export URL=${server.url} PASSWORD=${password}`)
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
    printed: printed.map((line): unknown => (/^[[{]/.test(line) ? JSON.parse(line) : line)),
  }
}

it('A walk through: who pastes its lines signs in, makes and uses a key, works on a task with a draft and a conversation, and sees what it cost', async () => {
  const lines = await linesOf('A walk through')
  const { printed, values } = await bash(lines, ['ADA', 'KEY', 'PROJECT', 'TASK'])
  const [ada, key, project, task] = values as [string, string, string, string]
  const having = (fields: object): unknown => expect.objectContaining(fields)
  const stream = printed.filter((line) => typeof line === 'string')
  const chunks = stream
    .flatMap((line) => /^data: (\{.*)/.exec(line)?.[1] ?? [])
    .map((json) => JSON.parse(json) as Chunk)
  expect(stream.filter((line) => line !== '').at(-1)).toBe('data: [DONE]')
  const reply = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
  expect(reply).toBe('This is a simulated answer. You said: What is a good headline?')

  const output = 'This is a simulated answer. You said: Write a headline.'
  const used = { requests: 1, total_tokens: expect.any(Number) as number, cost_usd: expect.any(Number) as number }
  expect(printed.filter((line) => typeof line === 'object')).toEqual([
    having({ email: 'ada@example.org', role: 'developer' }),
    having({
      choices: [having({ message: having({ content: 'This is a simulated answer. You said: Hello!' }) })],
    }),
    having({ requests: 1, total_tokens: 20, keys: [having({ name: 'laptop', requests: 1 })] }),
    having({ id: task, project_id: project, status: 'waiting_approval', draft_output: output, output: null }),
    having({ id: task, status: 'done', output, requires_user_approval: true }),
    [having({ task_id: task, output })],
    having({ ...used, revisions: [having(used)], since: having({ requests: 0, cost_usd: 0 }) }),
  ])
  const spend = printed.at(-2) as { cost_usd: number }
  expect(spend.cost_usd).toBeGreaterThan(0)

  const ask = (path: string, authorization: string) => fetch(server.url + path, { headers: { authorization } })
  const [, token] = ada.split(': ') as [string, string]
  expect(await (await ask('/api/keys', token)).json()).toMatchObject([{ name: 'laptop', revoked: true }])
  expect((await ask('/v1/models', `Bearer ${key}`)).status).toBe(401)
  // The task's request and that of the conversation.
  expect(await (await ask(`/api/projects/${project}/spend`, token)).json()).toMatchObject({ requests: 2 })
  expect(await readdir(folder)).toContain('.turnpike')
})

it('Sign in: who pastes its lines signs in, refreshes, uses a cookie and signs out', async () => {
  const { printed, values } = await bash(await linesOf('Sign in'), ['TOKEN', 'REFRESH'])
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

it('Files: who pastes its lines after those of the sign-in stores a public file and reads it', async () => {
  const { values } = await bash(await linesOf('Sign in', 'Files'), ['FILE'])
  // The file has no line break.
  expect(values).toEqual([expect.stringMatching(/^Hello\{.*"display_name":"hello.txt".*"is_public":true/)])
})
