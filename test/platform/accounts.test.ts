import { expect, it } from 'vitest'
import type { SignedIn, World } from './world.js'
import { aTime, chat, PASSWORD, unknownId, uuid, worldSuite } from './world.js'

interface User {
  id: string
  email: string
  role: string
  deleted_at: string | null
}

/** platform.md 2.3, items 161 to 166, and what belongs to them. */
worldSuite('users and accounts', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const newKey: World['newKey'] = (...request) => world().newKey(...request)
  let root: SignedIn | undefined
  const admin = async (): Promise<SignedIn> => {
    if (!root || (await ask('GET', '/api/account', { as: root })).status !== 200) root = await world().signedIn('admin')
    return root
  }

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
      projects: null,
      agents: null,
      storage_gb: 3,
      storage_bytes_used: 0,
      data_gb: 0.25,
      data_bytes_used: 0,
      sessions: 10_000,
      tasks: 100_000,
      keys: 0,
      key_rate_limit: 0,
      balance_policy: 'report',
      role: 'user',
    })
  })

  it('#165 makes nobody an administrator at their own wish', async () => {
    const ada = await world().signedIn('developer')
    const role = async (to: unknown) =>
      (await ask<User>('PATCH', '/api/account/role', { as: ada, body: { role: to } })).status
    expect([await role('admin'), await role('user'), await role('developer'), await role('user')]).toEqual([
      403, 200, 200, 200,
    ])
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

  it('leaves keys to administrators whose owner may not manage them any more', async () => {
    const [as, ada] = [await admin(), await world().signedIn('developer')]
    const { key, id } = (await newKey(ada)).body
    const models = async () => (await ask('GET', '/v1/models', { as: key! })).status
    await ask('PATCH', `/api/users/${ada.id}`, { as, body: { role: 'user' } })
    expect((await ask('DELETE', `/api/keys/${id}`, { as: ada })).status).toBe(403)
    expect((await ask('DELETE', `/admin/keys/${id}`, { as })).status).toBe(204)
    await ask('PATCH', `/api/users/${ada.id}`, { as, body: { role: 'developer' } })
    expect(await models()).toBe(401)
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
    for (const wrong of ['a\0b', '\ud83d', 'a\r\nb', '\u009b']) {
      const named = [{ firstName: wrong }, { last_name: wrong }, { username: wrong }]
      for (const body of named) {
        expect((await ask('PATCH', `/api/users/${made.body.id}`, { as, body })).status).toBe(400)
        expect((await ask('POST', '/api/users', { as, body: { email: `n${email}`, ...body } })).status).toBe(400)
      }
      expect((await ask('POST', '/v1/users', { as, body: { name: wrong } })).status).toBe(400)
    }
    for (const body of [{ email }, { email: 'x', password: PASSWORD }, { email: `2${email}`, password: 'short' }, {}])
      expect([body, (await ask('POST', '/api/users', { as, body })).status]).toEqual([body, 400])
  })

  it('finds and signs in a user by either form of composed characters', async () => {
    const as = await admin()
    const email = `zo\u00eb-${Date.now()}@example.org`
    const other = email.normalize('NFD')
    const made = await ask<User>('POST', '/api/users', { as, body: { email: other, password: PASSWORD } })
    expect([made.status, made.body.email]).toEqual([200, email])
    for (const form of [email, other]) {
      const { body } = await ask<User[]>('GET', `/api/users?email=${encodeURIComponent(form)}`, { as })
      expect(body.map(({ id }) => id)).toEqual([made.body.id])
      expect((await world().signIn(form)).id).toBe(made.body.id)
    }
  })

  it('finds and signs in a user by either form of an international domain', async () => {
    const as = await admin()
    const name = `zo\u00eb-${Date.now()}`
    const forms = [`${name}@B\u00fccher.example`, `${name}@xn--bcher-kva.example`]
    const made = await ask<User>('POST', '/api/users', { as, body: { email: forms[0], password: PASSWORD } })
    expect([made.status, made.body.email]).toEqual([200, forms[0]])
    for (const form of forms) {
      const { body } = await ask<User[]>('GET', `/api/users?email=${encodeURIComponent(form)}`, { as })
      expect(body.map(({ id }) => id)).toEqual([made.body.id])
      expect((await world().signIn(form)).id).toBe(made.body.id)
      expect((await ask('POST', '/api/users', { as, body: { email: form, password: PASSWORD } })).status).toBe(400)
    }
  })

  it('lists no page after a user whom nobody knows', async () => {
    const as = await admin()
    for (const path of ['/api/users', '/v1/users'])
      expect((await ask('GET', `${path}?after=nobody`, { as })).status).toBe(400)
  })

  it('finds an e-mail whose plus sign is not encoded', async () => {
    const as = await admin()
    const email = `plus+${Date.now()}@example.org`
    const { body } = await ask<User>('POST', '/api/users', { as, body: { email, password: PASSWORD } })
    expect((await ask<User[]>('GET', `/api/users?email=${email}`, { as })).body).toMatchObject([{ id: body.id, email }])
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
    // Nobody can sign in as this one.
    expect((await ask('POST', '/v1/users', { as, body: { role: 'admin' } })).status).toBe(200)
    expect((await ask('DELETE', `/api/users/${as.id}`, { as })).status).toBe(400)
    expect((await ask('DELETE', '/api/account', { as })).status).toBe(400)
    expect((await ask('PATCH', `/api/users/${as.id}`, { as, body: { role: 'user' } })).status).toBe(400)
    expect((await ask('PATCH', '/api/account/role', { as, body: { role: 'user' } })).status).toBe(400)
    expect((await ask('GET', '/api/users?limit=1', { as })).status).toBe(200)
  })
})
