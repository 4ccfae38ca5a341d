import { createUser, gatewayKeys, memoryKV, usageLedger } from '@turnpike/core'
import { localExchange } from '@turnpike/http'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { BalancePatch } from './accounts/balance-routes.js'
import type { PasswordHasher, ReplyRequest } from './index.js'
import { createPlatform, passwordAuth, scryptHasher } from './index.js'

const head = {
  method: 'POST',
  ip: () => '127.0.0.1',
  origin: () => 'https://app.example',
  header: (name: string) => ({ 'sec-fetch-site': 'same-origin' })[name],
}

/** Takes no time, and as long as the test wants. */
function heldHasher() {
  const waiting: (() => void)[] = []
  const hasher: PasswordHasher = {
    hash: async () => 'hash',
    verify: () => new Promise((resolve) => waiting.push(() => resolve(false))),
    needsRehash: () => false,
  }
  return { hasher, waiting }
}

/** Values of docs/conventions.md that the tests over HTTP do not show. */
describe('the defaults', () => {
  it('hash passwords by scrypt, N = 2^15, r = 8, p = 3', async () => {
    const hash = await scryptHasher().hash('correct horse')
    expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(await scryptHasher().verify('correct horse', hash)).toBe(true)
    expect(scryptHasher({ ln: 15, r: 8, p: 1 }).needsRehash(hash)).toBe(true)
  })

  it('hash two passwords at a time, let 32 wait, 8 of one address, and refuse others', async () => {
    const { hasher, waiting } = heldHasher()
    const { sessions } = passwordAuth({ kv: await memoryKV(), hasher, failures: { perEmail: 100, perAddress: 100 } })
    const statuses: number[] = []
    const guess = (ip: string) =>
      sessions
        .signIn({ email: 'ada@example.org', password: 'any' }, { ...head, ip: () => ip })
        .catch((error: { status: number }) => void statuses.push(error.status))
    const first = Array.from({ length: 9 }, () => guess('192.0.2.1'))
    await expect.poll(() => statuses).toEqual([429])
    // The second address takes no place of those that wait: all have tried as much.
    const all = [...first, ...Array.from({ length: 28 }, (_, i) => guess(`198.51.${i}.1`))]
    await expect.poll(() => statuses).toEqual([429, 503, 503])
    await expect.poll(() => waiting.length).toBe(2)
    for (let done = 0; done < 34; done++) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      waiting.shift()!()
    }
    await Promise.all(all)
    expect(statuses).toEqual([429, 503, 503, ...Array<number>(34).fill(401)])
  })

  it('make a reply from the last 100 messages', async () => {
    const kv = await memoryKV()
    const asked: ReplyRequest['messages'][] = []
    const { operations } = createPlatform({
      kv,
      identity: passwordAuth({ kv }),
      async *responder({ messages }) {
        asked.push(messages)
        yield { choices: [{ delta: { content: 'Hi' } }] }
      },
    })
    const user = await createUser(kv, { email: 'ada@example.org' })
    const { id } = await operations.projects.create(user.id, { name: 'A' })
    for (let i = 0; i < 120; i++) await operations.conversations.send(user.id, id, { text: `${i}` })
    const { chunks } = await operations.conversations.reply(user, id, { message: { text: 'last' } })
    for await (const _ of chunks);
    const [messages] = asked as [ReplyRequest['messages']]
    expect([messages.length, messages[0], messages[99]]).toEqual([
      100,
      { role: 'user', content: '21' },
      { role: 'user', content: 'last' },
    ])
  })

  it('allow balances of up to 1,000,000,000', () => {
    const isAllowed = (creditCoins: number): boolean => v.is(BalancePatch, { creditCoins })
    expect([1e9, 1e9 + 1, -1e9, -1e9 - 1].map(isAllowed)).toEqual([true, false, true, false])
  })

  it('tell the cost of the last 100 revisions of a task apart', async () => {
    const kv = await memoryKV()
    const { operations } = createPlatform({ kv, identity: passwordAuth({ kv }) })
    const { id: userId } = await createUser(kv, { email: 'ada@example.org' })
    const { id: projectId } = await operations.projects.create(userId, { name: 'A' })
    const { id } = await operations.tasks.create(userId, projectId, { title: 'B' })
    for (let i = 0; i < 101; i++) await operations.tasks.update(userId, id, () => ({ output: `${i}` }))
    const { items } = await operations.tasks.revisions(userId, id, { limit: 101 })
    const { revisions } = await operations.spend.task(userId, id)
    expect(revisions.map((one) => one.id)).toEqual(items.slice(0, 100).map((one) => one.id))
    expect(items).toHaveLength(101)
  })

  it('read one page of revisions for that', async () => {
    const kv = await memoryKV()
    const { operations } = createPlatform({ kv, identity: passwordAuth({ kv }) })
    const { id: userId } = await createUser(kv, { email: 'ada@example.org' })
    const { id: projectId } = await operations.projects.create(userId, { name: 'A' })
    const { id } = await operations.tasks.create(userId, projectId, { title: 'B' })
    for (let i = 0; i < 20; i++) await operations.tasks.update(userId, id, () => ({ output: `${i}`.repeat(500_000) }))
    const { revisions } = await operations.spend.task(userId, id)
    // 2 MiB end a page.
    expect(revisions.length).toBeGreaterThan(1)
    expect(revisions.length).toBeLessThan(6)
  })

  it('allow a user 60 requests a minute through the gateway for browsers', async () => {
    const kv = await memoryKV()
    const user = await createUser(kv, { email: 'ada@example.org' })
    const limits: number[] = []
    const limited = createPlatform({
      kv,
      identity: { authenticate: () => ({ userId: user.id, via: 'custom' }) },
      rateLimiter: {
        consume(key, perMinute) {
          expect(key).toContain(user.id)
          limits.push(perMinute)
          return { ok: false, retryAfter: 7 }
        },
        adjust: () => undefined,
      },
      gateway: {
        keys: gatewayKeys(kv),
        ledger: usageLedger(kv),
        as: (_, { count } = {}) => ({
          handle: async () => {
            await count!(user, 1)
            return null
          },
          refuse: () => ({ status: 400, headers: {} }),
        }),
      },
    })
    const asked = limited.handle(localExchange({ method: 'GET', path: '/api/gateway/v1/models' }))
    await expect(asked).rejects.toMatchObject({ status: 429, retryAfter: 7 })
    expect(limits).toEqual([60])
  })
})
