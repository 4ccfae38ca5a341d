import { memoryKV, memoryRateLimiter } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { throttle } from './throttle.js'

describe('a throttle', () => {
  const setUp = async () => {
    const clock = { now: 0 }
    const now = (): number => clock.now
    const kv = await memoryKV({ now })
    const limiter = memoryRateLimiter({ now })
    const open = () => throttle(kv, limiter, now)
    return { clock, kv, open }
  }
  const subject = { name: 'ada@example.org', perMinute: 2 }

  it('blocks after one failure too many, in all processes, until the minute has passed', async () => {
    const { clock, open } = await setUp()
    const [one, other] = [open(), open()]
    await one.failed([subject])
    await other.failed([subject])
    await one.check([subject])
    clock.now += 15_000
    await expect(one.failed([subject])).rejects.toMatchObject({ status: 429, retryAfter: 45 })
    clock.now += 500
    await expect(other.check([{ name: 'bob', perMinute: 2 }, subject])).rejects.toMatchObject({ retryAfter: 45 })
    await other.check([{ name: 'bob', perMinute: 2 }])
    clock.now += 44_500
    await other.check([subject])
  })

  it('stores no name', async () => {
    const { kv, open } = await setUp()
    const { name } = subject
    for (let i = 0; i < 3; i++)
      await open()
        .failed([{ name, perMinute: 1 }])
        .catch(() => undefined)
    const { items } = await kv.list([])
    expect(items).toHaveLength(1)
    expect(JSON.stringify(items)).not.toContain(name)
  })

  it('blocks only those that failed meanwhile, where it knows who tries', async () => {
    const { clock, open } = await setUp()
    const [one, other] = [open(), open()]
    const by = (network: string) => [{ ...subject, by: network }]
    for (let i = 0; i < 2; i++) await one.failed(by('a'))
    await one.check(by('a'))
    await expect(one.failed(by('a'))).rejects.toMatchObject({ status: 429 })
    await expect(other.check(by('a'))).rejects.toMatchObject({ status: 429, retryAfter: 60 })
    await other.check(by('b'))
    await expect(other.failed(by('b'))).rejects.toMatchObject({ status: 429 })
    await expect(one.check(by('b'))).rejects.toMatchObject({ status: 429 })
    // When the minute has passed, all may try again; those that failed may not while it is blocked anew, for an hour.
    clock.now += 60_000
    await one.check(by('a'))
    for (let i = 0; i < 3; i++) await one.failed(by('c')).catch(() => undefined)
    await expect(one.check(by('a'))).rejects.toMatchObject({ status: 429 })
    await one.check(by('d'))
    clock.now += 3_600_000
    for (let i = 0; i < 3; i++) await one.failed(by('c')).catch(() => undefined)
    await one.check(by('a'))
  })
})
