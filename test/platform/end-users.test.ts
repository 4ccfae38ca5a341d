import { expect, it } from 'vitest'
import type { SignedIn, World } from './world.js'
import { aTime, chat, worldSuite } from './world.js'

interface EndUser {
  id: string
  requests: number
}

worldSuite('end users', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const list = (as: SignedIn, id: string, query = '') =>
    ask<EndUser[]>('GET', `/api/keys/${id}/end-users${query}`, { as })
  const at = (id: string, user: string) => `/api/keys/${id}/end-users/${encodeURIComponent(user)}`
  const asks = async (key: string | undefined, user?: unknown) =>
    (await ask('POST', '/v1/chat/completions', { as: key, body: { ...chat, user } })).status

  it('are listed with what they used, changed and removed by the owner of the key', async () => {
    const [admin, dev, other] = [
      await world().signedIn('admin'),
      await world().signedIn('developer'),
      await world().signedIn('developer'),
    ]
    const endUsers = { required: true, budget: { usd: 1, per: 'day' }, rate_limit: 5 }
    const { id, key, ...made } = (await world().newKey(dev, { name: 'app', endUsers })).body
    expect(made).toMatchObject({ end_users: endUsers })
    const ids = ['ada@example.org', 'a/b?c#d', 'é 😀 %2F']
    for (const user of ids) expect(await asks(key, user)).toBe(200)
    expect([await asks(key), await asks(key, ' '), await asks(key, 'x'.repeat(129))]).toEqual([400, 400, 400])

    const { body: all } = await list(dev, id)
    expect(all.map((one) => one.id).toSorted()).toEqual(ids.toSorted())
    expect(all[0]).toEqual({
      id: all[0]!.id,
      budget_used_usd: expect.any(Number) as number,
      created_at: aTime,
      requests: 1,
      prompt_tokens: expect.any(Number) as number,
      completion_tokens: expect.any(Number) as number,
      total_tokens: expect.any(Number) as number,
      cost_usd: expect.any(Number) as number,
    })
    const page = await list(dev, id, '?limit=2')
    const next = /^<(\?.*)>; rel="next"$/.exec(page.headers.get('link')!)![1]!
    expect([...page.body, ...(await list(dev, id, next)).body]).toEqual(all)

    for (const user of ids) {
      const limits = { budget: { usd: 0 }, rateLimit: 9 }
      const changed = await ask('PATCH', at(id, user), { as: dev, body: limits })
      expect([changed.status, changed.body]).toMatchObject([
        200,
        { id: user, budget: { usd: 0 }, rate_limit: 9, requests: 1 },
      ])
      expect(await asks(key, user)).toBe(403)
      await ask('PATCH', at(id, user), { as: dev, body: { budget: null, rate_limit: null } })
      expect(await asks(key, user)).toBe(200)
    }
    for (const as of [admin, other]) {
      const replies = [
        await list(as, id),
        await ask('PATCH', at(id, ids[0]!), { as, body: { rateLimit: 9 } }),
        await ask('DELETE', at(id, ids[0]!), { as }),
      ]
      expect(replies.map(({ status }) => status)).toEqual([404, 404, 404])
    }
    // What no end user can be called is no key of a store.
    for (const user of ['nobody', 'x'.repeat(5000), 'a\u0000b'])
      for (const method of ['PATCH', 'DELETE'] as const)
        expect((await ask(method, at(id, user), { as: dev, body: method === 'PATCH' ? {} : undefined })).status).toBe(
          404,
        )
    for (const user of ids) {
      const statuses = [await ask('DELETE', at(id, user), { as: dev }), await ask('DELETE', at(id, user), { as: dev })]
      expect(statuses.map(({ status }) => status)).toEqual([204, 404])
    }
    expect((await list(dev, id)).body).toEqual([])
    expect(
      JSON.stringify((await world().call<[string[]][]>('dump')).filter(([[kind]]) => kind !== 'usage')),
    ).not.toContain('ada@example.org')
    expect(await asks(key, ids[0])).toBe(200)
    expect(await world().call('verify')).toEqual([])
  })

  it('stay with a key that is rotated, and go on when the key tells them apart no more', async () => {
    const dev = await world().signedIn('developer')
    const { id, key } = (await world().newKey(dev, { name: 'app', endUsers: { rate_limit: 2 } })).body
    expect([await asks(key, 'ada'), await asks(key, 'ada'), await asks(key, 'ada')]).toEqual([200, 200, 429])
    const { body } = await ask<{ id: string; key: string }>('POST', `/api/keys/${id}/rotate`, { as: dev })
    expect([await asks(body.key, 'ada'), await asks(body.key, 'bob')]).toEqual([429, 200])
    expect((await list(dev, body.id)).body.map((one) => [one.id, one.requests])).toEqual([
      ['ada', 2],
      ['bob', 1],
    ])
    await ask('PATCH', `/api/keys/${body.id}`, { as: dev, body: { endUsers: null } })
    expect(await asks(body.key, 'ada')).toBe(200)
    expect((await list(dev, body.id)).body[0]).toMatchObject({ id: 'ada', requests: 2 })
  })

  it('have rules that are none refused', async () => {
    const dev = await world().signedIn('developer')
    for (const endUsers of [5, { required: 'yes' }, { budget: { usd: -1 } }, { rate_limit: 0 }, { max: 1 }])
      expect([endUsers, (await world().newKey(dev, { name: 'k', endUsers })).status]).toEqual([endUsers, 400])
  })
})
