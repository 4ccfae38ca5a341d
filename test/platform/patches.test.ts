import { beforeAll, describe, expect, it } from 'vitest'
import type { Owner } from './requests.js'
import { newOwner, requestsOf } from './requests.js'
import type { SignedIn } from './world.js'
import { aTime, worldSuite } from './world.js'

/** The fields of each PATCH, and those that null clears. */
const patches: Record<string, { fields: string[]; clears?: string[] }> = {
  'PATCH /api/account/role': { fields: ['role'] },
  'PATCH /api/users/{id}': {
    fields: ['email', 'firstName', 'first_name', 'lastName', 'last_name', 'username', 'role'],
    clears: ['budget', 'tokenLimit', 'token_limit'],
  },
  'PATCH /api/users/{id}/balance': {
    fields: ['creditCoins', 'credit_coins', 'storageGb', 'storage_gb', 'extraProjects', 'extra_agents', 'extraAgents'],
  },
  'PATCH /api/keys/{id}': {
    fields: ['name', 'rateLimit', 'rate_limit'],
    clears: ['tokenLimit', 'token_limit', 'models', 'budget', 'endUsers', 'end_users', 'expiresAt', 'expires_at'],
  },
  'PATCH /api/keys/{id}/end-users/{endUser}': { fields: [], clears: ['budget', 'rateLimit', 'rate_limit'] },
  'PATCH /api/projects/{id}': { fields: ['name', 'teamType', 'team_type', 'color'], clears: ['description'] },
  'PATCH /api/tasks/{id}': {
    fields: ['status'],
    clears: ['output', 'draft_output', 'draftOutput', 'review_comments', 'reviewComments'],
  },
  'PATCH /api/user-files/{id}': { fields: ['displayName', 'display_name', 'isPublic', 'is_public'] },
}

worldSuite('patches', (world) => {
  let admin: SignedIn
  let owner: Owner
  beforeAll(async () => {
    admin = await world().signedIn('admin')
    owner = await newOwner(world())
  })
  const patch = (route: string, body: object) => {
    const { path } = requestsOf(owner)[route]!
    const as = path.startsWith('/api/users') ? admin : owner
    return world().ask<Record<string, unknown>>('PATCH', path, { as, body })
  }

  it('are all of them', () => {
    expect(Object.keys(patches).toSorted()).toEqual(
      Object.keys(requestsOf(owner))
        .filter((route) => route.startsWith('PATCH '))
        .toSorted(),
    )
  })

  describe.each(Object.entries(patches))('%s', (route, { fields, clears = [] }) => {
    it('is 400 for null where a field may not be null, and names the field', async () => {
      for (const field of fields) {
        const { status, body } = await patch(route, { [field]: null })
        expect([field, status]).toEqual([field, 400])
        const camel = field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
        expect(body['error']).toMatch(new RegExp(`^(${field}|${camel}) must be `))
      }
      for (const field of clears) expect([field, (await patch(route, { [field]: null })).status]).toEqual([field, 200])
    })
  })

  it.each(Object.keys(patches).filter((route) => route !== 'PATCH /api/account/role'))(
    'changes nothing where the body of %s is empty',
    async (route) => {
      if (route.endsWith('/balance')) await patch(route, { creditCoins: 3 })
      const audits = async () =>
        (await world().call<[string[], unknown][]>('dump')).filter(([[kind]]) => kind === 'audit').length
      const [before, logged] = [(await patch(route, {})).body, await audits()]
      await world().advance(5_000)
      for (const body of [{}, { unknown: 1, updated_at: '2000-01-01T00:00:00.000Z' }]) {
        const reply = await patch(route, body)
        // URLs of files are signed anew.
        expect([reply.status, { ...reply.body, url: '' }]).toEqual([200, { ...before, url: '' }])
      }
      expect(await audits()).toBe(logged)
    },
  )

  it('does not move the time of a balance where nothing is added', async () => {
    const path = `/api/users/${owner.id}/balance`
    const { body } = await world().ask<object>('POST', path, { as: admin, body: { creditCoins: 1 } })
    expect(body).toMatchObject({ updated_at: aTime })
    await world().advance(5_000)
    for (const nothing of [{}, { creditCoins: null }])
      expect((await world().ask('POST', path, { as: admin, body: nothing })).body).toEqual(body)
  })

  it('of a user, says where to go for what has no effect there', async () => {
    const wishes: [field: string, value: unknown, instead: string][] = [
      ['password', 'correct horse battery', 'PUT /api/users/{id}/password'],
      ['password', null, 'PUT /api/users/{id}/password'],
      ['name', 'Ada', 'firstName'],
      ['creditCoins', 5, 'PATCH /api/users/{id}/balance'],
      ['credit_coins', 5, 'PATCH /api/users/{id}/balance'],
      ['storageGb', 5, '/balance'],
      ['extra_projects', 5, '/balance'],
      ['extraAgents', 5, '/balance'],
    ]
    const before = (await patch('PATCH /api/users/{id}', {})).body
    for (const [field, value, instead] of wishes) {
      const { status, body } = await patch('PATCH /api/users/{id}', { firstName: 'Changed', [field]: value })
      expect([field, status, body['error']]).toEqual([field, 400, expect.stringContaining(`${field}: `)])
      expect(body['error']).toContain(instead)
    }
    expect((await patch('PATCH /api/users/{id}', {})).body).toEqual(before)
    for (const field of ['name', 'credit_coins'])
      expect(
        (
          await world().ask('POST', '/api/users', {
            as: admin,
            body: { email: `wish-${field}@example.org`, [field]: { usd: 5 } },
          })
        ).status,
      ).toBe(400)
    // What a user is read with can be sent back.
    expect((await patch('PATCH /api/users/{id}', before)).status).toBe(200)
  })
})
