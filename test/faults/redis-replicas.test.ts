import { redisKV } from '@turnpike/storage'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { needs, programs } from '../support/needs.js'
import { addOne, outcome, redisParts } from './redis-parts.js'

const { start, open, cleanUp } = redisParts()

describe('a commit that needs a replica', needs(programs.redis), () => {
  it('is unknown without one, and counts once when there is one', async () => {
    const primary = await start({ 'repl-diskless-sync-delay': ['0'] })
    const client = new Redis(primary.port)
    cleanUp.push(() => client.disconnect())
    const kv = await redisKV(client, { replicas: 1, timeout: 1_500 })
    expect(await outcome(kv.commit(addOne))).toBe('unknown')
    const later = (await redisKV(client, { replicas: 1, timeout: 30_000 })).commit(addOne)
    const replica = await start({ replicaof: ['127.0.0.1', String(primary.port)] })
    expect(await later).toBe(true)
    await primary.kill()
    const other = new Redis(replica.port)
    cleanUp.push(() => other.disconnect())
    await other.replicaof('NO', 'ONE')
    expect((await (await redisKV(other)).get(['n']))?.value).toEqual({ x: 2 })
  })

  it('delays no read while it waits', async () => {
    const primary = await start({ 'repl-diskless-sync-delay': ['0'] })
    const replica = await start({ replicaof: ['127.0.0.1', String(primary.port)] })
    const { client } = await open(primary.port)
    const other = await open(primary.port)
    const connections = async (): Promise<number> =>
      ((await other.client.client('LIST')) as string).trim().split('\n').length
    const before = await connections()
    const kv = await redisKV(client, { replicas: 1 })
    expect(await kv.commit(addOne)).toBe(true)
    replica.signal('SIGSTOP')
    const commit = kv.commit(addOne)
    // Without a connection of its own, the commit would be given up before so many reads have waited for it.
    for (let i = 0; i < 20; i++) {
      await expect.poll(() => other.client.info('clients')).toContain('blocked_clients:1')
      expect(await kv.get(['a'])).not.toBeNull()
    }
    replica.signal('SIGCONT')
    expect(await commit).toBe(true)
    await kv.close()
    await expect.poll(connections).toBe(before)
  })

  it('is unknown where Redis refuses it after it was written without one', async () => {
    const server = await start()
    const { client, kv } = await open(server.port)
    const waiting = (await redisKV((await open(server.port)).client, { replicas: 1 })).commit(addOne)
    await expect.poll(async () => (await kv.get(['n']))?.value).toEqual({ x: 1 })
    await client.config('SET', 'maxmemory', '1')
    expect(await outcome(waiting)).toBe('unknown')
  })

  it('is not written by a primary that refuses it, and waits for it to change its mind', async () => {
    const server = await start()
    const { client, kv } = await open(server.port, {}, 1_000)
    const patient = await open(server.port)
    await client.config('SET', 'min-replicas-to-write', '1')
    expect(await outcome(kv.commit(addOne))).toBe('unknown')
    const later = patient.kv.commit(addOne)
    await client.config('SET', 'min-replicas-to-write', '0')
    expect(await later).toBe(true)
    expect((await kv.get(['n']))?.value).toEqual({ x: 1 })
  })
})
