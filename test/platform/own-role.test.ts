import { expect, it } from 'vitest'
import type { Reply, SignedIn, World } from './world.js'
import { chat, worldSuite } from './world.js'

interface User {
  role: string
  granted_role?: string
}

/** What users can make of themselves, and what becomes of their keys. */
function roleSuite(world: () => World) {
  const ask: World['ask'] = (...request) => world().ask(...request)
  let root: SignedIn
  const admin = async (): Promise<SignedIn> => (root ??= await world().signedIn('admin'))
  /** An administrator gives a role. */
  const give = async (id: string, role: string): Promise<Reply<User>> =>
    ask<User>('PATCH', `/api/users/${id}`, { as: await admin(), body: { role } })
  const take = (as: SignedIn, role: string): Promise<Reply<User>> =>
    ask<User>('PATCH', '/api/account/role', { as, body: { role } })
  const highest = async (as: SignedIn) => (await ask<User>('GET', '/api/account/limits', { as })).body.role
  /** The statuses of requests with a gateway key. */
  const uses = async (key: string) => [
    (await ask('GET', '/v1/models', { as: key })).status,
    (await ask('POST', '/v1/chat/completions', { as: key, body: chat })).status,
  ]
  return { ask, admin, give, take, highest, uses }
}

worldSuite('own role', (world) => {
  const { ask, admin, give, take, highest, uses } = roleSuite(world)

  it('threat 34: a higher role of one’s own making, goes up to the highest that an administrator granted', async () => {
    const [user, dev, other] = [
      await world().signedIn('user'),
      await world().signedIn('developer'),
      await world().signedIn('admin'),
    ]
    await admin()
    const reached = async (as: SignedIn) => {
      const statuses: number[] = []
      for (const role of ['user', 'developer', 'admin']) statuses.push((await take(as, role)).status)
      return [...statuses, await highest(as)]
    }
    expect(await reached(user)).toEqual([200, 403, 403, 'user'])
    expect(await reached(dev)).toEqual([200, 200, 403, 'developer'])
    expect(await reached(other)).toEqual([200, 200, 200, 'admin'])
    expect((await take(user, 'developer')).body).toEqual({ error: 'Only an administrator can make you more than user' })
    expect((await world().newKey(user)).status).toBe(403)
  })

  it('threat 47: a store that one user fills, by changes of the own role, of which a minute logs ten', async () => {
    const dev = await world().signedIn('developer')
    for (let i = 0; i < 14; i++) expect((await take(dev, i % 2 ? 'developer' : 'user')).status).toBe(200)
    const log = await ask<{ data: { action: string; actor: string }[] }>('GET', '/admin/audit?limit=100', {
      as: await admin(),
    })
    const own = log.body.data.filter(({ action, actor }) => action === 'user.role' && actor === dev.id)
    // A minute of the limit may have begun in the midst of it.
    expect(own.length).toBeGreaterThanOrEqual(10)
    expect(own.length).toBeLessThan(14)
  })

  it('threat 34: a higher role of one’s own making, tells what was granted, which an administrator takes back', async () => {
    const dev = await world().signedIn('developer')
    expect((await take(dev, 'user')).body).toMatchObject({ role: 'user', granted_role: 'developer' })
    expect((await ask<User>('GET', `/api/users/${dev.id}`, { as: await admin() })).body.granted_role).toBe('developer')
    // Other changes by administrators leave it as it is.
    await ask('PATCH', `/api/users/${dev.id}`, { as: await admin(), body: { firstName: 'Ada' } })
    expect((await take(dev, 'developer')).body).not.toHaveProperty('granted_role')
    await take(dev, 'user')
    expect((await give(dev.id, 'user')).body).not.toHaveProperty('granted_role')
    expect((await take(dev, 'developer')).status).toBe(403)
  })

  it('threat 34: a higher role of one’s own making, is not had by many requests at once', async () => {
    const dev = await world().signedIn('developer')
    for (let round = 0; round < 5; round++) {
      await give(dev.id, 'developer')
      await Promise.all([
        ...['user', 'developer', 'user', 'developer'].map((role) => take(dev, role)),
        give(dev.id, 'user'),
      ])
      expect((await take(dev, 'developer')).status).toBe(403)
      expect((await ask<User>('GET', '/api/account', { as: dev })).body.role).toBe('user')
    }
  })

  it('threat 34: keys of somebody who was demoted, are refused at once, and work again after a promotion', async () => {
    const dev = await world().signedIn('developer')
    const { key, id } = (await world().newKey(dev)).body
    expect(await uses(key!)).toEqual([200, 200])
    const listed = async () => {
      const { data } = (await ask<{ data: { id: string }[] }>('GET', '/admin/keys?limit=500', { as: await admin() }))
        .body
      return data.find((one) => one.id === id)
    }
    expect(await listed()).not.toHaveProperty('suspended')
    expect((await give(dev.id, 'user')).status).toBe(200)
    expect(await uses(key!)).toEqual([401, 401])
    expect(await listed()).toMatchObject({ suspended: true, revoked: false })
    expect((await take(dev, 'developer')).status).toBe(403)
    // Another change, the same role again, and a deleted and restored user leave them as they are.
    await ask('PATCH', `/api/users/${dev.id}`, { as: await admin(), body: { username: 'ada', role: 'user' } })
    expect(await uses(key!)).toEqual([401, 401])
    expect((await give(dev.id, 'developer')).status).toBe(200)
    expect(await uses(key!)).toEqual([200, 200])
    expect((await give(dev.id, 'user')).status).toBe(200)
    // Revoked while suspended: no promotion brings it back.
    expect((await ask('DELETE', `/admin/keys/${id}`, { as: await admin() })).status).toBe(204)
    expect((await give(dev.id, 'admin')).status).toBe(200)
    expect(await uses(key!)).toEqual([401, 401])
  })

  it('threat 34: keys of somebody who was demoted, are those of administrators too, on all surfaces', async () => {
    const other = await world().signedIn('admin')
    const { key } = (await world().newKey(other)).body
    const data = async () => (await ask('GET', '/admin/keys?limit=1', { as: key! })).status
    expect([await data(), await uses(key!)]).toEqual([200, [200, 200]])
    await give(other.id, 'developer')
    expect([await data(), await uses(key!)]).toEqual([403, [200, 200]])
    await give(other.id, 'user')
    expect([await data(), await uses(key!)]).toEqual([401, [401, 401]])
    // Who steps down has none either, and has them back with the role.
    await give(other.id, 'developer')
    await take(other, 'user')
    expect(await uses(key!)).toEqual([401, 401])
    await take(other, 'developer')
    expect(await uses(key!)).toEqual([200, 200])
  })

  it('takes the role of a user of an earlier version for the one that was granted', async () => {
    const dev = await world().signedIn('developer')
    const {
      granted_role: _,
      keys_suspended: __,
      ...stored
    } = (await world().call<Record<string, unknown>>('get', 'user', dev.id))!
    await world().call('set', ['user', dev.id], stored)
    expect([await highest(dev), (await take(dev, 'user')).status, (await take(dev, 'developer')).status]).toEqual([
      'developer',
      200,
      200,
    ])
    const user = await world().signedIn('user')
    // A key of a user who never was a developer is one that the operator made: it works.
    const { key } = await world().call<{ key: string }>('createKey', user.id)
    expect(await uses(key)).toEqual([200, 200])
    await give(user.id, 'user')
    expect(await uses(key)).toEqual([200, 200])
  })
})

worldSuite(
  'own role where SELF_ROLE is developer',
  (world) => {
    const { give, take, highest, uses } = roleSuite(world)

    it('threat 34: a higher role of one’s own making, is developer for everybody where the operator says so', async () => {
      const user = await world().signedIn('user')
      expect(await highest(user)).toBe('developer')
      expect((await take(user, 'admin')).status).toBe(403)
      expect((await take(user, 'developer')).body).toMatchObject({ role: 'developer', granted_role: 'user' })
      const { key } = (await world().newKey(user)).body
      expect(await uses(key!)).toEqual([200, 200])
      // A demotion suspends the keys, and is not for good where everybody may be a developer.
      await give(user.id, 'user')
      expect(await uses(key!)).toEqual([401, 401])
      expect((await take(user, 'developer')).status).toBe(200)
      expect(await uses(key!)).toEqual([200, 200])
    })
  },
  { SELF_ROLE: 'developer' },
)
