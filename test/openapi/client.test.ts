import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, vi } from 'vitest'
import { documentFile } from '../support/contract.js'
import { needs, testAll } from '../support/needs.js'
import { openPage, runExample } from '../support/page.js'
import { npxEnvironment } from '../support/runtime.js'
import { startServer } from '../support/server.js'

const { blocks } = openPage('openapi.md')
const root = fileURLToPath(new URL('../..', import.meta.url))

/** What must not type-check. */
const wrong = `import createClient from 'openapi-fetch'
import type { paths } from './gateway.js'
const client = createClient<paths, 'application/json'>({})
const messages = [{ role: 'user' as const, content: 'Hi' }]
// @ts-expect-error no such path
await client.GET('/v1/nothing')
// @ts-expect-error no such method
await client.PUT('/v1/models')
// @ts-expect-error no model
await client.POST('/v1/chat/completions', { body: { messages } })
// @ts-expect-error no such role
await client.POST('/v1/chat/completions', { body: { model: 'x', messages: [{ role: 'robot', content: 'Hi' }] } })
// @ts-expect-error a text
await client.POST('/v1/chat/completions', { body: { model: 'x', messages, temperature: '1' } })
// @ts-expect-error no such field
await client.POST('/v1/users', { body: { role: 'user', key: 'x' } })
const { data } = await client.GET('/v1/users/{id}/usage', { params: { path: { id: 'x' } } })
// @ts-expect-error a number
export const total: string | undefined = data?.total_tokens
`

const run = (...parameters: string[]): string =>
  execFileSync('npx', ['--yes', '-p', 'typescript@5.9.3', ...parameters], {
    encoding: 'utf8',
    cwd: root,
    env: npxEnvironment(),
  })

// Two compilers and a generator: ten seconds.
it(
  'openapi-typescript and openapi-fetch make a typed client of it, which docs/openapi.md shows',
  { ...needs(testAll), timeout: 120_000 },
  async () => {
    expect(blocks).toHaveLength(1)
    const folder = join(root, 'test', '.openapi-client')
    mkdirSync(folder, { recursive: true })
    try {
      const types = join(folder, 'gateway.d.ts')
      run('-p', 'openapi-typescript@7.13.0', '--', 'openapi-typescript', fileURLToPath(documentFile), '-o', types)
      writeFileSync(join(folder, 'page.ts'), blocks[0]!)
      writeFileSync(join(folder, 'wrong.ts'), wrong)
      writeFileSync(
        join(folder, 'tsconfig.json'),
        JSON.stringify({ extends: '../../tsconfig.base.json', include: ['*.ts'] }),
      )
      run('--', 'tsc', '-p', folder)
      execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder], {
        encoding: 'utf8',
      })
    } catch (error) {
      throw new Error((error as { stdout?: string }).stdout ?? String(error), { cause: error })
    } finally {
      rmSync(folder, { recursive: true })
    }

    const server = await startServer()
    vi.stubEnv('GATEWAY_URL', server.url)
    vi.stubEnv('GATEWAY_KEY', server.key)
    try {
      await runExample(blocks[0]!)
    } finally {
      vi.unstubAllEnvs()
      await server.stop()
    }
  },
)
