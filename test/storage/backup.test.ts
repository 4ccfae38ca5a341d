import { execFile, spawnSync } from 'node:child_process'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createUser } from '@turnpike/core'
import { createPlatform } from '@turnpike/platform'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { checkConfig } from '../../packages/turnpike/src/config/check.js'
import { openFiles } from '../../packages/turnpike/src/files.js'
import { openStorage } from '../../packages/turnpike/src/storage.js'
import type { Load } from '../faults/failover.js'
import { recordsOf, startLoad } from '../faults/failover.js'
import { endEngines, engines, isPresent, newFolder, untilEnd } from '../support/engines.js'
import { needs, nodeSqlite, programs, testAll } from '../support/needs.js'
import { startPostgres } from '../support/postgres.js'
import { startCluster } from '../support/redis-failover.js'
import { startRedis } from '../support/redis.js'
import { runtime, runtimePath } from '../support/runtime.js'
import { sample } from '../support/scope.js'

const script = fileURLToPath(new URL('../../examples/server/dist/storage.js', import.meta.url))
const { PATH, HOME } = process.env
// Not all of the environment, in which vitest has a BASE_URL.
const run = (...args: string[]) =>
  spawnSync(runtimePath(), [script, ...args], { encoding: 'utf8', env: { PATH, HOME } })

afterAll(endEngines)

/** Stores a user with two files. */
async function fill(STORAGE: string, FILES: string): Promise<void> {
  const { kv } = await openStorage(STORAGE)
  const files = await openFiles(
    checkConfig({ store: STORAGE, files: { store: FILES }, providers: [{ type: 'openai', simulated: true }] }),
  )
  const { operations } = createPlatform({ kv, identity: { authenticate: () => null }, files })
  const { id } = await createUser(kv, { email: 'ada@example.org' })
  async function* body() {
    yield new Uint8Array(200_000)
  }
  for (const name of ['a', 'b']) await operations.files!.upload(id, { name, body: body() })
  await files.close()
  await kv.close()
}

/** Exports a store, imports it into an empty one, and verifies that one and the files. */
async function expectCopied(from: string, to: string, files: string): Promise<void> {
  const file = join(await newFolder(), 'backup.jsonl')
  await fill(from, files)
  expect(run('export', from, file)).toMatchObject({ status: 0 })
  expect(run('import', to, file)).toMatchObject({ status: 0 })
  expect(run('verify', to, files)).toMatchObject({
    status: 0,
    stdout: expect.stringContaining(' 0 problems') as string,
  })
  expect(run('export', to).stdout).toBe(run('export', from).stdout)
}

describe(`an export, on ${runtime}`, () => {
  const own = engines.filter((engine) => isPresent(engine) && (runtime === 'node' || engine.name !== 'sqlite'))
  it.each(sample(own))('is a copy of a store on $name', { timeout: 120_000 }, async ({ create }) => {
    await expectCopied(await create(), await create(), `fs:${await newFolder()}`)
  })

  it('is a copy of a Cluster, with files in one', { ...needs(testAll, programs.redis), timeout: 120_000 }, async () => {
    const cluster = await startCluster()
    untilEnd(cluster.stop)
    await expectCopied(cluster.url, `fs:${await newFolder()}`, cluster.url)
  })
})

/** Runs a command beside the load, which is in this process. */
const beside = promisify(execFile)

// The commands are those of docs/scale.md. What the server runs on makes no difference to them.
describe.runIf(runtime === 'node')('a copy that is made while the server runs', needs(testAll), () => {
  let load: Load
  afterEach(() => load.stop())

  /** Lets `copy` run under load. @returns the records of the copy, whose totals are right */
  const copied = async (from: string, copy: () => Promise<unknown>, to: string): Promise<number> => {
    load = await startLoad(from)
    // More than a page, so that a copy that is read page by page would differ from its totals.
    await load.answers(1_500)
    const before = load.count()
    await copy()
    await load.answers(100)
    expect((await load.finish()).lost).toBe(0)
    const { length } = await recordsOf(to)
    expect(length).toBeGreaterThanOrEqual(before)
    return length
  }

  it('of Redis is consistent', needs(programs.redis), async () => {
    const [server, other] = await Promise.all([startRedis(), startRedis({ appendonly: ['no'] })])
    for (const { stop } of [server, other]) untilEnd(stop)
    const file = join(await newFolder(), 'backup.rdb')
    const copy = async () => {
      await beside('redis-cli', ['-p', String(server.port), '--rdb', file])
      await other.kill()
      await copyFile(file, join(other.folder, 'dump.rdb'))
      await other.restart()
    }
    console.log(`Redis: ${await copied(server.url, copy, other.url)} records`)
  })

  it('of PostgreSQL is consistent', needs(programs.postgres), async () => {
    const server = await startPostgres()
    untilEnd(server.stop)
    await server.ask('create database copy')
    const to = server.url.replace(/postgres$/, 'copy')
    const copy = () => beside('sh', ['-c', `pg_dump ${server.url} | psql -q ${to}`])
    console.log(`PostgreSQL: ${await copied(server.url, copy, to)} records`)
  })

  it('of SQLite is consistent', needs(nodeSqlite), async () => {
    const folder = await newFolder()
    const [from, to] = [join(folder, 'kv.db'), join(folder, 'copy.db')]
    const open = `new (require('node:sqlite').DatabaseSync)('${from}')`
    const copy = () => beside(process.execPath, ['-e', `${open}.exec("vacuum into '${to}'")`])
    console.log(`SQLite: ${await copied(`sqlite:${from}`, copy, `sqlite:${to}`)} records`)
  })
})
