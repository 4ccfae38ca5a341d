import { expect, it } from 'vitest'
import type { SignedIn } from './world.js'
import { chat, worldSuite } from './world.js'

const shaped = (type: string, code: string): object => ({
  error: { type, code, message: expect.any(String) as string },
})

const V1 = '/api/gateway/v1'

worldSuite(
  'limits of the gateway for browsers',
  (world) => {
    const complete = (as: SignedIn) => world().ask<object>('POST', `${V1}/chat/completions`, { as, body: chat })

    it('are requests a minute of each user, and 401s do not count', async () => {
      const [as, other] = [await world().signedIn('user'), await world().signedIn('user')]
      await Promise.all([as, other].map(({ id }) => world().call('addBalance', id, { credit_coins: 1_000 })))
      for (let i = 0; i < 5; i++) await world().ask('POST', `${V1}/chat/completions`, { as: 'a.b.c', body: chat })
      const statuses = await Promise.all(Array.from({ length: 5 }, async () => (await complete(as)).status))
      expect(statuses.toSorted()).toEqual([200, 200, 200, 429, 429])
      const refused = await complete(as)
      expect([refused.status, refused.body]).toEqual([429, shaped('rate_limit_error', 'rate_limit_exceeded')])
      expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d?$/)
      expect((await complete(other)).status).toBe(200)
      await world().advance(60_000)
      expect((await complete(as)).status).toBe(200)
    })

    it('are credits, by the policy', async () => {
      const as = await world().signedIn('user')
      expect(await complete(as)).toMatchObject({
        status: 403,
        body: shaped('permission_error', 'insufficient_credits'),
      })
      await world().call('addBalance', as.id, { credit_coins: 1 })
      expect((await complete(as)).status).toBe(200)
    })

    it('are the origins that are listed', async () => {
      const as = await world().signedIn('user')
      for (const [origin, allowed] of [
        ['https://app.example', 'https://app.example'],
        ['https://app.example.evil', null],
        ['null', null],
      ] as const) {
        const headers = {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        }
        const preflight = await world().ask('OPTIONS', `${V1}/chat/completions`, { headers })
        const reply = await world().ask('GET', `${V1}/models`, { as, headers: { origin } })
        for (const answer of [preflight, reply]) {
          expect(answer.headers.get('access-control-allow-origin'), origin).toBe(allowed)
          expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
        }
      }
    })
  },
  { USER_RATE_LIMIT: '3', BALANCE_POLICY: 'enforce', CORS_ORIGIN: 'https://app.example' },
)
