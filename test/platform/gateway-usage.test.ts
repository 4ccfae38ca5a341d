import { expect, it } from 'vitest'
import type { SignedIn, World } from './world.js'
import { aTime, chat, unknownId, worldSuite } from './world.js'

interface Session {
  id: string
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  request_count: number
  cost_usd: number
  updated_at: string
}
interface Usage {
  user_id: string
  total_tokens: number
  total_cost: number
  records: { session_id: string; model: string; tokens: number; cost_usd: number; [field: string]: unknown }[]
}

/** platform.md 2.3, items 52 to 64. */
worldSuite('usage of the gateway', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const newOwner = async () => {
    const as = await world().signedIn('developer')
    return { ...as, key: (await world().newKey(as, { name: 'k', rateLimit: 600 })).body.key! }
  }
  const newSession = async (as: SignedIn): Promise<string> =>
    (await ask<Session>('POST', '/api/sessions', { as, body: {} })).body.id
  const session = async (as: SignedIn, id: string): Promise<Session> =>
    (await ask<Session>('GET', `/api/sessions/${id}`, { as })).body
  const usage = async ({ id, key }: { id: string; key: string }): Promise<Usage> =>
    (await ask<Usage>('GET', `/v1/users/${id}/usage`, { as: key })).body
  const say = (key: string, headers: Record<string, string> = {}, more: object = {}) =>
    ask<{ usage: Record<string, number> } & string>('POST', '/v1/chat/completions', {
      as: key,
      body: { ...chat, ...more },
      headers,
    })

  it('#52 adds a request to the session that it names', async () => {
    const ada = await newOwner()
    const id = await newSession(ada)
    const { body } = await say(ada.key, { 'x-session-id': id })
    const { prompt_tokens, completion_tokens, total_tokens } = body.usage
    expect(await session(ada, id)).toMatchObject({ prompt_tokens, completion_tokens, total_tokens, request_count: 1 })
    expect((await session(ada, id)).cost_usd).toBeGreaterThan(0)
  })

  it('#53 adds up two requests', async () => {
    const ada = await newOwner()
    const id = await newSession(ada)
    await say(ada.key, { 'x-session-id': id })
    const once = await session(ada, id)
    await say(ada.key, { 'x-session-id': id })
    const twice = await session(ada, id)
    expect(twice).toMatchObject({ request_count: 2, total_tokens: 2 * once.total_tokens })
    expect(twice.cost_usd).toBeCloseTo(2 * once.cost_usd, 12)
  })

  it('#54 adds a stream', async () => {
    const ada = await newOwner()
    const id = await newSession(ada)
    const { body } = await say(ada.key, { 'x-session-id': id }, { stream: true })
    expect(body).toContain('data: [DONE]')
    const { request_count, total_tokens, cost_usd } = await session(ada, id)
    expect([request_count, total_tokens > 0, cost_usd > 0]).toEqual([1, true, true])
  })

  it('#55 charges nothing for a request that the upstream refused', async () => {
    const ada = await newOwner()
    const id = await newSession(ada)
    world().fault = () => ({ status: 500, headers: {}, body: '{}' })
    const { status } = await say(ada.key, { 'x-session-id': id })
    world().fault = undefined
    expect(status).toBe(502)
    expect(await session(ada, id)).toMatchObject({ request_count: 0, total_tokens: 0, cost_usd: 0 })
    expect(await usage(ada)).toMatchObject({ total_tokens: 0, total_cost: 0, records: [] })
  })

  it('#56 changes nothing in the session of somebody else', async () => {
    const [ada, bob] = [await newOwner(), await newOwner()]
    const id = await newSession(ada)
    const before = await session(ada, id)
    expect((await say(bob.key, { 'x-session-id': id })).status).toBe(200)
    expect(await session(ada, id)).toEqual(before)
  })

  it('#57 tells when a session was last used', async () => {
    const ada = await newOwner()
    const id = await newSession(ada)
    const { updated_at } = await session(ada, id)
    await world().advance(1_000)
    await say(ada.key, { 'x-session-id': id })
    expect(Date.parse((await session(ada, id)).updated_at)).toBeGreaterThanOrEqual(Date.parse(updated_at) + 1_000)
  })

  it('#58 sums up what a user used', async () => {
    const ada = await newOwner()
    await say(ada.key)
    const { records, ...sums } = await usage(ada)
    expect(sums).toMatchObject({
      user_id: ada.id,
      total_tokens: records[0]!.tokens,
      total_cost: records[0]!.cost_usd,
    })
    expect(records).toHaveLength(1)
  })

  it('#59 has the fields of a record', async () => {
    const ada = await newOwner()
    const id = await newSession(ada)
    await say(ada.key, { 'x-session-id': id })
    const [record] = (await usage(ada)).records
    const { prompt_tokens, completion_tokens } = record as Record<string, number>
    expect(record).toMatchObject({
      session_id: id,
      model: 'gpt-4o-mini',
      provider: 'openai',
      tokens: prompt_tokens! + completion_tokens!,
      cost_usd: expect.any(Number) as number,
      timestamp: aTime,
    })
  })

  it('#60 has a total that is the sum of the records', async () => {
    const ada = await newOwner()
    for (let i = 0; i < 3; i++) await say(ada.key, {}, { messages: [{ role: 'user', content: 'x'.repeat(i * 40) }] })
    const { total_cost, records } = await usage(ada)
    const sum = records.reduce((all, { cost_usd }) => all + cost_usd, 0)
    expect(records).toHaveLength(3)
    expect(Math.abs(total_cost - sum)).toBeLessThan(1e-9)
  })

  it('#61 charges the price in force, and changes no record afterwards', async () => {
    const ada = await newOwner()
    const model = 'gpt-4.1-nano'
    await say(ada.key, {}, { model })
    const [before] = (await usage(ada)).records
    await world().call('setPrice', `openai/${model}`, { input: 100, output: 100 })
    await say(ada.key, {}, { model })
    const [after, first] = (await usage(ada)).records
    expect(first).toEqual(before)
    expect(after!.cost_usd).toBeCloseTo((after!.tokens * 100) / 1e6, 12)
    expect(after!.cost_usd).toBeGreaterThan(first!.cost_usd)
  })

  it('#62 has no usage of an unknown user', async () => {
    const as = await world().signedIn('admin')
    const { status, body } = await ask('GET', `/v1/users/${unknownId}/usage`, { as })
    expect([status, body]).toEqual([
      404,
      { error: { type: 'not_found_error', message: expect.any(String) as string, code: 'not_found' } },
    ])
  })

  it('#63 ignores tags that are no ids', async () => {
    const ada = await newOwner()
    const tags = ['x-session-id', 'x-project-id', 'x-task-id', 'x-conversation-id']
    // One of 10 kB at a time: the head of a request may have 16.
    const long = tags.map((tag) => ({ [tag]: 'x'.repeat(10_000) }))
    const wrong = ['../../x', `${unknownId}x`].map((value) => Object.fromEntries(tags.map((tag) => [tag, value])))
    for (const headers of [...long, ...wrong]) expect((await say(ada.key, headers)).status).toBe(200)
    const { records } = await usage(ada)
    for (const { session_id, project_id, task_id, conversation_id } of records)
      expect([session_id, project_id, task_id, conversation_id]).toEqual(['', '', '', ''])
    expect(records).toHaveLength(6)
  })

  it('#64 records a stream whose client disconnects', async () => {
    const ada = await newOwner()
    world().fault = () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        const choices = [{ index: 0, delta: { role: 'assistant', content: 'So far' }, finish_reason: null }]
        const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' }
        yield `data: ${JSON.stringify({ ...head, choices })}\n\n`
        await new Promise(() => undefined)
      })(),
    })
    const controller = new AbortController()
    const response = await fetch(`${world().url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...chat, stream: true }),
      signal: controller.signal,
    })
    await response.body!.getReader().read()
    controller.abort()
    world().fault = undefined
    await expect
      .poll(async () => (await usage(ada)).records, { timeout: 20_000 })
      .toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated' }])
  })
})
