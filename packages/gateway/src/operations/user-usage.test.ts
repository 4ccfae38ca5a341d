import { UsageEntry, UserUsage } from '@turnpike/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { errorOf, OWNER, testGateway } from '../../../../test/support/gateway.js'
import { usageRecord } from '../../../../test/support/usage-record.js'

const json = async <T>(response: Response): Promise<T> => {
  expect(response.status).toBe(200)
  return (await response.json()) as T
}

describe('the usage of a user', () => {
  it('is zero at first', async () => {
    const { send } = await testGateway()
    const usage = await json(await send('GET', `/v1/users/${OWNER}/usage`))
    expect(usage).toEqual({ user_id: OWNER, records: [], total_tokens: 0, total_cost: 0 })
  })

  it('has the fields of the specification', async () => {
    const session = '01900000-aaaa-7000-8000-0000000000ff'
    const { send, chat, keyId } = await testGateway()
    const id = (await chat({}, { headers: { 'x-session-id': session } })).headers.get('x-request-id')
    const usage = v.parse(UserUsage, await json(await send('GET', `/v1/users/${OWNER}/usage`)))
    expect(usage.records).toHaveLength(1)
    const [record] = usage.records
    expect(record).toMatchObject({
      request_id: id,
      key_id: keyId,
      session_id: session,
      model: 'gpt-4o',
      provider: 'openai',
      timestamp: '2026-01-02T00:00:00.000Z',
      priced: true,
      accuracy: 'reported',
      outcome: 'complete',
    })
    expect(record!.tokens).toBe(record!.prompt_tokens + record!.completion_tokens)
    expect(usage.total_tokens).toBe(record!.tokens)
    expect(usage.total_cost).toBe(record!.cost_usd)
    expect(record).not.toHaveProperty('cost_nano_usd')
    expect(record).not.toHaveProperty('user_id')
  })

  it('has no field of a record that the schema of the answer does not have', async () => {
    const { send, gateway } = await testGateway()
    const record = usageRecord({
      user_id: OWNER,
      in_session: true,
      considered: [],
      service_tier: 'flex',
      end_user: { key: 'k', id: 'ada' },
    })
    await gateway.ledger.append(Object.assign(record, { internal: 'for the ledger' }))
    const { records } = await json<{ records: object[] }>(await send('GET', `/v1/users/${OWNER}/usage`))
    expect(Object.keys(records[0]!)).toEqual(Object.keys(UsageEntry.entries))
  })

  it('counts requests without a price separately', async () => {
    const { send, chat } = await testGateway()
    await chat({ model: 'gpt-unheard-of' })
    const { records, total_cost } = v.parse(UserUsage, await json(await send('GET', `/v1/users/${OWNER}/usage`)))
    expect([total_cost, records[0]!.cost_usd, records[0]!.priced]).toEqual([0, 0, false])
  })

  it('is listed completely, newest first, with totals that equal the sums', async () => {
    const { send, gateway } = await testGateway()
    const made = Array.from({ length: 1_234 }, (_, i) =>
      usageRecord({ request_id: `r${i}`, user_id: OWNER, tokens: i, cost_nano_usd: i % 7 === 0 ? null : i }),
    )
    for (let i = 0; i < made.length; i += 10)
      await Promise.all(made.slice(i, i + 10).map((record) => gateway.ledger.append(record)))
    const response = await send('GET', `/v1/users/${OWNER}/usage`)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    const { records, total_tokens, total_cost } = v.parse(UserUsage, await json(response))
    expect(records.map(({ request_id }) => request_id)).toEqual(made.map(({ request_id }) => request_id).toReversed())
    expect(total_tokens).toBe((1_233 * 1_234) / 2)
    expect(total_cost).toBeCloseTo(
      records.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
      12,
    )
  })

  it('threat 64: counts as the requests that its pages would be, at most half of those of a minute', async () => {
    const { send, gateway } = await testGateway()
    const { key } = await gateway.keys.create(OWNER, { name: 'slow', rateLimit: 8 })
    const headers = { authorization: `Bearer ${key}` }
    const add = (count: number) =>
      Promise.all(Array.from({ length: count }, () => gateway.ledger.append(usageRecord({ user_id: OWNER }))))
    const left = async (): Promise<string | null> => {
      const response = await send('GET', `/v1/users/${OWNER}/usage`, undefined, { headers })
      await response.text()
      return response.status === 200 ? response.headers.get('x-ratelimit-remaining-requests') : String(response.status)
    }
    await add(500)
    expect(await left()).toBe('7')
    await add(1)
    expect(await left()).toBe('5')
    await add(5_000)
    expect(await left()).toBe('1')
    expect(await left()).toBe('429')
  })

  it('is paged on request, with totals over everything', async () => {
    const { send, gateway } = await testGateway()
    for (let i = 0; i < 4; i++)
      await Promise.all(
        [1, 2, 3].map((n) => gateway.ledger.append(usageRecord({ request_id: `${i}.${n}`, user_id: OWNER }))),
      )
    const pages: string[][] = []
    let next: string | undefined
    do {
      const query: string = next === undefined ? '' : `&after=${next}`
      const page = v.parse(UserUsage, await json(await send('GET', `/v1/users/${OWNER}/usage?limit=5${query}`)))
      expect(page.total_tokens).toBe(12 * 13)
      pages.push(page.records.map(({ request_id }) => request_id))
      next = page.next
    } while (next !== undefined)
    expect(pages).toEqual([
      ['3.3', '3.2', '3.1', '2.3', '2.2'],
      ['2.1', '1.3', '1.2', '1.1', '0.3'],
      ['0.2', '0.1'],
    ])
  })

  it.each(['limit=0', 'limit=501', 'limit=x', 'limit=1.5', 'after=nonsense', `after=${'x'.repeat(300)}`])(
    'refuses ?%s',
    async (query) => {
      const { send } = await testGateway()
      const response = await send('GET', `/v1/users/${OWNER}/usage?${query}`)
      expect(response.status).toBe(400)
      expect(await errorOf(response)).toMatchObject({ type: 'invalid_request_error' })
    },
  )

  it('is an error, not a partial list, if the store fails meanwhile', async () => {
    const { send, gateway, kv } = await testGateway()
    for (let i = 0; i < 600; i++) await gateway.ledger.append(usageRecord({ user_id: OWNER }))
    const { list } = kv
    let pages = 0
    kv.list = async (...parameters) => {
      if (parameters[0][0] === 'usage' && ++pages > 1) throw new Error('gone')
      return list(...parameters)
    }
    const response = await send('GET', `/v1/users/${OWNER}/usage`)
    await expect(response.text()).rejects.toThrow()
    kv.list = async () => Promise.reject(new Error('gone'))
    expect((await send('GET', `/v1/users/${OWNER}/usage`)).status).toBe(500)
  })
})

it('charges each request once', async () => {
  const { send, chat } = await testGateway()
  await Promise.all([chat(), chat({ stream: true }).then((response) => response.text()), chat()])
  const { records, total_cost } = v.parse(UserUsage, await json(await send('GET', `/v1/users/${OWNER}/usage`)))
  expect(records).toHaveLength(3)
  expect(total_cost).toBeCloseTo(
    records.reduce((sum, { cost_usd }) => sum + cost_usd, 0),
    12,
  )
})
