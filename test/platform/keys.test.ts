import { expect, it } from 'vitest'
import type { Key, World } from './world.js'
import { aTime, chat, unknownId, uuid, worldSuite } from './world.js'

const MINUTE = 60_000

/** platform.md 2.3, items 151 to 160. */
worldSuite('keys and sessions', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const newKey: World['newKey'] = (...request) => world().newKey(...request)

  it('#151 shows a key once, when it is made', async () => {
    const dev = await world().signedIn('developer')
    const { status, body } = await newKey(dev)
    expect([status, body]).toEqual([
      200,
      {
        id: uuid,
        name: 'my key',
        key: expect.stringMatching(/^gw-[\w-]{43}$/) as string,
        key_end: expect.stringMatching(/^[\w-]{4}$/) as string,
        rate_limit: 60,
        revoked: false,
        created_at: aTime,
      },
    ])
    for (const rateLimit of ['rateLimit', 'rate_limit'])
      expect((await newKey(dev, { name: 'k', [rateLimit]: 7 })).body.rate_limit).toBe(7)
    for (const wrong of [
      {},
      { name: '' },
      { name: ' ' },
      { name: 1 },
      { name: 'k', rateLimit: 0 },
      { name: 'k', rateLimit: 1.5 },
    ])
      expect((await newKey(dev, wrong)).status).toBe(400)
  })

  it('makes keys with models, a budget and an end, which the gateway holds them to', async () => {
    const dev = await world().signedIn('developer')
    const expires_at = new Date(Date.now() + MINUTE).toISOString()
    const limits = { models: ['gpt-4o-mini', 'anthropic/claude-sonnet-4-5'], budget: { usd: 0.01, per: 'day' } }
    const day = await newKey(dev, { name: 'k', expiresAt: '2090-01-31' })
    expect(day.body).toMatchObject({ expires_at: '2090-01-31T00:00:00.000Z' })
    for (const name of ['expiresAt', 'expires_at']) {
      const { status, body } = await newKey(dev, { name: 'k', ...limits, [name]: expires_at })
      expect([status, body]).toMatchObject([200, { ...limits, expires_at }])
    }
    const [{ id } = { id: '' }] = (await ask<Key[]>('GET', '/api/keys', { as: dev })).body
    expect((await ask<Key[]>('GET', '/api/keys', { as: dev })).body[0]).toMatchObject({ id, ...limits, expires_at })
    const { key } = (await newKey(dev, { name: 'k', models: ['gpt-4o-mini'] })).body
    expect((await ask('POST', '/v1/chat/completions', { as: key, body: chat })).status).toBe(200)
    const other = await ask('POST', '/v1/chat/completions', { as: key, body: { ...chat, model: 'gpt-4o' } })
    expect([other.status, other.body]).toMatchObject([403, { error: { code: 'forbidden' } }])
    const { key: broke } = (await newKey(dev, { name: 'k', budget: { usd: 0 } })).body
    const refused = await ask('POST', '/v1/chat/completions', { as: broke, body: chat })
    expect([refused.status, refused.body]).toMatchObject([403, { error: { code: 'budget_exceeded' } }])
    for (const wrong of [
      { models: [] },
      { models: [''] },
      { models: 'gpt-4o' },
      { budget: {} },
      { budget: 5 },
      { budget: { usd: -1 } },
      { budget: { usd: 1, per: 'week' } },
      { budget: { usd: 1, max: 2 } },
      { expiresAt: 'tomorrow' },
      { expiresAt: '2001-01-31T08:00:00Z' },
      { expiresAt: '2030-01-31T08:00:00+25' },
      { expiresAt: '2030-02-30T00:00:00Z' },
    ])
      expect([wrong, (await newKey(dev, { name: 'k', ...wrong })).status]).toEqual([wrong, 400])
  })

  it('#152 lists keys without their values, newest first, whole or in pages', async () => {
    const dev = await world().signedIn('developer')
    for (const name of ['one', 'two', 'three']) await newKey(dev, { name })
    const { status, body } = await ask<Key[]>('GET', '/api/keys', { as: dev })
    expect([status, body.map(({ name }) => name)]).toEqual([200, ['three', 'two', 'one']])
    expect(Object.keys(body[0]!).toSorted()).toEqual([
      'created_at',
      'id',
      'key_end',
      'last_used_at',
      'name',
      'rate_limit',
      'revoked',
    ])
    const page = await ask<Key[]>('GET', '/api/keys?limit=2', { as: dev })
    const next = /^<(\?.*)>; rel="next"$/.exec(page.headers.get('link')!)![1]!
    const rest = await ask<Key[]>('GET', `/api/keys${next}`, { as: dev })
    expect([...page.body, ...rest.body]).toEqual(body)
    expect(rest.headers.get('link')).toBeNull()
  })

  it('#153 keeps no value of a key', async () => {
    const dev = await world().signedIn('developer')
    const { key } = (await newKey(dev)).body
    expect(JSON.stringify(await world().call('dump'))).not.toContain(key)
    for (const path of ['/api/keys', '/api/keys/usage', '/api/account'])
      expect(JSON.stringify((await ask('GET', path, { as: dev })).body)).not.toContain(key)
  })

  it('#154 makes keys that the gateway takes, and tells their usage', async () => {
    const dev = await world().signedIn('developer')
    const { id, key } = (await newKey(dev)).body
    expect((await ask('GET', '/v1/models', { as: key })).status).toBe(200)
    const reply = await ask<{ usage: Record<string, number> }>('POST', '/v1/chat/completions', { as: key, body: chat })
    const { prompt_tokens, completion_tokens, total_tokens } = reply.body.usage as Record<string, number>
    const counts = {
      requests: 1,
      prompt_tokens,
      completion_tokens,
      total_tokens,
      cost_usd: expect.any(Number) as number,
    }
    const usage = { ...counts, keys: [{ id, name: 'my key', ...counts }] }
    expect((await ask('GET', '/api/keys/usage', { as: dev })).body).toEqual(usage)
    const hour = (ms: number) => encodeURIComponent(new Date(Date.now() + ms).toISOString())
    const within = await ask('GET', `/api/keys/usage?from=${hour(-60 * MINUTE)}&to=${hour(2 * 24 * 60 * MINUTE)}`, {
      as: dev,
    })
    expect(within.body).toEqual(usage)
    const before = await ask('GET', `/api/keys/usage?to=${hour(-60 * 24 * MINUTE)}`, { as: dev })
    expect(before.body).toMatchObject({ requests: 0, keys: [{ id, requests: 0 }] })
    const status = async (query: string) => (await ask('GET', `/api/keys/usage?${query}`, { as: dev })).status
    for (const query of ['from=yesterday', 'to=2030-02-30', 'from=2030-02-01&to=2030-01-31'])
      expect([query, await status(query)]).toEqual([query, 400])
    for (const query of ['from=2030-01-31', 'from=2030-01-31T08:00+02:00', 'to=2030-01-31T08:00'])
      expect([query, await status(query)]).toEqual([query, 200])
  })

  it('#155 gives no keys to the role user', async () => {
    const user = await world().signedIn()
    expect((await newKey(user)).status).toBe(403)
    for (const path of ['/api/keys', '/api/keys/usage']) expect((await ask('GET', path, { as: user })).status).toBe(403)
    expect((await newKey(await world().signedIn('admin'))).status).toBe(200)
  })

  it('#156 knows nothing of the keys of others', async () => {
    const [ada, bob] = [await world().signedIn('developer'), await world().signedIn('developer')]
    const { id, key } = (await newKey(ada)).body
    const replies = [
      await ask('DELETE', `/api/keys/${id}`, { as: bob }),
      await ask('DELETE', `/api/keys/${unknownId}`, { as: bob }),
      await ask('DELETE', '/api/keys/no-uuid', { as: bob }),
      await ask('DELETE', `/api/keys/${'x'.repeat(3_000)}`, { as: bob }),
    ]
    for (const { status, body } of replies) expect([status, body]).toEqual([404, { error: 'There is no such key' }])
    expect((await ask('GET', '/v1/models', { as: key })).status).toBe(200)
  })

  it('#157 revokes a key at once, and again', async () => {
    const dev = await world().signedIn('developer')
    const { id, key } = (await newKey(dev)).body
    expect((await ask('GET', '/v1/models', { as: key })).status).toBe(200)
    for (let i = 0; i < 2; i++) {
      const { status, body } = await ask('DELETE', `/api/keys/${id}`, { as: dev })
      expect([status, body]).toEqual([204, ''])
    }
    expect((await ask('GET', '/v1/models', { as: key })).status).toBe(401)
    expect((await ask('GET', '/api/keys', { as: dev })).body).toMatchObject([{ id, revoked: true }])
  })

  it('#158 makes sessions, which begin with nothing', async () => {
    const ada = await world().signedIn()
    const expiresAt = '2030-01-02T03:04:05.000Z'
    const metadata = { a: 1, b: ['x', null], ü: { deep: true } }
    const made = await ask<{ id: string }>('POST', '/api/sessions', {
      as: ada,
      body: { label: 'mine', metadata, expiresAt },
    })
    const session = {
      id: uuid,
      user_id: ada.id,
      label: 'mine',
      prompt_tokens: 0,
      completion_tokens: 0,
      total_tokens: 0,
      request_count: 0,
      cost_usd: 0,
      metadata,
      expires_at: expiresAt,
      created_at: aTime,
      updated_at: aTime,
    }
    expect([made.status, made.body]).toEqual([200, session])
    const bare = await ask('POST', '/api/sessions', { as: ada, body: {} })
    expect(bare.body).toMatchObject({ label: null, metadata: null, expires_at: null })
    expect((await ask('GET', `/api/sessions/${made.body.id}`, { as: ada })).body).toEqual(session)
    expect((await ask<object[]>('GET', '/api/sessions', { as: ada })).body).toEqual([bare.body, session])
  })

  it('#159 knows nothing of the sessions of others', async () => {
    const [ada, bob] = [await world().signedIn(), await world().signedIn('admin')]
    const { body } = await ask<{ id: string }>('POST', '/api/sessions', { as: ada, body: {} })
    for (const id of [body.id, unknownId, 'no-uuid', 'x'.repeat(3_000)])
      expect((await ask('GET', `/api/sessions/${id}`, { as: bob })).status).toBe(404)
    expect((await ask('GET', '/api/sessions', { as: bob })).body).toEqual([])
  })

  it('#160 refuses metadata that is no object', async () => {
    const ada = await world().signedIn()
    for (const body of [
      { metadata: 'x' },
      { metadata: [1] },
      { metadata: 1 },
      { expiresAt: 'tomorrow' },
      { expiresAt: '2030-01-31T08:00:00+25' },
      { expiresAt: '2030-02-30T00:00:00Z' },
      { label: 1 },
    ])
      expect([body, (await ask('POST', '/api/sessions', { as: ada, body })).status]).toEqual([body, 400])
  })
})
