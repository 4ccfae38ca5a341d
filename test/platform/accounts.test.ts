import { expect, it } from 'vitest'
import type { Reply, SignedIn, World } from './world.js'
import { PASSWORD, worldSuite } from './world.js'

interface Key {
  id: string
  key?: string
  name: string
  rate_limit: number
  revoked: boolean
}
interface User {
  id: string
  email: string
  role: string
  deleted_at: string | null
}

const MINUTE = 60_000
const aTime: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const uuid: unknown = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const unknownId = '00000000-0000-7000-8000-00000000ffff'
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }

/** platform.md 2.3, items 151 to 166, and what belongs to them. */
worldSuite('keys, sessions, users and accounts', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const newKey = async (as: SignedIn, body: object = { name: 'my key' }): Promise<Reply<Key>> =>
    ask<Key>('POST', '/api/keys', { as, body })
  let root: SignedIn | undefined
  const admin = async (): Promise<SignedIn> => {
    if (!root || (await ask('GET', '/api/account', { as: root })).status !== 200) root = await world().signedIn('admin')
    return root
  }

  it('#151 shows a key once, when it is made', async () => {
    const dev = await world().signedIn('developer')
    const { status, body } = await newKey(dev)
    expect([status, body]).toEqual([
      200,
      {
        id: uuid,
        name: 'my key',
        key: expect.stringMatching(/^gw-[\w-]{43}$/) as string,
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

  it('#152 lists keys without their values, newest first, whole or in pages', async () => {
    const dev = await world().signedIn('developer')
    for (const name of ['one', 'two', 'three']) await newKey(dev, { name })
    const { status, body } = await ask<Key[]>('GET', '/api/keys', { as: dev })
    expect([status, body.map(({ name }) => name)]).toEqual([200, ['three', 'two', 'one']])
    expect(Object.keys(body[0]!).toSorted()).toEqual([
      'created_at',
      'id',
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
    expect((await ask('GET', '/api/keys/usage?from=yesterday', { as: dev })).status).toBe(400)
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
    for (const id of [body.id, unknownId, 'no-uuid'])
      expect((await ask('GET', `/api/sessions/${id}`, { as: bob })).status).toBe(404)
    expect((await ask('GET', '/api/sessions', { as: bob })).body).toEqual([])
  })

  it('#160 refuses metadata that is no object', async () => {
    const ada = await world().signedIn()
    for (const body of [{ metadata: 'x' }, { metadata: [1] }, { metadata: 1 }, { expiresAt: 'tomorrow' }, { label: 1 }])
      expect([body, (await ask('POST', '/api/sessions', { as: ada, body })).status]).toEqual([body, 400])
  })

  it('#161 lets nobody but administrators manage users', async () => {
    for (const [as, status] of [
      [undefined, 401],
      [await world().signedIn(), 403],
      [await world().signedIn('developer'), 403],
      [await admin(), 200],
    ] as const)
      expect((await ask('GET', '/api/users?limit=1', { as })).status).toBe(status)
  })

  it('#162 deletes softly and restores data, but no sign-ins and keys', async () => {
    const dev = await world().signedIn('developer')
    const { key } = (await newKey(dev)).body
    const { body: session } = await ask<{ id: string }>('POST', '/api/sessions', { as: dev, body: {} })
    const as = await admin()
    expect((await ask('DELETE', `/api/users/${dev.id}`, { as })).status).toBe(204)
    expect((await ask('GET', `/api/users/${dev.id}`, { as })).body).toMatchObject({ id: dev.id, deleted_at: aTime })
    expect((await ask('DELETE', `/api/users/${dev.id}`, { as })).status).toBe(404)
    const listed = async (query: string) =>
      (await ask<User[]>('GET', `/api/users${query}`, { as })).body.some(({ id }) => id === dev.id)
    expect([await listed(''), await listed('?deleted=true')]).toEqual([false, true])
    expect((await ask('GET', '/v1/models', { as: key })).status).toBe(401)

    const restored = await ask('POST', `/api/users/${dev.id}/restore`, { as })
    expect([restored.status, restored.body]).toMatchObject([200, { id: dev.id, deleted_at: null, role: 'developer' }])
    expect((await ask('GET', '/api/account', { as: dev })).status).toBe(401)
    expect((await ask('GET', '/v1/models', { as: key })).status).toBe(401)
    const again = await world().signIn(dev.email)
    expect((await ask('GET', `/api/sessions/${session.id}`, { as: again })).status).toBe(200)
    expect((await ask('POST', `/api/users/${unknownId}/restore`, { as })).status).toBe(404)
  })

  it('#163 tells no secret of a user', async () => {
    const ada = await world().signedIn()
    const as = await admin()
    const { body } = await ask<User>('GET', `/api/users/${ada.id}`, { as })
    expect(Object.keys(body).toSorted()).toEqual([
      'created_at',
      'deleted_at',
      'email',
      'first_name',
      'id',
      'last_name',
      'provider',
      'role',
      'username',
    ])
    expect((await ask('GET', '/api/account', { as: ada })).body).toEqual(body)
    expect((await ask<User[]>('GET', `/api/users?email=${ada.email.toUpperCase()}`, { as })).body).toEqual([body])
    const stored = JSON.stringify(await world().call('dump'))
    for (const secret of [PASSWORD, ada.access, ada.refresh]) expect(stored).not.toContain(secret)
  })

  it('#164 has a balance of nothing for a user without one', async () => {
    const ada = await world().signedIn()
    const nothing = { credit_coins: 0, storage_gb: 0, extra_projects: 0, extra_agents: 0 }
    const balance = { id: null, user_id: ada.id, ...nothing, created_at: null, updated_at: null }
    const as = await admin()
    expect((await ask('GET', `/api/users/${ada.id}/balance`, { as })).body).toEqual(balance)
    expect((await ask('GET', '/api/account/balance', { as: ada })).body).toEqual(balance)
    const set = await ask('PATCH', `/api/users/${ada.id}/balance`, { as, body: { creditCoins: 5, storage_gb: 2 } })
    const stored = { ...balance, id: uuid, credit_coins: 5, storage_gb: 2, created_at: aTime, updated_at: aTime }
    expect([set.status, set.body]).toEqual([200, stored])
    const added = await ask('POST', `/api/users/${ada.id}/balance`, { as, body: { creditCoins: -2, extraProjects: 1 } })
    expect(added.body).toMatchObject({ credit_coins: 3, storage_gb: 2, extra_projects: 1 })
    expect((await ask('POST', `/api/users/${ada.id}/balance`, { as, body: { storageGb: -3 } })).status).toBe(400)
    expect((await ask('PATCH', `/api/users/${ada.id}/balance`, { as, body: { creditCoins: 1.5 } })).status).toBe(400)
    expect((await ask('PATCH', `/api/users/${ada.id}/balance`, { as, body: {} })).body).toEqual(added.body)
    expect((await ask('GET', `/api/users/${unknownId}/balance`, { as })).status).toBe(404)
    expect((await ask('GET', '/api/account/limits', { as: ada })).body).toEqual({
      projects: 3,
      agents: null,
      storage_gb: 3,
    })
  })

  it('#165 makes nobody an administrator at their own wish', async () => {
    const ada = await world().signedIn()
    const role = async (to: unknown) =>
      (await ask<User>('PATCH', '/api/account/role', { as: ada, body: { role: to } })).status
    expect([await role('admin'), await role('developer'), await role('user')]).toEqual([403, 200, 200])
    expect([await role('root'), await role(undefined)]).toEqual([400, 400])
    expect((await ask('GET', '/api/account', { as: ada })).body).toMatchObject({ role: 'user' })
  })

  it('#166 changes what an administrator may change of a user, and nothing else', async () => {
    const ada = await world().signedIn()
    const as = await admin()
    const before = (await ask<User>('GET', `/api/users/${ada.id}`, { as })).body
    const body = { id: unknownId, created_at: '2000-01-01T00:00:00.000Z', deleted_at: 'x', provider: 'x', hash: 'x' }
    const named = { ...body, firstName: 'Ada', last_name: 'Lovelace', username: 'ada' }
    const { status, body: after } = await ask('PATCH', `/api/users/${ada.id}`, { as, body: named })
    expect([status, after]).toEqual([200, { ...before, first_name: 'Ada', last_name: 'Lovelace', username: 'ada' }])
    expect((await ask('PATCH', `/api/users/${ada.id}`, { as, body: {} })).body).toEqual(after)
    expect((await ask('PATCH', `/api/users/${unknownId}`, { as, body: named })).status).toBe(404)
    expect((await ask('PATCH', `/api/users/${ada.id}`, { as, body: { role: 'root' } })).status).toBe(400)
    // What counts is the stored role, not that of the token.
    await ask('PATCH', `/api/users/${ada.id}`, { as, body: { role: 'developer' } })
    expect((await newKey(ada)).status).toBe(200)
  })

  it('finds a user by the new e-mail only, and lets nobody have that of another', async () => {
    const [ada, bob] = [await world().signedIn(), await world().person()]
    const as = await admin()
    const to = `New-${ada.email}`
    expect((await ask('PATCH', `/api/users/${ada.id}`, { as, body: { email: bob.email } })).status).toBe(400)
    expect((await ask('PATCH', `/api/users/${ada.id}`, { as, body: { email: 'none' } })).status).toBe(400)
    expect((await ask('PATCH', `/api/users/${ada.id}`, { as, body: { email: to } })).body).toMatchObject({ email: to })
    expect((await world().signIn(to.toLowerCase())).id).toBe(ada.id)
    await expect(world().signIn(ada.email)).rejects.toThrow('401')
    expect((await ask('PATCH', `/api/users/${bob.id}`, { as, body: { email: ada.email } })).status).toBe(200)
  })

  it('makes users by administrators', async () => {
    const as = await admin()
    const email = `made-${Date.now()}@example.org`
    const made = await ask<User>('POST', '/api/users', {
      as,
      body: { email, password: PASSWORD, role: 'developer', firstName: 'M', isAdmin: true, id: unknownId },
    })
    expect([made.status, made.body]).toMatchObject([
      200,
      { id: uuid, email, role: 'developer', first_name: 'M', provider: 'password' },
    ])
    expect(made.body.id).not.toBe(unknownId)
    expect((await world().signIn(email)).id).toBe(made.body.id)
    for (const body of [{ email }, { email: 'x', password: PASSWORD }, { email: `2${email}`, password: 'short' }, {}])
      expect([body, (await ask('POST', '/api/users', { as, body })).status]).toEqual([body, 400])
  })

  it('deletes the own account', async () => {
    const ada = await world().signedIn()
    expect((await ask('DELETE', '/api/account', { as: ada })).status).toBe(204)
    expect((await ask('GET', '/api/account', { as: ada })).status).toBe(401)
    expect((await ask('GET', `/api/users/${ada.id}`, { as: await admin() })).body).toMatchObject({ deleted_at: aTime })
  })

  it('takes off a credit when its last token is used', async () => {
    const dev = await world().signedIn('developer')
    const { key } = (await newKey(dev)).body
    const as = await admin()
    const credits = async () =>
      (await ask<{ credit_coins: number }>('GET', '/api/account/balance', { as: dev })).body.credit_coins
    await ask('PATCH', `/api/users/${dev.id}/balance`, { as, body: { creditCoins: 10 } })
    const usage = { prompt_tokens: 300, completion_tokens: 100, total_tokens: 400 }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }]
    const body = JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini',
      choices,
      usage,
    })
    world().fault = () => ({ status: 200, headers: { 'content-type': 'application/json' }, body })
    const left: number[] = []
    for (let i = 0; i < 5; i++) {
      await ask('POST', '/v1/chat/completions', { as: key, body: chat })
      left.push(await credits())
    }
    world().fault = undefined
    expect(left).toEqual([10, 10, 9, 9, 8])
  })

  it('keeps one administrator', async () => {
    // The last of the suite: it leaves one administrator only.
    const as = await world().signedIn('admin')
    const { body } = await ask<User[]>('GET', '/api/users', { as })
    for (const { id, role } of body)
      if (role === 'admin' && id !== as.id) expect((await ask('DELETE', `/api/users/${id}`, { as })).status).toBe(204)
    expect((await ask('DELETE', `/api/users/${as.id}`, { as })).status).toBe(400)
    expect((await ask('DELETE', '/api/account', { as })).status).toBe(400)
    expect((await ask('PATCH', `/api/users/${as.id}`, { as, body: { role: 'user' } })).status).toBe(400)
    expect((await ask('PATCH', '/api/account/role', { as, body: { role: 'user' } })).status).toBe(400)
    expect((await ask('GET', '/api/users?limit=1', { as })).status).toBe(200)
  })
})
