import { expect, it } from 'vitest'
import type { Key, SignedIn, World } from './world.js'
import { aTime, chat, unknownId, uuid, worldSuite } from './world.js'

interface Changed extends Key {
  models?: string[]
  budget?: object
  expires_at?: string
  rotated_at?: string
}

worldSuite(
  'changes of keys',
  (world) => {
    const ask: World['ask'] = (...request) => world().ask(...request)
    const patch = (as: SignedIn, id: string, body: object) => ask<Changed>('PATCH', `/api/keys/${id}`, { as, body })
    const rotate = (as: SignedIn, id: string, query = '') =>
      ask<Changed>('POST', `/api/keys/${id}/rotate${query}`, { as })
    const asks = async (key: string | undefined, model = chat.model) => {
      const { status, body } = await ask<{ error?: { code: string } }>('POST', '/v1/chat/completions', {
        as: key,
        body: { ...chat, model },
      })
      return status === 200 ? 200 : body.error?.code
    }

    it('hold from the next request on', async () => {
      const dev = await world().signedIn('developer')
      const { id, key } = (await world().newKey(dev)).body
      expect(await asks(key)).toBe(200)
      const one = await patch(dev, id, { name: 'other', models: ['gpt-4o'] })
      expect([one.status, one.body]).toMatchObject([200, { id, name: 'other', models: ['gpt-4o'], rate_limit: 60 }])
      expect(one.body).not.toHaveProperty('key')
      expect([await asks(key), await asks(key, 'gpt-4o')]).toEqual(['forbidden', 200])
      expect((await patch(dev, id, { models: null, budget: { usd: 0, per: 'day' } })).body).toMatchObject({
        budget: { usd: 0, per: 'day' },
      })
      expect(await asks(key)).toBe('budget_exceeded')
      const { body } = await patch(dev, id, { budget: null })
      expect([body.models, body.budget, await asks(key)]).toEqual([undefined, undefined, 200])
      expect((await patch(dev, id, { rate_limit: 3 })).body.rate_limit).toBe(3)
      expect(await asks(key)).toBe('rate_limit_exceeded')
      await patch(dev, id, { rateLimit: 60, expiresAt: new Date(Date.now() + 60_000).toISOString() })
      expect(await asks(key)).toBe(200)
      await world().advance(60_000)
      expect(await asks(key)).toBe('invalid_api_key')
      expect((await patch(dev, id, { expiresAt: null })).body).not.toHaveProperty('expires_at')
      expect(await asks(key)).toBe(200)
    })

    it('give and take tokens per minute, of a key or of a user', async () => {
      const [admin, dev] = [await world().signedIn('admin'), await world().signedIn('developer')]
      const { id, key, ...made } = (await world().newKey(dev, { name: 'k', tokenLimit: 500 })).body
      expect(made).toMatchObject({ token_limit: 500 })
      const ask99 = async () => {
        const { status, headers } = await ask('POST', '/v1/chat/completions', {
          as: key!,
          body: { ...chat, max_tokens: 99 },
        })
        return [status, headers.get('x-ratelimit-limit-tokens'), headers.get('x-ratelimit-remaining-tokens')]
      }
      expect(await ask99()).toEqual([200, '500', '400'])
      expect((await patch(dev, id, { token_limit: 90 })).body).toMatchObject({ token_limit: 90 })
      expect((await ask99()).slice(0, 2)).toEqual([429, '90'])
      expect((await patch(dev, id, { tokenLimit: null })).body).not.toHaveProperty('token_limit')
      expect(await ask99()).toEqual([200, null, null])
      const set = (tokenLimit: unknown) =>
        ask<object>('PATCH', `/api/users/${dev.id}`, { as: admin, body: { tokenLimit } })
      expect((await set(50)).body).toMatchObject({ token_limit: 50 })
      expect((await ask<object>('GET', '/api/account', { as: dev })).body).toMatchObject({ token_limit: 50 })
      expect((await ask99()).slice(0, 2)).toEqual([429, '50'])
      expect((await set(null)).body).not.toHaveProperty('token_limit')
      expect((await ask99())[0]).toBe(200)
      for (const wrong of [0, -1, 1.5, 1e10, '7']) {
        const statuses = [(await set(wrong)).status, (await patch(dev, id, { tokenLimit: wrong })).status]
        expect([wrong, ...statuses]).toEqual([wrong, 400, 400])
      }
    })

    it('are 400 for what is none, 404 for others, and 400 where the key is revoked', async () => {
      const [ada, bob] = [await world().signedIn('developer'), await world().signedIn('developer')]
      const { id } = (await world().newKey(ada)).body
      for (const wrong of [
        { name: ' ' },
        { rateLimit: 0 },
        { models: [] },
        { budget: { usd: -1 } },
        { expiresAt: '2001-01-31T08:00:00Z' },
      ])
        expect([wrong, (await patch(ada, id, wrong)).status]).toEqual([wrong, 400])
      for (const request of [patch(bob, id, { name: 'mine' }), patch(ada, unknownId, { name: 'x' }), rotate(bob, id)])
        expect((await request).status).toBe(404)
      expect((await patch(ada, 'x'.repeat(3_000), {})).status).toBe(404)
      await ask('DELETE', `/api/keys/${id}`, { as: ada })
      expect([(await patch(ada, id, { name: 'x' })).status, (await rotate(ada, id)).status]).toEqual([400, 400])
    })

    it('of anybody are made by administrators, who do not get their values', async () => {
      const [admin, dev] = [await world().signedIn('admin'), await world().signedIn('developer')]
      const { id, key } = (await world().newKey(dev)).body
      expect((await patch(admin, id, { budget: { usd: 0 } })).status).toBe(200)
      expect(await asks(key)).toBe('budget_exceeded')
      expect((await rotate(admin, id)).status).toBe(404)
      const log = await ask<{ data: object[] }>('GET', '/admin/audit?limit=1', { as: admin })
      expect(log.body.data).toMatchObject([{ actor: admin.id, action: 'key.update', target: id, detail: 'budget' }])
    })

    it('rotate: the old key works for a day, or as long as is asked for, and both have one budget', async () => {
      const dev = await world().signedIn('developer')
      const { id, key } = (await world().newKey(dev, { name: 'k', budget: { usd: 1 } })).body
      const { status, body } = await rotate(dev, id, '?overlap=30')
      expect([status, body]).toEqual([
        200,
        {
          id: uuid,
          name: 'k',
          key: expect.stringMatching(/^gw-[\w-]{43}$/) as string,
          key_end: expect.stringMatching(/^[\w-]{4}$/) as string,
          rate_limit: 60,
          budget: { usd: 1 },
          revoked: false,
          created_at: aTime,
        },
      ])
      const spent = () =>
        world()
          .call<Record<string, Record<string, number>>>('dump')
          .then((all) =>
            (all as unknown as [string[], object][])
              .filter(([[kind, of]]) => kind === 'budget' && of === 'key')
              .map(([name]) => name[2]),
          )
      expect([await asks(key), await asks(body.key)]).toEqual([200, 200])
      expect((await spent()).filter((of) => of === id || of === body.id)).toEqual([id])
      const [, old] = (await ask<Changed[]>('GET', '/api/keys', { as: dev })).body
      expect(old).toMatchObject({ id, rotated_at: aTime, expires_at: aTime })
      expect((await rotate(dev, id)).status).toBe(400)
      await world().advance(30_000)
      expect([await asks(key), await asks(body.key)]).toEqual(['invalid_api_key', 200])
      const now = await rotate(dev, body.id, '?overlap=0')
      expect([await asks(body.key), await asks(now.body.key)]).toEqual(['invalid_api_key', 200])
      for (const overlap of ['-1', '604801', '1.5', 'x'])
        expect((await rotate(dev, now.body.id, `?overlap=${overlap}`)).status).toBe(400)
      const last = await rotate(dev, now.body.id)
      await world().advance(86_399_000)
      expect(await asks(now.body.key)).toBe(200)
      await world().advance(1_000)
      expect([await asks(now.body.key), await asks(last.body.key)]).toEqual(['invalid_api_key', 200])
    })

    it('threat 73: limits beyond the role, and keys that outlive their replacement, by changes of keys', async () => {
      const [admin, dev] = [await world().signedIn('admin'), await world().signedIn('developer')]
      const { id, key } = (await world().newKey(dev)).body
      expect((await patch(dev, id, { rateLimit: 101 })).status).toBe(403)
      // All keys of a developer have 100 together, whatever an administrator gives to one of them.
      expect((await patch(admin, id, { rateLimit: 100_000 })).status).toBe(200)
      expect((await patch(dev, id, { name: 'mine', rateLimit: 100_000 })).status).toBe(200)
      expect((await patch(dev, id, { rateLimit: 99_999 })).status).toBe(403)
      const models = async () => (await ask('GET', '/v1/models', { as: key })).status
      await Promise.all(Array.from({ length: 100 }, models))
      expect(await models()).toBe(429)

      await rotate(dev, id)
      for (const expiresAt of [null, '2090-01-31']) expect((await patch(dev, id, { expiresAt })).status).toBe(400)
      // Each rotation makes a key, of which a developer may have 20.
      let last = (await world().newKey(dev)).body.id
      const statuses: number[] = []
      for (let i = 0; i < 20; i++) {
        const { status, body } = await rotate(dev, last, '?overlap=0')
        statuses.push(status)
        if (status === 200) last = body.id
      }
      expect(statuses).toEqual([...Array<number>(17).fill(200), 403, 403, 403])
      // The audit log takes ten changes a minute of what is one's own.
      const before = (await world().call<[string[], unknown][]>('dump')).filter(([[kind]]) => kind === 'audit').length
      for (let i = 0; i < 15; i++) expect((await patch(dev, last, { name: `name ${i}` })).status).toBe(200)
      const after = (await world().call<[string[], unknown][]>('dump')).filter(([[kind]]) => kind === 'audit').length
      // And one entry that says that others are left out.
      expect(after - before).toBeLessThanOrEqual(11)
    })
  },
  { DEVELOPER_KEYS: '20', DEVELOPER_KEY_RATE_LIMIT: '100' },
)
