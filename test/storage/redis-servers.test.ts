import { StorageError } from '@turnpike/core'
import { redisKV } from '@turnpike/storage'
import { kvContract } from '@turnpike/storage/testing'
import { Cluster, Redis } from 'ioredis'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/free-port.js'
import { needs, programs, testAll } from '../support/needs.js'
import type { RedisServer } from '../support/redis.js'
import { startRedis } from '../support/redis.js'

/** A server that lasts until the end of the test. */
async function start(config?: Record<string, string[]>): Promise<RedisServer> {
  const server = await startRedis(config)
  onTestFinished(() => server.stop())
  return server
}

/** A client that lasts until the end of the test. */
function connect(server: RedisServer): Redis {
  const client = new Redis(server.port)
  onTestFinished(() => client.disconnect())
  return client
}

describe('a Redis', needs(programs.redis), () => {
  it.each(['allkeys-lru', 'volatile-ttl'])('that evicts (%s) is refused', async (policy) => {
    const client = connect(await start({ 'maxmemory-policy': [policy] }))
    await expect(redisKV(client)).rejects.toThrow(`(maxmemory-policy ${policy}); set maxmemory-policy to noeviction`)
    await expect(redisKV(client)).rejects.toSatisfy(StorageError.is)
  })

  it('that is a replica is refused', async () => {
    const primary = await start()
    const replica = await start({ replicaof: ['127.0.0.1', String(primary.port)] })
    await expect(redisKV(connect(replica))).rejects.toThrow('replica; connect to its primary')
  })

  it.each<[durability: string, config: Record<string, string[]>]>([
    ['none', { appendonly: ['no'] }],
    ['none', { appendonly: ['no'], save: ['60', '1'] }],
    ['engine-configured', { appendfsync: ['everysec'] }],
    ['power-loss', { appendfsync: ['always'] }],
    ['engine-configured', { appendfsync: ['always'], 'rename-command': ['CONFIG', ''] }],
  ])('is reported as %s with %j', async (durability, config) => {
    const kv = await redisKV(connect(await start(config)))
    expect(kv.capabilities.durability).toBe(durability)
    expect(await kv.commit({ set: [{ key: ['a'], value: 1 }] })).toBe(true)
  })

  it('that is a Cluster passes the contract', needs(testAll), async () => {
    // Its own default, the port and 10,000, may be in use.
    const bus = String(await freePort())
    const server = await start({
      'cluster-enabled': ['yes'],
      'cluster-announce-ip': ['127.0.0.1'],
      'cluster-port': [bus],
    })
    await connect(server).call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383')
    const cluster = new Cluster([{ host: '127.0.0.1', port: server.port }])
    onTestFinished(() => cluster.disconnect())
    const kv = await redisKV(cluster)
    for (const { run } of kvContract) await run(kv)
  })
})
