import { expect, it } from 'vitest'
import type { SignedIn, World } from './world.js'
import { chat, worldSuite } from './world.js'

interface Member {
  id: string
  budget?: object
}

worldSuite('budgets of users', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const asks = async (as: SignedIn | string, path = '/v1/chat/completions') => {
    const { status, body } = await ask<{ error?: { code: string } }>('POST', path, { as, body: chat })
    return status === 200 ? 200 : body.error?.code
  }

  it('are set, changed and removed by administrators, and hold at once for keys and for the browser', async () => {
    const [admin, dev] = [await world().signedIn('admin'), await world().signedIn('developer')]
    const { key } = (await world().newKey(dev)).body
    const set = async (budget: unknown) =>
      (await ask<Member>('PATCH', `/api/users/${dev.id}`, { as: admin, body: { budget } })).body
    const outcomes = async () => [await asks(key!), await asks(dev, '/api/gateway/v1/chat/completions')]

    expect(await outcomes()).toEqual([200, 200])
    expect(await set({ usd: 0, per: null })).toMatchObject({ id: dev.id, budget: { usd: 0 } })
    expect(await outcomes()).toEqual(['budget_exceeded', 'budget_exceeded'])
    expect(await set({ usd: 5, per: 'month' })).toMatchObject({ budget: { usd: 5, per: 'month' } })
    expect(await outcomes()).toEqual([200, 200])
    const { body: own } = await ask<Member>('GET', '/api/account', { as: dev })
    const { body: read } = await ask<Member>('GET', `/api/users/${dev.id}`, { as: admin })
    const { body: all } = await ask<Member[]>('GET', '/api/users', { as: admin })
    const { body: ofGateway } = await ask<Member>('GET', `/v1/users/${dev.id}`, { as: key! })
    for (const user of [own, read, all.find(({ id }) => id === dev.id), ofGateway])
      expect(user).toMatchObject({ budget: { usd: 5, per: 'month' } })
    expect(await set(null)).not.toHaveProperty('budget')
    expect((await ask<Member>('GET', '/api/account', { as: dev })).body).not.toHaveProperty('budget')
    expect(await outcomes()).toEqual([200, 200])

    const log = await ask<{ data: object[] }>('GET', `/admin/audit?limit=3`, { as: admin })
    expect(log.body.data).toMatchObject(
      ['none', '$5 per month', '$0'].map((detail) => ({
        actor: admin.id,
        action: 'user.budget',
        target: dev.id,
        detail,
      })),
    )
  })

  it('are given to somebody who is made, and are those of POST /v1/users', async () => {
    const admin = await world().signedIn('admin')
    const { key } = (await world().newKey(admin)).body
    const budget = { usd: 3, per: 'day' }
    const made = await ask<Member>('POST', '/api/users', { as: admin, body: { email: 'b1@example.org', budget } })
    expect([made.status, made.body.budget]).toEqual([200, budget])
    const other = await ask<Member>('POST', '/v1/users', { as: key!, body: { budget } })
    const { body } = await ask<Member>('PATCH', `/api/users/${other.body.id}`, { as: admin, body: { budget: null } })
    expect([other.body.budget, body.budget]).toEqual([budget, undefined])
  })

  it('threat 72: a budget that its user changes', async () => {
    const [admin, dev] = [await world().signedIn('admin'), await world().signedIn('developer')]
    await ask('PATCH', `/api/users/${dev.id}`, { as: admin, body: { budget: { usd: 0 } } })
    for (const budget of [null, { usd: 9 }]) {
      expect((await ask('PATCH', `/api/users/${dev.id}`, { as: dev, body: { budget } })).status).toBe(403)
      // No field of what users may change of themselves.
      await ask('PATCH', '/api/account/role', { as: dev, body: { role: 'developer', budget } })
    }
    await ask('PATCH', '/api/account/role', { as: dev, body: { role: 'user' } })
    await ask('PATCH', '/api/account/role', { as: dev, body: { role: 'developer' } })
    const { key } = (await world().newKey(dev, { name: 'k', budget: { usd: 100 } })).body
    expect([await asks(key!), await asks(dev, '/api/gateway/v1/chat/completions')]).toEqual([
      'budget_exceeded',
      'budget_exceeded',
    ])
  })

  it('refuses what is no budget, and says what one is', async () => {
    const [admin, ada] = [await world().signedIn('admin'), await world().signedIn()]
    for (const budget of [5, {}, { usd: -1 }, { usd: 1_000_001 }, { usd: 1, per: 'week' }, { usd: 1, of: 2 }]) {
      const { status, body } = await ask<{ error: string }>('PATCH', `/api/users/${ada.id}`, {
        as: admin,
        body: { budget },
      })
      expect([budget, status, body.error]).toEqual([budget, 400, expect.stringMatching(/^budget/)])
    }
  })
})
