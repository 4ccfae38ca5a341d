import type { EndUserRules, KeyInput } from '@turnpike/core'
import { createUser, memoryKV, updateUser } from '@turnpike/core'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { answer, completion, COST, errorOf, OWNER, withKey } from '../../../../test/support/gateway.js'

const served = (endUsers: EndUserRules, options: TestOptions = {}) => withKey({ endUsers }, options)

/** The ids of the stored end users, and the names of the counters of their budgets. */
const stored = async ({ kv }: Pick<Awaited<ReturnType<typeof served>>, 'kv'>) => {
  const ids = (await kv.list<{ id: string }>(['end-user'], { limit: 500 })).items.map(({ value }) => value.id)
  const budgets = (await kv.list(['budget', 'end_user'], { limit: 500 })).items.map(({ key }) => key[3])
  return { ids, budgets }
}

describe('the end users of a key', () => {
  it('are recorded and summed by the `user` of their requests', async () => {
    const at = await served({})
    for (const user of ['ada', 'bob', 'ada', undefined, '', ' ']) expect((await at.ask({ user })).status).toBe(200)
    const { items } = await at.gateway.keys.endUsers.list((await at.gateway.keys.get(at.id))!)
    expect(items.map(({ id, user_id }) => [id, user_id])).toEqual([
      ['ada', OWNER],
      ['bob', OWNER],
    ])
    const totals = await at.gateway.ledger.totalsOfMany('end_user', [`${at.id} ada`, `${at.id} bob`])
    expect(totals.map(({ requests, cost_nano_usd }) => [requests, cost_nano_usd])).toEqual([
      [2, 2 * COST],
      [1, COST],
    ])
    const usage = await at.send('GET', `/v1/users/${OWNER}/usage`, undefined, at.init)
    const { records } = (await usage.json()) as { records: { end_user?: string }[] }
    expect(records.map(({ end_user }) => end_user)).toEqual([undefined, undefined, undefined, 'ada', 'bob', 'ada'])
    expect(await at.problems()).toEqual([])
  })

  it('are those of the header that the operator names, before the body', async () => {
    const at = await served({ required: true }, { endUserHeader: 'x-app-user' })
    const ask = (user: string | undefined, header: string) =>
      at.chat({ user }, { headers: { ...at.init.headers, 'x-app-user': header } })
    for (const [user, header] of [
      ['body', 'head'],
      ['body', ''],
      [undefined, 'head'],
    ] as const)
      expect((await ask(user, header)).status).toBe(200)
    expect((await stored(at)).ids).toEqual(['body', 'head'])
    expect((await at.records()).map(({ end_user }) => end_user?.id)).toEqual(['head', 'body', 'head'])
    // It is required of speech, too.
    const speech = { model: 'tts-1', input: 'Hi' }
    expect((await at.send('POST', '/v1/audio/speech', speech, at.init)).status).toBe(400)
  })

  it('threat 200: whose requests fail go to another provider, and those of others stay', async () => {
    let isDown = false
    const { transport } = fakeOpenAI({ override: () => (isDown ? answer({}, 503) : completion()) })
    const router = createRouter({
      providers: [
        openai({ apiKey: 'sk', transport }),
        anthropic({ apiKey: 'sk', transport: fakeAnthropic().transport }),
      ],
      groups: { any: ['gpt-4o-mini', 'claude-haiku-4-5'] },
    })
    const at = await served({}, { router })
    const attemptsOf = async (user?: string): Promise<string | null> => {
      isDown = user === 'eve'
      const headers = { ...at.init.headers, 'x-gateway-explain': 'true' }
      const response = await at.chat({ model: 'any', user }, { headers })
      return response.headers.get('x-gateway-attempts')
    }
    const attempts = []
    for (const user of ['eve', 'eve', 'eve', 'eve', 'eve', 'eve', 'bob', undefined])
      attempts.push(await attemptsOf(user))
    expect(attempts).toEqual(['2', '2', '2', '2', '2', '1', '1', '1'])
    const providers = (await at.records()).map(({ provider }) => provider).toReversed()
    expect(providers).toEqual([...Array(6).fill('anthropic'), 'openai', 'openai'])
  })

  it('are not told apart for other keys', async () => {
    const at = await withKey({})
    for (const user of ['ada', 'x'.repeat(5_000)]) expect((await at.ask({ user })).status).toBe(200)
    expect(await stored(at)).toEqual({ ids: [], budgets: [] })
    expect((await at.records()).map(({ end_user }) => end_user)).toEqual([undefined, undefined])
  })

  it('have a budget each, that of the key or one of their own', async () => {
    const at = await served({ budget: { usd: (1.5 * COST) / 1e9 } })
    const ask = async (user: string) => (await at.ask({ user, max_tokens: 2 })).status
    expect([await ask('ada'), await ask('ada'), await ask('ada'), await ask('bob')]).toEqual([200, 200, 403, 200])
    const key = (await at.gateway.keys.get(at.id))!
    const { endUsers } = at.gateway.keys
    await endUsers.update(key, 'ada', { budget: { usd: 1 } })
    expect(await ask('ada')).toBe(200)
    await endUsers.update(key, 'ada', { budget: null })
    expect(await ask('ada')).toBe(403)
    expect(await endUsers.update(key, 'nobody', { budget: null })).toBeNull()
    // A change of the key's is one of all who have none of their own; a rotation keeps them.
    await at.gateway.keys.update(at.id, { endUsers: { budget: { usd: 1 } } })
    expect(await ask('ada')).toBe(200)
    await at.gateway.keys.update(at.id, { endUsers: { budget: { usd: (1.5 * COST) / 1e9 } } })
    const next = (await at.gateway.keys.rotate(at.id))!
    const refused = await at.chat({ user: 'ada' }, { headers: { authorization: `Bearer ${next.key}` } })
    expect([refused.status, await errorOf(refused)]).toMatchObject([403, { code: 'budget_exceeded' }])
    expect(await at.problems()).toEqual([])
  })

  it('have requests per minute each, of which `n` answers may take several', async () => {
    const at = await served({ rate_limit: 2 })
    const ask = async (user: string) => (await at.ask({ user })).status
    expect([await ask('ada'), await ask('ada'), await ask('bob')]).toEqual([200, 200, 200])
    const refused = await at.ask({ user: 'ada' })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await errorOf(refused)).toMatchObject({ message: 'This end user is limited to 2 requests per minute' })
    await at.gateway.keys.endUsers.update((await at.gateway.keys.get(at.id))!, 'ada', { rate_limit: 3 })
    expect([await ask('ada'), await ask('ada')]).toEqual([200, 429])
  })

  it('are removed with their sums and budgets, and begin anew', async () => {
    const at = await served({ budget: { usd: (0.5 * COST) / 1e9 } })
    const ask = async () => (await at.ask({ user: 'ada', max_tokens: 2 })).status
    expect([await ask(), await ask()]).toEqual([200, 403])
    const key = (await at.gateway.keys.get(at.id))!
    expect(await at.gateway.keys.endUsers.remove(key, 'ada')).toBe(true)
    expect(await at.gateway.keys.endUsers.remove(key, 'ada')).toBe(false)
    expect(await stored(at)).toEqual({ ids: [], budgets: [] })
    expect((await at.gateway.ledger.totals('end_user', `${at.id} ada`)).requests).toBe(0)
    expect(await ask()).toBe(200)
    expect(await at.problems()).toEqual([])
    expect((await at.kv.get<object>(['end-users', at.id]))!.value).toEqual({ 'end users': 1 })
  })

  it('keep one counter of a budget per day or month', async () => {
    const at = await served({ budget: { usd: 1, per: 'day' } })
    for (let day = 0; day < 5; day++) {
      for (const user of ['ada', 'bob']) expect((await at.ask({ user })).status).toBe(200)
      at.clock.now += 86_400_000
    }
    expect((await stored(at)).budgets).toEqual(['2026-01-06', '2026-01-06'])
    expect(await at.problems()).toEqual([])
  })
})

describe('threat 76: end users who are made up, to get more or to fill the store', () => {
  it.each([
    ['a long one', 'x'.repeat(129)],
    ['a long one in UTF-8', '😀'.repeat(65)],
    ['control characters', 'a\nb'],
    ['a NUL', 'a\0'],
    ['half of a surrogate pair', '\ud800'],
    ['a dot', '.'],
    ['two dots', '..'],
    ['a number', 7],
    ['a list', ['ada']],
  ])('refuses %s before any call', async (_, user) => {
    const at = await served({})
    expect((await at.ask({ user })).status).toBe(400)
    expect(at.upstream.requests).toHaveLength(0)
    expect(await stored(at)).toEqual({ ids: [], budgets: [] })
  })

  it('takes none for one only where the key does not require it', async () => {
    const at = await served({ required: true })
    for (const user of [undefined, null, '', ' ', '\t', '\u00a0\u2003']) {
      const refused = await at.ask({ user })
      expect([refused.status, await errorOf(refused)]).toMatchObject([400, { code: 'invalid_body' }])
    }
    expect(at.upstream.requests).toHaveLength(0)
  })

  it('tells apart what is written in another way, and keeps it as it is', async () => {
    const at = await served({})
    const ids = ['Ada', 'ada', 'e\u0301', '\u00e9', 'a/b', 'a b', '__proto__', 'constructor', '%2e', `${at.id} ada`]
    for (const user of ids) expect((await at.ask({ user })).status).toBe(200)
    expect((await stored(at)).ids.toSorted()).toEqual(ids.toSorted())
    expect(await at.problems()).toEqual([])
  })

  it('holds all of them together to the budget of the key and of its owner', async () => {
    const at = await withKey({ budget: { usd: (2.5 * COST) / 1e9 }, endUsers: { budget: { usd: 1 } } })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await at.ask({ user: `made up ${i}`, max_tokens: 2 })).status)
    expect(statuses).toEqual([200, 200, 200, 403, 403])
  })

  it('has a limit of how many a key makes, also at once, and others go on', async () => {
    const at = await served({})
    await at.ask({ user: 'first' })
    await at.kv.commit({ sum: [{ key: ['end-users', at.id], add: { 'end users': 9_997 } }] })
    const statuses = await Promise.all(
      Array.from({ length: 6 }, async (_, i) => (await at.ask({ user: `u${i}` })).status),
    )
    expect(statuses.toSorted()).toEqual([200, 200, 403, 403, 403, 403])
    expect((await at.ask({ user: 'first' })).status).toBe(200)
    expect((await at.ask({ user: 'another' })).status).toBe(403)
    // They count as data of the owner.
    const { value } = (await at.kv.get<{ bytes: number }>(['owned', OWNER]))!
    await at.gateway.keys.endUsers.remove((await at.gateway.keys.get(at.id))!, 'first')
    expect((await at.kv.get<{ bytes: number }>(['owned', OWNER]))!.value.bytes).toBeLessThan(value.bytes - 200)
  })

  it('takes no more than the data that the owner may have, also at once', async () => {
    const at = await served({ budget: { usd: 1 } }, { dataBytes: 5_000 })
    const made = (user: string) => at.ask({ user: `${'x'.repeat(100)} ${user}` })
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => made(`u${i}`)))
    const refused = answers.filter(({ status }) => status === 403)
    expect(refused.length).toBeGreaterThan(5)
    expect(refused.length).toBeLessThan(20)
    expect(await errorOf(refused[0]!)).toMatchObject({
      message: 'Your plan has 5000 bytes of data, and this would be more',
    })
    expect((await at.kv.get<{ bytes: number }>(['owned', OWNER]))!.value.bytes).toBeLessThanOrEqual(5_000)
    expect(await at.holds()).toEqual([])
    const [known] = (await stored(at)).ids
    expect((await at.ask({ user: known })).status).toBe(200)
    expect(await at.problems()).toEqual([])
  })

  it('stores none for a request that is not admitted', async () => {
    const refused: [Partial<KeyInput>, object, number][] = [
      [{ models: ['gpt-4o-mini'] }, {}, 403],
      [{ budget: { usd: 1e-6 } }, {}, 403],
      [{ budget: { usd: 1 } }, { model: 'gpt-unpriced' }, 403],
      [{ tokenLimit: 10 }, {}, 429],
      [{ endUsers: { budget: { usd: 1e-6 } } }, {}, 403],
      [{ endUsers: { rate_limit: 1 } }, { model: 'gemini-2.5-flash', n: 2 }, 429],
    ]
    for (const [input, fields, status] of refused) {
      const router = createRouter({ providers: [openai({ apiKey: 'sk' }), google({ apiKey: 'sk' })] })
      const at = await withKey({ endUsers: {}, ...input }, { router })
      expect([input, (await at.ask({ user: 'ada', ...fields })).status]).toEqual([input, status])
      expect([input, await stored(at)]).toEqual([input, { ids: [], budgets: [] }])
    }
  })

  it('shares none between keys, of other owners or the same', async () => {
    const kv = await memoryKV()
    const at = await served({ budget: { usd: (0.5 * COST) / 1e9 } }, { kv })
    const other = await at.gateway.keys.create(OWNER, { name: 'other', endUsers: { budget: { usd: 1 } } })
    const ask = async (init: RequestInit) => (await at.chat({ user: 'ada', max_tokens: 2 }, init)).status
    const there = { headers: { authorization: `Bearer ${other.key}` } }
    expect([await ask(at.init), await ask(at.init), await ask(there), await ask(there)]).toEqual([200, 403, 200, 200])
    expect((await at.gateway.keys.endUsers.list(other)).items).toHaveLength(1)
  })

  it('makes a key with end users no administrator', async () => {
    const at = await withKey({})
    await createUser(at.kv, { id: 'root', role: 'admin' })
    const { key } = await at.gateway.keys.create('root', { name: 'app', endUsers: {} })
    const list = await at.send('GET', '/v1/users', undefined, { headers: { authorization: `Bearer ${key}` } })
    expect(list.status).toBe(403)
  })
})

describe('threat 84: an end user beyond the own limits, who uses up the minute of the key for others', () => {
  const statuses = async (ask: () => Promise<Response>, times: number) => {
    const all: number[] = []
    for (let i = 0; i < times; i++) all.push((await ask()).status)
    return all
  }

  it.each<[what: string, rules: EndUserRules, status: number]>([
    ['requests', { rate_limit: 2 }, 429],
    ['budget', { budget: { usd: (1.5 * COST) / 1e9 } }, 403],
  ])('has what is refused for the %s given back, to the key and its owner', async (_, endUsers, status) => {
    const at = await withKey({ rateLimit: 5, endUsers }, { keyLimits: { developer: { rateLimit: 5 } } })
    await updateUser(at.kv, OWNER, { role: 'developer' })
    at.gateway.keys.forget(OWNER)
    const ask = (user: string) => () => at.ask({ user, max_tokens: 2 })
    expect(await statuses(ask('mallory'), 7)).toEqual([200, 200, ...Array.from({ length: 5 }, () => status)])
    expect(await statuses(ask('alice'), 2)).toEqual([200, 200])
    expect(await statuses(ask('bob'), 2)).toEqual([200, 429])
  })

  it('has no more given back than a minute has, and nothing in the next one', async () => {
    const at = await withKey({ rateLimit: 5, endUsers: { rate_limit: 1 } })
    expect(await statuses(() => at.ask({ user: 'mallory' }), 10)).toEqual([
      200,
      ...Array.from({ length: 9 }, () => 429),
    ])
    const refused = await at.ask({ user: 'alice' })
    expect(await errorOf(refused)).toMatchObject({ message: 'This key is limited to 5 requests per minute' })

    at.clock.now += 60_000
    await at.ask({ user: 'mallory' })
    let send!: (rest: string) => void
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = (text) => (controller.enqueue(new TextEncoder().encode(text)), controller.close())
      },
    })
    const slow = at.send('POST', '/v1/chat/completions', undefined, {
      ...at.init,
      body,
      duplex: 'half',
    } as RequestInit)
    await new Promise((resolve) => setTimeout(resolve, 20))
    at.clock.now += 59_500
    await at.ask({ user: 'alice' })
    at.clock.now += 500
    expect(await statuses(() => at.ask({ user: 'mallory' }), 1)).toEqual([200])
    send(JSON.stringify({ model: 'gpt-4o', user: 'mallory', messages: [{ role: 'user', content: 'Hi' }] }))
    expect((await slow).status).toBe(429)
    expect(await statuses(() => at.ask({ user: `${Math.random()}` }), 5)).toEqual([200, 200, 200, 200, 429])
  })
})
