import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createUser, gatewayKeys } from '@turnpike/core'
import { fsKV } from '@turnpike/storage'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, programs } from '../support/needs.js'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'
import { runtime, runtimePath } from '../support/runtime.js'

const script = fileURLToPath(new URL('../../examples/server/dist/storage.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'turnpike-move-'))
const at = (name: string): string => join(folder, name)
const run = (...args: string[]) => spawnSync(runtimePath(), [script, ...args], { encoding: 'utf8' })

beforeAll(async () => {
  const kv = await fsKV(at('from'))
  await createUser(kv, { id: 'ada', email: 'ada@example.org' })
  await gatewayKeys(kv).create('ada', { name: 'first' })
  for (let i = 0; i < 1_200; i += 100) {
    const set = Array.from({ length: 100 }, (_, n) => ({ key: ['n', String(i + n)], value: i + n }))
    await kv.commit({ set, sum: [{ key: ['sum'], add: { i } }] })
  }
  await kv.close()
})
let redis: RedisServer | undefined
afterAll(async () => {
  await redis?.stop()
  rmSync(folder, { recursive: true })
})

describe(`the storage command, on ${runtime}`, () => {
  it('moves a store into a file and into another store', () => {
    expect(run('export', `fs:${at('from')}`, at('a.jsonl'))).toMatchObject({
      status: 0,
      stdout: '',
      stderr: 'Exported 1,208 entries\n',
    })
    expect(run('import', `fs:${at('to')}`, at('a.jsonl'))).toMatchObject({
      status: 0,
      stderr: 'Imported 1,208 entries\n',
    })
    expect(run('export', `fs:${at('to')}`).stdout).toBe(readFileSync(at('a.jsonl'), 'utf8'))
    expect(run('verify', `fs:${at('to')}`)).toMatchObject({ status: 0, stdout: '1,208 entries, 0 problems\n' })
  })

  it('streams one store into another', needs(programs.redis), async () => {
    redis = await startRedis()
    const from = spawn(runtimePath(), [script, 'export', `fs:${at('from')}`], { stdio: ['ignore', 'pipe', 'ignore'] })
    const to = spawn(runtimePath(), [script, 'import', redis.url], { stdio: [from.stdout, 'ignore', 'inherit'] })
    expect(await once(to, 'exit')).toEqual([0, null])
    expect(run('export', redis.url).stdout).toBe(run('export', `fs:${at('from')}`).stdout)
  })

  it('reports errors', async () => {
    const kv = await fsKV(at('bad'))
    await createUser(kv, { id: 'ada', email: 'ada@example.org' })
    await kv.commit({ del: [['email', 'ada@example.org']] })
    await kv.close()
    expect(run('verify', `fs:${at('bad')}`)).toMatchObject({
      status: 1,
      stdout: 'User ada is not found by e-mail\n2 entries, 1 problems\n',
    })
    expect(run('import', `fs:${at('bad')}`, at('a.jsonl'))).toMatchObject({
      status: 1,
      stderr: 'import failed: The store has entries; an import needs an empty one\n',
    })
    writeFileSync(at('half.jsonl'), readFileSync(at('a.jsonl'), 'utf8').slice(0, 5_000))
    expect(run('import', `fs:${at('half')}`, at('half.jsonl')).status).toBe(1)
    expect(run('verify', 'nothing:x')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('STORAGE') as string,
    })
    for (const args of [[], ['verify'], ['drop', 'memory']])
      expect(run(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining('Usage: ') as string })
  })
})
