import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kvContract } from '@turnpike/storage/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Postgres } from '../support/postgres.js'
import { hasPostgres, startPostgres } from '../support/postgres.js'
import type { RedisServer } from '../support/redis.js'
import { missing, startRedis } from '../support/redis.js'
import { runtime, runtimePath } from '../support/runtime.js'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-contract-'))
let redis: RedisServer | undefined
let postgres: Postgres | undefined
beforeAll(async () => {
  if (!missing) redis = await startRedis()
  if (hasPostgres) postgres = await startPostgres()
})
afterAll(async () => {
  await redis?.stop()
  await postgres?.stop()
  rmSync(folder, { recursive: true })
})

const hasSqlite = runtime === 'bun' || process.getBuiltinModule('node:sqlite') !== undefined

/** What `STORAGE` can be: name, whether it is here, and its value. */
const storages: [name: string, here: boolean, url: () => string][] = [
  ['memory', true, () => 'memory'],
  ['fs', true, () => `fs:${folder}/fs`],
  ['sqlite', hasSqlite, () => `sqlite:${folder}/kv.db`],
  ['redis', !missing, () => redis!.url],
  ['postgres', hasPostgres, () => postgres!.url],
  ["unstorage's memory", true, () => 'driver:memory'],
  ["unstorage's fs", true, () => `driver:fs?${JSON.stringify({ base: `${folder}/unstorage-fs` })}`],
  ["unstorage's fs-lite", true, () => `driver:fs-lite?${JSON.stringify({ base: `${folder}/unstorage-fs-lite` })}`],
  ["unstorage's redis", !missing, () => `driver:redis?${JSON.stringify({ url: redis!.url, base: 'unstorage' })}`],
]

describe(`the contract, on ${runtime}`, () => {
  for (const [name, here, url] of storages)
    it.runIf(here)(`is kept by ${name}`, { timeout: 60_000 }, async () => {
      const script = fileURLToPath(new URL('contract.mjs', import.meta.url))
      const child = spawn(runtimePath(), [script, url()], { stdio: ['ignore', 'pipe', 'inherit'] })
      let output = ''
      child.stdout.on('data', (data: Buffer) => (output += data.toString()))
      const [code] = (await once(child, 'exit')) as [number]
      expect(output.trim().split('\n')).toEqual(kvContract.map((one) => `ok ${one.name}`))
      expect(code).toBe(0)
    })
})
