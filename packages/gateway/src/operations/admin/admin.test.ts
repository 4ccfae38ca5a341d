import type { UsageRecord } from '@turnpike/core'
import { createUser, deleteUser, memoryKV } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, adminGateway, twoProviders } from '../../../../../test/support/admin.js'
import { errorOf, OWNER } from '../../../../../test/support/gateway.js'
import { usageRecord } from '../../../../../test/support/usage-record.js'
import { PricingResponse } from './pricing.js'
import { ConfiguredProviders } from './providers.js'
import { AuditLog, UsersSummary } from './users.js'

const well = { breaker: 'closed', failures: 0, last_failure: null, next_try: null }

const paths = [
  '/admin/metrics',
  '/admin/providers',
  '/admin/pricing',
  '/admin/users/summary',
  '/admin/balancer',
  '/admin/usage?by=user',
  '/admin/usage/hours?by=user&id=a',
  '/admin/keys',
  '/admin/audit',
  '/admin/failed-requests',
  '/admin/events?replay=0',
  '/health/providers',
]

const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }

/** The routes that change something, or have a body. */
const commands: [method: string, path: string, body: object | undefined][] = [
  ['POST', '/admin/providers/openai/probe', undefined],
  ['POST', '/admin/balancer/simulate', chat],
]

describe('the routes for administrators', () => {
  it.each([...paths.map((path) => ['GET', path, undefined] as const), ...commands])(
    '%s %s is for administrators only',
    async (method, path, body) => {
      const { send, gateway, kv } = await adminGateway()
      const admin = await createUser(kv, { role: 'admin' })
      const { key } = await gateway.keys.create(admin.id, { name: 'admin' })
      const status = async (authorization?: string): Promise<number> => {
        const response = await send(
          method,
          path,
          body,
          authorization === undefined ? {} : { headers: { authorization } },
        )
        await response.body?.cancel()
        return response.status
      }
      // Nobody, a wrong token, the key of a user, the key of an administrator, the token of an administrator.
      const credentials = ['', 'Bearer wrong', undefined, `Bearer ${key}`, `Bearer ${ADMIN_TOKEN}`]
      expect(await Promise.all(credentials.map(status))).toEqual([401, 401, 403, 200, 200])
    },
  )

  it('are those of the specification, and optionally the additional ones', async () => {
    const table = async (options: object) => {
      const { routes } = (await adminGateway(options)).gateway
      return routes
        .filter(({ path }) => path.startsWith('/admin'))
        .map(({ path, convention = false }) => [path, convention])
    }
    const shown = ['metrics', 'providers', 'pricing', 'users/summary', 'balancer'].map((name) => [
      `/admin/${name}`,
      false,
    ])
    expect(await table({ routes: [] })).toEqual(shown)
    const ours = [
      'providers/{id}/probe',
      'balancer/simulate',
      'usage',
      'usage/hours',
      'keys',
      'keys/{id}',
      'audit',
      'failed-requests',
      'failed-requests/{id}',
      'events',
    ].map((name) => [`/admin/${name}`, true])
    expect(await table({})).toEqual([...shown, ...ours])
  })
})

it('GET /admin/providers lists the configured ones, without keys or addresses', async () => {
  const router = twoProviders()
  const { read, ask } = await adminGateway({ router })
  const all = await router.models()
  const count = (id: string): number => all.filter(({ provider }) => provider === id).length
  expect(await read('/admin/providers', ConfiguredProviders)).toEqual({
    providers: [
      {
        id: 'openai',
        ...well,
        status: 'healthy',
        tasks: ['chat', 'embeddings', 'images', 'speech', 'transcription'],
        models: count('openai'),
      },
      {
        id: 'google',
        ...well,
        status: 'healthy',
        tasks: ['chat', 'embeddings', 'images'],
        models: count('google'),
      },
    ],
  })
  for (const path of paths.slice(0, -2)) expect(await (await ask(path)).text()).not.toMatch(/secret|internal/)
})

it('GET /admin/providers tells what its host tells of them, also of those that get no calls', async () => {
  const source = 'store'
  const { read } = await adminGateway({
    router: twoProviders(),
    configured: () => [
      { id: 'off', out: 'disabled', source: 'file', type: 'openai' },
      { id: 'openai', source: 'environment', type: 'openai', weight: 2, tokens_per_minute: 5 },
      { id: 'bad', out: 'broken', source, fault: 'why', entry: 'e' },
      { id: 'google', source, settings: { type: 'google' }, has_key: true, key_end: 'WXYZ' },
    ],
  })
  const { providers } = await read('/admin/providers', ConfiguredProviders)
  expect(providers.map(({ id, status, models }) => [id, status, models > 0])).toEqual([
    ['off', 'disabled', false],
    ['openai', 'healthy', true],
    ['bad', 'broken', false],
    ['google', 'healthy', true],
  ])
  expect(providers).toMatchObject([
    { tasks: [] },
    { source: 'environment', weight: 2, tokens_per_minute: 5 },
    { fault: 'why', entry: 'e' },
    { settings: { type: 'google' }, has_key: true, key_end: 'WXYZ' },
  ])
})

it('GET /admin/pricing lists the prices of all models, also unknown ones', async () => {
  const router = twoProviders()
  const { read } = await adminGateway({ router })
  const { models, ...table } = await read('/admin/pricing', PricingResponse)
  expect(table).toEqual({ version: router.state().prices.version, source: 'own.json', since: '2026-01-01' })
  expect(models.map(({ provider, id }) => `${provider}/${id}`)).toEqual(
    (await router.models()).map(({ provider, id }) => `${provider}/${id}`),
  )
  const of = (model: string) => models.find(({ id }) => id === model)
  const none = { input: null, output: null, cache_read: null, cache_write: null, other: {} }
  const origin = { source: 'own.json', since: '2026-01-01' }
  expect(of('gpt-4o')).toEqual({
    id: 'gpt-4o',
    provider: 'openai',
    priced: true,
    ...none,
    input: 2.5,
    output: 10,
    cache_read: 1.25,
    tiers: [],
    ...origin,
  })
  expect(of('tts-1')).toMatchObject({ priced: true, ...none, other: { characters: 15 } })
  expect(of('gemini-2.5-pro')).toMatchObject({
    input: 1,
    other: { input_audio: 3 },
    tiers: [{ above: 200_000, ...none, input: 2.5 }],
  })
  expect(of('gpt-4.1')).toEqual({
    id: 'gpt-4.1',
    provider: 'openai',
    priced: false,
    ...none,
    tiers: [],
    source: null,
    since: null,
  })
})

describe('GET /admin/users/summary', () => {
  const used = (fields: Partial<UsageRecord>) => usageRecord({ user_id: OWNER, ...fields })

  it('has totals of all and of each, newest first, including deleted users', async () => {
    const { read, gateway, kv } = await adminGateway()
    const [ada, bob] = [
      await createUser(kv, { name: 'Ada', email: 'ada@example.com', role: 'developer' }),
      await createUser(kv, { name: 'Bob' }),
    ]
    await gateway.ledger.append(used({}))
    await gateway.ledger.append(used({ user_id: ada.id }))
    await gateway.ledger.append(used({ user_id: ada.id, cost_nano_usd: null }))
    await gateway.ledger.append(used({ user_id: bob.id }))
    await deleteUser(kv, bob.id)
    const totals = { requests: 1, unpriced: 0, prompt_tokens: 10, completion_tokens: 3, tokens: 13, cost_usd: 0.000055 }
    const adas = { ...totals, requests: 2, unpriced: 1, prompt_tokens: 20, completion_tokens: 6, tokens: 26 }
    const AT = '2026-01-02T00:00:00.000Z'
    const owner = (await kv.get<{ created_at: string }>(['user', OWNER]))!.value
    expect(await read('/admin/users/summary', UsersSummary)).toEqual({
      users: 2,
      requests: 4,
      unpriced: 1,
      prompt_tokens: 40,
      completion_tokens: 12,
      tokens: 52,
      cost_usd: 0.000165,
      data: [
        {
          id: ada.id,
          name: 'Ada',
          email: 'ada@example.com',
          role: 'developer',
          created_at: ada.created_at,
          ...adas,
          last_used_at: AT,
        },
        { id: OWNER, name: '', email: null, role: 'user', created_at: owner.created_at, ...totals, last_used_at: AT },
      ],
    })
  })

  it('comes in pages', async () => {
    const { read, ask, kv } = await adminGateway()
    for (let i = 0; i < 4; i++) await createUser(kv, { name: `${i}` })
    const names: string[] = []
    for (let query = '?limit=2'; ;) {
      const { data, next, users } = await read(`/admin/users/summary${query}`, UsersSummary)
      expect([users, data.length <= 2]).toEqual([5, true])
      names.push(...data.map(({ name }) => name))
      if (next === undefined) break
      query = `?limit=2&after=${next}`
    }
    expect(names).toEqual(['3', '2', '1', '0', ''])
    for (const query of ['limit=0', 'limit=501', 'limit=x']) {
      const response = await ask(`/admin/users/summary?${query}`)
      expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
    }
  })

  it('reads one page only, regardless of the number of users', async () => {
    const kv = await memoryKV()
    const reads: string[] = []
    const watched = {
      ...kv,
      get: (key: string[]) => (reads.push(`get ${key[0]}`), kv.get(key)),
      getMany: (keys: string[][]) => (reads.push(`getMany ${keys.length}`), kv.getMany(keys)),
      list: (prefix: string[], options: object) => (reads.push(`list ${prefix[0]}`), kv.list(prefix, options)),
    }
    for (let i = 0; i < 300; i++) await createUser(kv, { name: `${i}` })
    const { read } = await adminGateway({ kv: watched as never })
    reads.length = 0
    await read('/admin/users/summary', UsersSummary)
    expect(reads.toSorted()).toEqual(['get usage-total', 'get user-count', 'getMany 100', 'getMany 100', 'list user'])
  })
})

it('GET /admin/audit lists actions of administrators, in pages', async () => {
  const { read, kv, gateway, clock } = await adminGateway()
  const by = { by: 'admin-token', now: clock.now }
  const { id } = await createUser(kv, { name: 'Ada' }, by)
  const key = await gateway.keys.create(id, { name: 'k' }, { ...by, now: clock.now + 1 })
  const first = await read('/admin/audit?limit=1', AuditLog)
  expect(first).toMatchObject({
    data: [{ actor: 'admin-token', action: 'key.create', target: key.id, timestamp: '2026-01-02T00:00:00.001Z' }],
  })
  expect(await read(`/admin/audit?limit=1&after=${first.next}`, AuditLog)).toMatchObject({
    data: [{ actor: 'admin-token', action: 'user.create', target: id }],
  })
  expect((await read('/admin/audit', AuditLog)).data).toHaveLength(2)
})
