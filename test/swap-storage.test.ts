import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, programs } from './support/needs.js'
import type { Postgres } from './support/postgres.js'
import { postgres as postgresServer, startPostgres } from './support/postgres.js'
import type { RedisServer } from './support/redis.js'
import { startRedis } from './support/redis.js'
import { runtimePath } from './support/runtime.js'
import { sample } from './support/scope.js'

const main = fileURLToPath(new URL('../examples/swap-storage/main.mjs', import.meta.url))
const source = readFileSync(main, 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'turnpike-swap-'))
const environment: Record<string, string> = {}
let redis: RedisServer | undefined
let postgres: Postgres | undefined

beforeAll(async () => {
  if (!programs.redis.isMissing) environment['REDIS_URL'] = (redis = await startRedis()).url
  if (!postgresServer.isMissing) environment['DATABASE_URL'] = (postgres = await startPostgres()).url
})
afterAll(async () => {
  await redis?.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true })
})

/** One process of the example, and what it printed, by the words that its lines begin with. */
async function run(...args: string[]): Promise<Record<string, string>> {
  const child = spawn(runtimePath(), [main, ...args], { cwd: folder, env: environment })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const code = await new Promise((resolve) => child.on('close', resolve))
  expect({ code, errors }).toEqual({ code: 0, errors: '' })
  return Object.fromEntries([...output.matchAll(/^(\w+): +(.*)$/gm)].map(([, name, value]) => [name, value]))
}

describe('the gateway on any store', () => {
  const answer = '200 This is a simulated answer. You said: Hello!'

  const lasting = [
    { name: 'fs', store: 'durable-fs, writers one-process, survives power-loss', needed: [] },
    { name: 'redis', store: 'redis, writers many-hosts, survives engine-configured', needed: [programs.redis] },
    { name: 'postgres', store: 'postgres, writers many-hosts, survives power-loss', needed: [postgresServer] },
    { name: 'driver', store: 'fs-lite, writers one-process, survives process-crash', needed: [] },
  ]
  for (const { name, store, needed } of sample(lasting, 2))
    it(`${name}: key and total survive the process`, needs(...needed), async () => {
      const first = await run(name)
      const key: unknown = expect.stringMatching(/^gw-.{43}$/)
      expect(first).toEqual({ store, key, answer, total: '1 requests, 20 tokens' })
      expect(await run(name, first['key']!)).toEqual({ ...first, total: '2 requests, 40 tokens' })
    })

  it('memory: key and total are gone with the process', async () => {
    const first = await run('memory')
    expect(first).toMatchObject({
      store: 'memory, writers one-process, survives none',
      answer,
      total: '1 requests, 20 tokens',
    })
    const second = await run('memory', first['key']!)
    expect(second['answer']).toMatch(/^401 /)
    expect(second['total']).toBe('0 requests, 0 tokens')
  })

  it('differs by one line', () => {
    const [, rows, rest] = /^const open = \{\n([^]*?)^\}\n([^]*)/m.exec(source)!
    expect([...rows!.matchAll(/^ {2}(\w+): \(\) => \w+\(.*\),\n/gm)].map(([, name]) => name)).toEqual([
      'memory',
      'fs',
      'redis',
      'postgres',
      'driver',
    ])
    expect(rows!.trimEnd().split('\n')).toHaveLength(5)
    // The name picks the line, and nothing else looks at it or at what a store is made of.
    const code = rest!.replaceAll(/^\/\/.*/gm, '')
    expect(code).toMatch(/^const kv = await open\[store\]\(\)\n/)
    expect(code.match(/\bstore\b(?!:)|\bopen\b|redis|postgres|pool|fs|memory/gi)).toEqual(['open', 'store'])
  })
})
