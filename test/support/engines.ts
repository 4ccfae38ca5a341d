import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Postgres } from './postgres.js'
import { hasPostgres, startPostgres } from './postgres.js'
import type { RedisServer } from './redis.js'
import { missing as noRedis, startRedis } from './redis.js'
import { runtime } from './runtime.js'

/** Whether the chosen runtime has SQLite. */
export const hasSqlite = runtime === 'bun' || process.getBuiltinModule('node:sqlite') !== undefined
if (!hasSqlite) console.log('SQLite is left out: Node has it from version 22.13')

/** A value of `STORAGE`, without what differs from store to store. */
export interface Engine {
  name: string
  /** Why a second process cannot write too: the folder is locked, or who opens it last has it. Absent = it can. */
  single?: 'locked' | 'taken-over'
  missing: boolean
  /** A value of `STORAGE` that names an empty store. */
  create(): Promise<string>
}

let redis: Promise<RedisServer> | undefined
let postgres: Promise<Postgres> | undefined
const started: (() => Promise<void>)[] = []
/** Calls `end` in {@link endEngines}, before what was started earlier is ended. */
export const untilEnd = (end: () => Promise<unknown>): void => void started.push(async () => void (await end()))
/** Ends the servers and removes the folders of all stores. */
export const endEngines = async (): Promise<void> => {
  for (const end of started.splice(0).toReversed()) await end()
  redis = postgres = undefined
}

/** A folder that lasts until {@link endEngines}. */
export async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-store-'))
  started.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const redisServer = (): Promise<RedisServer> =>
  (redis ??= startRedis({ appendfsync: ['always'], databases: ['10000'] }).then((server) => {
    started.push(() => server.stop())
    return server
  }))

const postgresServer = (): Promise<Postgres> =>
  (postgres ??= startPostgres().then((server) => {
    started.push(() => server.stop())
    return server
  }))

let stores = 0

export const engines: Engine[] = [
  { name: 'fs', single: 'locked', missing: false, create: async () => `fs:${await newFolder()}` },
  ...(['fs', 'fs-lite'] as const).map((driver): Engine => ({
    name: `driver:${driver}`,
    single: 'locked',
    missing: false,
    create: async () => `driver:${driver}?${JSON.stringify({ base: await newFolder() })}`,
  })),
  {
    name: 'driver:redis',
    single: 'taken-over',
    missing: noRedis,
    create: async () => `driver:redis?${JSON.stringify({ url: (await redisServer()).url, base: `store-${++stores}` })}`,
  },
  { name: 'redis', missing: noRedis, create: async () => `${(await redisServer()).url}/${++stores}` },
  {
    name: 'postgres',
    missing: !hasPostgres,
    async create() {
      const { url } = await postgresServer()
      const database = `store_${++stores}`
      const client = new Client({ connectionString: url })
      await client.connect()
      await client.query(`create database ${database}`)
      await client.end()
      return url.replace(/postgres$/, database)
    },
  },
  { name: 'sqlite', missing: !hasSqlite, create: async () => `sqlite:${join(await newFolder(), 'kv.db')}` },
]
