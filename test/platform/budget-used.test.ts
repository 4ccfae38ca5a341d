import { expect, it } from 'vitest'
import type { SignedIn } from './world.js'
import { chat, worldSuite } from './world.js'

interface Row {
  id: string
  cost_usd?: number
  budget_used_usd?: number
}

worldSuite('what was spent of a budget', (world) => {
  const get = async <T>(as: SignedIn, path: string) => (await world().ask<T>('GET', path, { as })).body

  it('is told of a user, a key, its successor and an end user, in the period of the budget', async () => {
    let [admin, dev] = [await world().signedIn('admin'), await world().signedIn('developer')]
    const set = (budget: object | null) => world().ask('PATCH', `/api/users/${dev.id}`, { as: admin, body: { budget } })
    const endUsers = { budget: { usd: 2, per: 'day' } }
    const { id, key } = (await world().newKey(dev, { name: 'app', budget: { usd: 5 }, endUsers })).body
    await world().newKey(dev, { name: 'without' })
    await set({ usd: 9, per: 'day' })
    const used = async () => {
      const [mine, read, listed, all, people] = await Promise.all([
        get<Row>(dev, '/api/account'),
        get<Row>(admin, `/api/users/${dev.id}`),
        get<Row[]>(dev, '/api/keys'),
        get<{ data: Row[] }>(admin, '/admin/keys'),
        get<Row[]>(dev, `/api/keys/${id}/end-users`),
      ])
      const ids = listed.map((one) => one.id)
      return {
        user: [mine, read].map((one) => one.budget_used_usd),
        keys: listed.map((one) => one.budget_used_usd),
        all: ids.map((id) => all.data.find((one) => one.id === id)!.budget_used_usd),
        people: people.map((one) => one.budget_used_usd),
      }
    }
    expect(await used()).toEqual({ user: [0, 0], keys: [undefined, 0], all: [undefined, 0], people: [] })

    const asks = async (as: string | undefined) =>
      (await world().ask('POST', '/v1/chat/completions', { as, body: { ...chat, user: 'ada' } })).status
    expect(await asks(key)).toBe(200)
    const { cost_usd: cost = 0 } = await get<Row>(dev, '/api/keys/usage')
    expect(cost).toBeGreaterThan(0)
    const one = [undefined, cost]
    expect(await used()).toEqual({ user: [cost, cost], keys: one, all: one, people: [cost] })

    const { body: next } = await world().ask<{ key: string }>('POST', `/api/keys/${id}/rotate`, { as: dev })
    expect(await asks(next.key)).toBe(200)
    const two = [2 * cost, undefined, 2 * cost]
    expect(await used()).toEqual({ user: [2 * cost, 2 * cost], keys: two, all: two, people: [2 * cost] })

    // What is counted by the day begins anew; the key's budget is for all time.
    await world().advance(86_400_000)
    ;[admin, dev] = [await world().signIn(admin.email), await world().signIn(dev.email)]
    expect(await used()).toEqual({ user: [0, 0], keys: two, all: two, people: [0] })
    await set(null)
    expect((await used()).user).toEqual([undefined, undefined])
  })
})
