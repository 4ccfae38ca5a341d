import type { KV } from '@turnpike/core'
import { redisKV } from '@turnpike/storage'
import { kvContract } from '@turnpike/storage/testing'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, it } from 'vitest'
import type { RedisServer } from '../support/redis.js'
import { missing, startRedis } from '../support/redis.js'

describe.skipIf(missing)('redisKV', () => {
  let server: RedisServer
  let client: Redis
  let kv: KV
  beforeAll(async () => {
    server = await startRedis()
    client = new Redis(server.url)
    kv = await redisKV(client)
  })
  afterAll(async () => {
    await kv.close()
    client.disconnect()
    await server.stop()
  })
  for (const { name, run } of kvContract) it(name, () => run(kv))
})
