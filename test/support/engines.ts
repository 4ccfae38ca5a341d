import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { Need } from './needs.js'
import { nodeSqlite, programs } from './needs.js'
import type { Postgres } from './postgres.js'
import { postgres as postgresNeed, startPostgres } from './postgres.js'
import type { RedisServer } from './redis.js'
import { startRedis } from './redis.js'
import { runtime } from './runtime.js'

/** What the chosen runtime needs for SQLite. */
export const sqlite: Need[] = runtime === 'bun' ? [] : [nodeSqlite]

/** A value of `STORAGE`, without what differs from store to store. */
export interface Engine {
  name: string
  /** Why a second process cannot write too: the folder is locked, or who opens it last has it. Absent = it can. */
  single?: 'locked' | 'taken-over'
  /** What it needs, if anything. */
  needed: Need[]
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

/** Whether an engine can be had here. */
export const isPresent = ({ needed }: Pick<Engine, 'needed'>): boolean => needed.every(({ isMissing }) => !isMissing)

/** Every engine, those first that can be had here. */
export const engines: Engine[] = (
  [
    { name: 'fs', single: 'locked', needed: [], create: async () => `fs:${await newFolder()}` },
    ...(['fs', 'fs-lite'] as const).map((driver): Engine => ({
      name: `driver:${driver}`,
      single: 'locked',
      needed: [],
      create: async () => `driver:${driver}?${JSON.stringify({ base: await newFolder() })}`,
    })),
    {
      name: 'driver:redis',
      single: 'taken-over',
      needed: [programs.redis],
      create: async () =>
        `driver:redis?${JSON.stringify({ url: (await redisServer()).url, base: `store-${++stores}` })}`,
    },
    { name: 'redis', needed: [programs.redis], create: async () => `${(await redisServer()).url}/${++stores}` },
    {
      name: 'postgres',
      needed: [postgresNeed],
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
    { name: 'sqlite', needed: sqlite, create: async () => `sqlite:${join(await newFolder(), 'kv.db')}` },
  ] satisfies Engine[]
).toSorted((a, b) => Number(isPresent(b)) - Number(isPresent(a)))
