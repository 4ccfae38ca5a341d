import { listAudit, memoryKV, memoryRateLimiter } from '@turnpike/core'
import { expect, it } from 'vitest'
import { signInLog } from './sign-in-log.js'

const DAY = 86_400_000
const signIn = { id: 's', user_id: 'ada', counter: 0, refreshed_at: 0, arrived: false, used_at: 0, created_at: 0 }

it('a month of a flood takes few entries a minute, which expire after 30 days', async () => {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const now = (): number => clock.now
  const kv = await memoryKV({ now })
  const log = signInLog(kv, memoryRateLimiter({ now }), now)
  const count = async (): Promise<number> => (await kv.list(['audit'], { limit: 500 })).items.length
  for (let minute = 0; minute < 3; minute++) {
    for (let i = 0; i < 200; i++) await log.failed(`nobody-${i % 150}@example.org`, i % 2 ? `${i}` : null, '192.0.2.1')
    for (let i = 0; i < 30; i++)
      await kv.commit({ set: await log.of(i % 2 ? 'sign-in' : 'sign-out', signIn, '192.0.2.1') })
    expect(await count()).toBe((11 + 61 + 22) * (minute + 1))
    clock.now += 60_000
  }
  const { items } = await listAudit(kv, { limit: 500 })
  expect(items.some(({ target }) => target === 'unknown')).toBe(true)
  expect(JSON.stringify(items)).not.toContain('nobody')
  // What there is no place for in the minute is told of.
  expect(items.filter(({ detail }) => detail === 'more, which are left out')).toHaveLength(12)
  clock.now += 30 * DAY
  expect(await count()).toBe(0)
})

it('a failure is written the same for known and unknown e-mails', async () => {
  const kv = await memoryKV()
  const asked: string[] = []
  let full = false
  const limiter = {
    consume(key: string) {
      asked.push(key.split(/[ :]/)[1]!)
      return { ok: !full || key.includes(' of '), retryAfter: 1 }
    },
    adjust: () => undefined,
  }
  const commits: number[] = []
  const watched = { ...kv, commit: (commit: object) => (commits.push(Object.keys(commit).length), kv.commit(commit)) }
  const log = signInLog(watched, limiter, Date.now)
  const seen: unknown[] = []
  for (full of [false, true])
    for (const userId of ['ada', null]) {
      await log.failed('ada@example.org', userId, '192.0.2.1')
      seen.push([asked.splice(0), commits.splice(0)])
    }
  expect(seen).toEqual(seen.map(() => [['failures', 'failures', 'failures'], [1]]))
  expect((await listAudit(kv)).items).toHaveLength(2)
})

it('many failures of nobody hide none of a user', async () => {
  const now = (): number => 0
  const kv = await memoryKV({ now })
  const log = signInLog(kv, memoryRateLimiter({ now }), now)
  for (let i = 0; i < 20; i++) await log.failed(`nobody-${i}@example.org`, null, '192.0.2.1')
  for (const id of ['ada', 'bob']) await log.failed(`${id}@example.org`, id, '192.0.2.1')
  const { items } = await listAudit(kv)
  expect(items.filter(({ target }) => target !== 'unknown').map(({ target }) => target)).toEqual(['bob', 'ada'])
})
