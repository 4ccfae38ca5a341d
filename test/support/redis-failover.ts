import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { vi } from 'vitest'
import { freePort } from './free-port.js'
import type { RedisServer } from './redis.js'
import { spawnRedis, startRedis } from './redis.js'

/** A primary whose place a replica takes when it ends. */
export interface ReplicatedRedis {
  /** A value of `STORAGE`, which ends in a query. */
  url: string
  primary: RedisServer
  /** The replicas of the primary. */
  replicas: RedisServer[]
  stop(): Promise<void>
}

/** How long a primary may be silent before a replica takes its place, in milliseconds. */
const SILENCE = 2_000

/** A replica that comes back is copied to at once, and not after 5 seconds, in which more of them may come. */
const config = { 'repl-diskless-sync-delay': ['0'] }

/** What one server answers to a command. */
export async function askRedis({ port }: { port: number }, ...[name, ...args]: [string, ...string[]]): Promise<string> {
  const client = new Redis(port, '127.0.0.1')
  try {
    return String(await client.call(name, ...args))
  } finally {
    client.disconnect()
  }
}

/** Waits for a condition. */
const until = (holds: () => Promise<boolean>): Promise<true> => vi.waitUntil(holds, { timeout: 60_000, interval: 50 })

/**
 * Runs a set-up, which calls `started` with each server that it starts. `stop` ends all of them, and so does a set-up that fails, those
 * that are starting at that time included.
 */
async function setUp(
  start: (
    started: <T extends { stop(): Promise<unknown> }>(server: Promise<T>) => Promise<T>,
  ) => Promise<Omit<ReplicatedRedis, 'stop'>>,
): Promise<ReplicatedRedis> {
  const servers: Promise<{ stop(): Promise<unknown> }>[] = []
  const stop = async (): Promise<void> => {
    const settled = await Promise.allSettled(servers.toReversed())
    await Promise.all(settled.map((server) => server.status === 'fulfilled' && server.value.stop()))
  }
  try {
    const redis = await start((server) => {
      servers.push(server)
      return server
    })
    return { ...redis, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Waits until all of them have copied the data of their primary. */
async function inSync(replicas: RedisServer[]): Promise<void> {
  for (const { port } of replicas)
    await until(async () => (await askRedis({ port }, 'INFO', 'replication')).includes('master_link_status:up'))
}

/** Waits until one of them is a primary. */
export async function promotion(replicas: RedisServer[]): Promise<void> {
  await until(async () => {
    const roles = await Promise.all(replicas.map(({ port }) => askRedis({ port }, 'INFO', 'replication')))
    return roles.some((role) => role.includes('role:master'))
  })
}

/**
 * Has a replica of a Cluster take the place of its primary. The Cluster gives up after 5 seconds, as where its other primaries voted for
 * another failover shortly before, and is asked again.
 */
export async function planFailover(replica: RedisServer): Promise<void> {
  let asked = 0
  await until(async () => {
    if ((await askRedis(replica, 'INFO', 'replication')).includes('role:master')) return true
    if (Date.now() - asked > 6_000) {
      asked = Date.now()
      await askRedis(replica, 'CLUSTER', 'FAILOVER')
    }
    return false
  })
}

/** Starts a Sentinel with a configuration. */
async function startSentinelOf(file: string) {
  const sentinel = await spawnRedis([file, '--sentinel'], '+monitor master main')
  return {
    async stop() {
      sentinel.kill('SIGKILL')
      await once(sentinel, 'exit')
    },
  }
}

/** Starts a primary, replicas and one Sentinel. */
export const startSentinel = (replicaCount: number): Promise<ReplicatedRedis> =>
  setUp(async (started) => {
    const primary = await started(startRedis(config))
    const replicaof = ['127.0.0.1', String(primary.port)]
    const replicas = await Promise.all(
      Array.from({ length: replicaCount }, () => started(startRedis({ ...config, replicaof }))),
    )
    await inSync(replicas)
    const port = await freePort()
    // A Sentinel writes to its configuration.
    const file = join(primary.folder, 'sentinel.conf')
    await writeFile(
      file,
      `bind 127.0.0.1
port ${port}
dir ${primary.folder}
sentinel monitor main ${replicaof.join(' ')} 1
sentinel down-after-milliseconds main ${SILENCE}
sentinel failover-timeout main 10000
`,
    )
    await started(startSentinelOf(file))
    await until(async () =>
      (await askRedis({ port }, 'SENTINEL', 'MASTER', 'main')).includes(`num-slaves,${replicaCount}`),
    )
    return { url: `redis://127.0.0.1:${port}?sentinel=main`, primary, replicas }
  })

/** Starts a Cluster of three primaries with a replica each; `primary` is the one that has the store. */
export const startCluster = (): Promise<ReplicatedRedis> =>
  setUp(async (started) => {
    const nodes = await Promise.all(
      Array.from({ length: 6 }, async () => {
        // Its own default, the port and 10,000, may be in use.
        const port = String(await freePort())
        return started(
          startRedis({
            ...config,
            'cluster-enabled': ['yes'],
            'cluster-announce-ip': ['127.0.0.1'],
            'cluster-port': [port],
            'cluster-node-timeout': [String(SILENCE)],
          }),
        )
      }),
    )
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
    execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'])
    const slot = Number(await askRedis(nodes[0]!, 'CLUSTER', 'KEYSLOT', '{turnpike}'))
    const client = new Redis(nodes[0]!.port, '127.0.0.1')
    let owners: [string, number][] = []
    // Nodes learn from each other who replicates whom.
    await until(async () => {
      const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][]
      owners = ranges.find(([from, to]) => from <= slot && slot <= to)!.slice(2) as [string, number][]
      return owners.length >= 2
    }).finally(() => client.disconnect())
    const [primary, ...replicas] = owners.map(([, port]) => nodes.find((node) => node.port === port)!)
    await inSync(replicas)
    for (const { port } of nodes)
      await until(async () => (await askRedis({ port }, 'CLUSTER', 'INFO')).includes('cluster_state:ok'))
    return { url: `redis://${addresses.slice(0, 3).join()}?cluster`, primary: primary!, replicas }
  })
