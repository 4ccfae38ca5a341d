import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
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

/** Waits until all of them have copied the data of their primary. */
async function inSync(replicas: RedisServer[]): Promise<void> {
  for (const { port } of replicas)
    while (!(await askRedis({ port }, 'INFO', 'replication')).includes('master_link_status:up')) await sleep(50)
}

/** Waits until one of them is a primary. */
export async function promotion(replicas: RedisServer[]): Promise<void> {
  for (;;) {
    const roles = await Promise.all(replicas.map(({ port }) => askRedis({ port }, 'INFO', 'replication')))
    if (roles.some((role) => role.includes('role:master'))) return
    await sleep(50)
  }
}

/** Starts a primary, replicas and one Sentinel. */
export async function startSentinel(replicaCount: number): Promise<ReplicatedRedis> {
  const primary = await startRedis(config)
  const replicaof = ['127.0.0.1', String(primary.port)]
  const replicas = await Promise.all(Array.from({ length: replicaCount }, () => startRedis({ ...config, replicaof })))
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
  const sentinel = await spawnRedis([file, '--sentinel'], '+monitor master main')
  while (!(await askRedis({ port }, 'SENTINEL', 'MASTER', 'main')).includes(`num-slaves,${replicaCount}`))
    await sleep(50)
  return {
    url: `redis://127.0.0.1:${port}?sentinel=main`,
    primary,
    replicas,
    async stop() {
      sentinel.kill('SIGKILL')
      await once(sentinel, 'exit')
      await Promise.all([...replicas, primary].map((server) => server.stop()))
    },
  }
}

/** Starts a Cluster of three primaries with a replica each; `primary` is the one that has the store. */
export async function startCluster(): Promise<ReplicatedRedis> {
  const nodes = await Promise.all(
    Array.from({ length: 6 }, async () =>
      startRedis({
        ...config,
        'cluster-enabled': ['yes'],
        'cluster-announce-ip': ['127.0.0.1'],
        // Its own default, the port and 10,000, may be in use.
        'cluster-port': [String(await freePort())],
        'cluster-node-timeout': [String(SILENCE)],
      }),
    ),
  )
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`)
  execFileSync('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'])
  const slot = Number(await askRedis(nodes[0]!, 'CLUSTER', 'KEYSLOT', '{turnpike}'))
  const client = new Redis(nodes[0]!.port, '127.0.0.1')
  let owners: [string, number][] = []
  // Nodes learn from each other who replicates whom.
  while (owners.length < 2) {
    await sleep(50)
    const ranges = (await client.call('CLUSTER', 'SLOTS')) as [number, number, ...[string, number][]][]
    owners = ranges.find(([from, to]) => from <= slot && slot <= to)!.slice(2) as [string, number][]
  }
  client.disconnect()
  const [primary, ...replicas] = owners.map(([, port]) => nodes.find((node) => node.port === port)!)
  await inSync(replicas)
  for (const { port } of nodes)
    while (!(await askRedis({ port }, 'CLUSTER', 'INFO')).includes('cluster_state:ok')) await sleep(50)
  return {
    url: `redis://${addresses.slice(0, 3).join()}?cluster`,
    primary: primary!,
    replicas,
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
  }
}
