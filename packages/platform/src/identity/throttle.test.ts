import { memoryKV, memoryRateLimiter } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { boundedQueue } from './bounded-queue.js'
import { networkOf, throttle } from './throttle.js'

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:5555', '192.0.2.7'],
    ['[2001:db8:1:2::9]:5555', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['', ''],
  ])('of %s is %s', (ip, network) => expect(networkOf(ip)).toBe(network))
})

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
})

describe('a bounded queue', () => {
  it('runs so many at a time, lets so many wait, in their order, and refuses the rest', async () => {
    const run = boundedQueue({ running: 2, waiting: 3 })
    const begun: number[] = []
    const ends: (() => void)[] = []
    const task = (i: number) => () =>
      new Promise<number>((resolve) => {
        begun.push(i)
        ends.push(() => resolve(i))
      })
    const all = Array.from({ length: 6 }, (_, i) => run(task(i)))
    await expect(all[5]).rejects.toMatchObject({ status: 503, retryAfter: 1, code: 'overloaded' })
    expect(begun).toEqual([0, 1])
    ends[1]!()
    expect(await all[1]).toBe(1)
    expect(begun).toEqual([0, 1, 2])
    // Whoever comes now waits behind those who do.
    const late = run(task(6))
    while (begun.length < 6) {
      ends[begun.length - 1]!()
      ends[0]!()
      await new Promise(setImmediate)
    }
    for (const end of ends) end()
    expect(await Promise.all([...all.slice(0, 5), late])).toEqual([0, 1, 2, 3, 4, 6])
    expect(begun).toEqual([0, 1, 2, 3, 4, 6])
  })

  it('goes on after a failure', async () => {
    const run = boundedQueue({ running: 1, waiting: 1 })
    const failing = run(() => Promise.reject(new Error('no')))
    const next = run(async () => 'yes')
    await expect(failing).rejects.toThrow('no')
    expect(await next).toBe('yes')
    expect(await run(async () => 'again')).toBe('again')
  })
})
