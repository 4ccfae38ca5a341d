import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiDocument } from '../../packages/dashboard/src/docs/document.js'
import { readDocuments } from '../../packages/dashboard/src/docs/document.js'
import { BASE, snippetsOf } from '../../packages/dashboard/src/docs/snippets.js'
import { documentFile, platformDocumentFile } from '../support/contract.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import { typeCheck } from '../support/type-check.js'

const read = (file: URL): ApiDocument => JSON.parse(readFileSync(file, 'utf8')) as ApiDocument

const operations = readDocuments({ gateway: read(documentFile), platform: read(platformDocumentFile) }).flatMap(
  (api) => api.operations,
)

/** The code of the page /docs. */
const snippets = operations.flatMap((operation) =>
  snippetsOf(operation).map(({ title, text }) => ({ anchor: operation.anchor, title, text })),
)
const commands = snippets.filter(({ title }) => title === 'curl')
const programs = snippets.filter(({ title }) => title !== 'curl')

/** What the programs take as given: variables with the names of required parameters. */
const required = operations.flatMap(({ parameters }) => parameters.filter((one) => one.required))
const declared = `declare const ${[...new Set(required.map(({ name }) => `${name}: string`))].join(', ')}`

describe('the code of the page /docs', () => {
  it('type-checks', () => {
    expect(new Set(programs.map(({ anchor }) => anchor)).size).toBe(operations.length)
    typeCheck(
      'docs-snippets',
      Object.fromEntries(
        programs.map(({ anchor, title, text }) => [
          `${anchor}-${title === 'TypeScript' ? 'whole' : 'streamed'}.ts`,
          `${declared}\n${text}`,
        ]),
      ),
    )
  })

  it('is what a shell can read', () => {
    for (const { text } of commands) execFileSync('bash', ['-n'], { input: text })
  })
})

describe('the commands', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer({ ADMIN_EMAIL: 'ada@example.org' })
  })
  afterAll(() => server.stop())

  const run = (anchor: string, variables: Record<string, string> = {}): string =>
    execFileSync('bash', ['-c', commands.find((one) => one.anchor === anchor)!.text.replace(BASE, server.url)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env['PATH'], GATEWAY_KEY: server.key, ...variables },
    })

  it('call the gateway and the platform', async () => {
    expect(JSON.parse(run('chat.completions'))).toMatchObject({ object: 'chat.completion' })
    expect(JSON.parse(run('models.get', { MODEL: 'gpt-4o-mini' }))).toMatchObject({ id: 'gpt-4o-mini' })
    const response = await fetch(`${server.url}/api/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', password: 'the password of the tests' }),
    })
    const { access_token: token } = (await response.json()) as { access_token: string }
    const project = JSON.parse(run('projects.create', { ACCESS_TOKEN: token })) as { id: string }
    expect(project).toMatchObject({ name: 'Website' })
    expect(JSON.parse(run('projects.update', { ACCESS_TOKEN: token, ID: project.id }))).toMatchObject({
      id: project.id,
      color: '#0a6b60',
    })
    expect(JSON.parse(run('tasks.list', { ACCESS_TOKEN: token, PROJECT_ID: project.id }))).toEqual([])
  })
})
