import { listAudit, memoryKV, memoryRateLimiter } from '@turnpike/core'
import { expect, it } from 'vitest'
import { signInLog } from './sign-in-log.js'

const DAY = 86_400_000
const signIn = { id: 's', user_id: 'ada', counter: 0, refreshed_at: 0, arrived: false, used_at: 0, created_at: 0 }

it('a month of a flood takes 10 entries a minute, which expire after 30 days', async () => {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const now = (): number => clock.now
  const kv = await memoryKV({ now })
  const log = signInLog(kv, memoryRateLimiter({ now }), now)
  const count = async (): Promise<number> => (await kv.list(['audit'], { limit: 500 })).items.length
  for (let minute = 0; minute < 3; minute++) {
    for (let i = 0; i < 100; i++) await log.failed(`nobody-${i % 50}@example.org`, i % 2 ? `${i}` : null, '192.0.2.1')
    for (let i = 0; i < 20; i++)
      await kv.commit({ set: await log.of(i % 2 ? 'sign-in' : 'sign-out', signIn, '192.0.2.1') })
    expect(await count()).toBe(30 * (minute + 1))
    clock.now += 60_000
  }
  const { items } = await listAudit(kv)
  expect(items.some(({ target }) => target === 'unknown')).toBe(true)
  expect(JSON.stringify(items)).not.toContain('nobody')
  clock.now += 30 * DAY
  expect(await count()).toBe(0)
})

it('a failure is written the same for known and unknown e-mails', async () => {
  const kv = await memoryKV()
  const asked: string[] = []
  const limiter = { consume: (key: string) => (asked.push(key.split(' ')[1]!), { ok: true, retryAfter: 1 }) }
  const commits: number[] = []
  const watched = { ...kv, commit: (commit: object) => (commits.push(Object.keys(commit).length), kv.commit(commit)) }
  const log = signInLog(watched, limiter, Date.now)
  await log.failed('ada@example.org', 'ada', '192.0.2.1')
  const known = [asked.splice(0), commits.splice(0)]
  await log.failed('nobody@example.org', null, '192.0.2.1')
  expect([asked, commits]).toEqual(known)
})
