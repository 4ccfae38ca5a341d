import type { UsageLedger } from '@turnpike/core'
import { ApiError, ChatCompletion, isUuid, memoryKV, StorageError } from '@turnpike/core'
import * as v from 'valibot'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { builtInPrices } from '@turnpike/providers'
import { answer, errorOf, OWNER, testGateway, chunk, streamed } from '../../../../test/support/gateway.js'

const session = '01900000-AAAA-7000-8000-0000000000FF'
const whole = (fields: object = {}) =>
  answer({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 5,
    model: 'gpt-4o-2024',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    ...fields,
  })

afterEach(() => vi.useRealTimers())

describe('a chat completion', () => {
  it('is answered with the upstream’s words and usage', async () => {
    const { chat } = await testGateway({ upstream: () => whole() })
    const response = await chat()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(isUuid(response.headers.get('x-request-id')!)).toBe(true)
    expect(await response.json()).toEqual(JSON.parse(whole().body as string))
  })

  it('is valid from the fake upstream, with n choices and a tool call', async () => {
    const { chat } = await testGateway()
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a: {} } } } }]
    const body = v.parse(ChatCompletion, await (await chat({ n: 2, tools, tool_choice: 'required' })).json())
    expect(body.choices.map(({ finish_reason }) => finish_reason)).toEqual(['tool_calls', 'tool_calls'])
    expect(body.choices[0]!.message.content).toBeNull()
  })

  it('goes upstream with our credential, without what is ours or null', async () => {
    const { chat, upstream, key, sent } = await testGateway()
    const extra = { seed: 7, logit_bias: { '1': 5 }, metadata: { a: 'b' }, store: true, user: 'u' }
    const nulls = { temperature: null, top_p: null, n: null, max_tokens: null, stop: null, stream: null, tools: null }
    const more = { stream_options: null, tool_choice: null, system: 'Be brief', provider: 'openai', ...nulls }
    const headers = { cookie: 'a=b', 'x-stainless-lang': 'js', 'openai-organization': 'org-1' }
    expect((await chat({ ...extra, ...more, model: 'openai/gpt-4o' }, { headers })).status).toBe(200)
    expect(sent()).toEqual({
      model: 'gpt-4o',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
      ...extra,
    })
    const [request] = upstream.requests
    expect(Object.keys(request!.headers).toSorted()).toEqual(['accept', 'authorization', 'content-type', 'user-agent'])
    expect(JSON.stringify(request)).not.toContain(key)
  })

  it.each([
    ['auto', 'gpt-4o'],
    ['openai', 'openai/gpt-4o'],
    [undefined, 'openai/gpt-4o'],
    [undefined, 'gpt-not-listed-yet'],
  ])('with provider %s and model %s reaches the upstream', async (provider, model) => {
    const { chat, sent } = await testGateway()
    expect((await chat({ provider, model })).status).toBe(200)
    expect(sent()).toMatchObject({ model: model.replace('openai/', '') })
    expect(sent()).not.toHaveProperty('provider')
  })

  it('takes null for absent within messages and tools', async () => {
    const { chat } = await testGateway()
    const messages = [
      { role: 'user', content: 'Hi', name: null },
      { role: 'assistant', content: 'Hello', tool_calls: null },
      { role: 'user', content: 'Bye' },
    ]
    const tools = [{ type: 'function', function: { name: 'f', description: null, parameters: null } }]
    expect((await chat({ messages })).status).toBe(200)
    expect((await chat({ tools })).status).toBe(200)
  })

  it('hands on prototype keys, surrogates and big numbers as they are', async () => {
    const { send, upstream } = await testGateway()
    const schema = '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}'
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"n":12345678901234567890}' } }
    const messages = [
      { role: 'user', content: '\ud800 \0 Hi' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: '1' },
    ]
    const body = `{"model":"gpt-4o","messages":${JSON.stringify(messages)},"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`
    const response = await send('POST', '/v1/chat/completions', body)
    expect(response.status).toBe(200)
    expect(JSON.parse(await response.text())).toMatchObject({ object: 'chat.completion' })
    const got = upstream.requests[0]!.body as { tools: { function: { parameters: object } }[] }
    expect(got).toMatchObject({ messages })
    expect(JSON.stringify(got.tools[0]!.function.parameters)).toBe(schema)
    expect(({} as { type?: string }).type).toBeUndefined()
  })
})

describe('the record of a completion', () => {
  it('has all that is known', async () => {
    const { chat, records, keyId, logs } = await testGateway({ upstream: () => whole() })
    const headers = {
      'x-session-id': session,
      'x-conversation-id': session,
      'x-task-id': session,
      'x-project-id': session,
    }
    const response = await chat({ model: 'openai/gpt-4o' }, { headers })
    const tag = session.toLowerCase()
    expect(await records()).toEqual([
      {
        request_id: response.headers.get('x-request-id'),
        user_id: OWNER,
        key_id: keyId,
        session_id: tag,
        conversation_id: tag,
        task_id: tag,
        project_id: tag,
        task: 'chat',
        model: 'gpt-4o',
        provider: 'openai',
        attempts: 1,
        prompt_tokens: 9,
        completion_tokens: 3,
        tokens: 12,
        accuracy: 'reported',
        units: { input: 9, output: 3 },
        rates: { input: 2.5, output: 10, cache_read: 1.25 },
        catalogue: builtInPrices().table().version,
        // 9 × $2.50 and 3 × $10 for a million
        cost_nano_usd: 52_500,
        outcome: 'complete',
        in_session: false,
        latency_ms: expect.any(Number) as number,
        first_token_ms: null,
        timestamp: '2026-01-02T00:00:00.000Z',
      },
    ])
    expect(logs).toMatchObject([
      { route: '/v1/chat/completions', provider: 'openai', model: 'gpt-4o', stream: false, outcome: 'complete' },
    ])
    expect(JSON.stringify(logs)).not.toContain('Hi')
  })

  it.each(['not-a-uuid', 'x'.repeat(10_000), `${session}, ${session}`, ''])('has no tag of %.20s', async (value) => {
    const { chat, records } = await testGateway()
    await chat({}, { headers: { 'x-session-id': value, 'x-task-id': value } })
    expect(await records()).toMatchObject([{ session_id: '', task_id: '', conversation_id: '', project_id: '' }])
  })

  it('is estimated where the upstream reports no usage, and the client sees the estimate', async () => {
    const { chat, records } = await testGateway({ upstream: () => whole({ usage: undefined }) })
    const response = await chat({ messages: [{ role: 'user', content: 'x'.repeat(41) }], system: 'abc' })
    const usage = { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 }
    expect(await response.json()).toMatchObject({ usage })
    expect(await records()).toMatchObject([
      { prompt_tokens: 11, completion_tokens: 2, tokens: 13, accuracy: 'estimated' },
    ])
  })

  it('adds up', async () => {
    const { chat, gateway } = await testGateway({ upstream: () => whole() })
    await Promise.all([chat(), chat(), chat()])
    expect(await gateway.ledger.totals('user', OWNER)).toEqual({
      requests: 3,
      unpriced: 0,
      prompt_tokens: 27,
      completion_tokens: 9,
      tokens: 36,
      cost_nano_usd: 3 * 52_500,
    })
  })

  it('is stored before the answer leaves', async () => {
    let store = (): void => undefined
    const stored = new Promise<void>((resolve) => (store = resolve))
    const ledger = { ready: async () => undefined, append: () => stored } as unknown as UsageLedger
    const { chat } = await testGateway({ ledger })
    let answered = false
    const response = chat().then((value) => ((answered = true), value))
    await new Promise(setImmediate)
    expect(answered).toBe(false)
    store()
    expect((await response).status).toBe(200)
  })
})

describe('a ledger that cannot be written', () => {
  const unavailable = {
    type: 'server_error',
    code: 'ledger_unavailable',
    message: 'Usage cannot be recorded at the moment',
  }

  it('fails the request whose record is lost, and those after it before they cost', async () => {
    const kv = await memoryKV()
    let broken = false
    const breaking = {
      ...kv,
      commit: (change: Parameters<typeof kv.commit>[0]) =>
        broken ? Promise.reject(new StorageError('Disk full', 'none')) : kv.commit(change),
    }
    const { chat, upstream, send, errors } = await testGateway({ kv: breaking })
    broken = true
    const first = await chat()
    expect([first.status, await errorOf(first), upstream.requests.length]).toEqual([500, unavailable, 1])
    expect(first.headers.get('x-should-retry')).toBe('false')
    const second = await chat({ stream: true })
    expect(second.headers.get('x-should-retry')).toBeNull()
    expect([second.status, await errorOf(second), upstream.requests.length]).toEqual([500, unavailable, 1])
    expect(errors).toHaveLength(2)
    expect(await (await send('GET', '/health')).json()).toMatchObject({ status: 'unavailable' })
    broken = false
    expect((await chat()).status).toBe(200)
  })

  it('tells what a ledger of one’s own throws', async () => {
    const error = new ApiError(500, 'server_error', 'No', { code: 'ledger_unavailable' })
    const ledger = { ready: () => Promise.reject(error) } as unknown as UsageLedger
    const { chat, upstream } = await testGateway({ ledger })
    expect(await errorOf(await chat())).toEqual({ type: 'server_error', code: 'ledger_unavailable', message: 'No' })
    expect(upstream.requests).toEqual([])
  })
})

describe('an upstream that is silent', () => {
  it.each([false, true])('is given up after a while (stream: %s)', async (stream) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
    vi.advanceTimersByTime(1_000)
    const silence = (async function* () {
      await new Promise(() => undefined)
      yield ''
    })()
    const headers = { 'content-type': stream ? 'text/event-stream' : 'application/json' }
    const { chat, records, upstream } = await testGateway({
      upstream: () => ({ status: 200, headers, body: silence }),
      firstEventMs: 5_000,
    })
    const pending = chat({ stream })
    // The clock stands still until the upstream has the request.
    while (upstream.active === 0) await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(4_999)
    expect(upstream.active).toBe(1)
    await vi.advanceTimersByTimeAsync(101)
    const response = await pending
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
    expect(await errorOf(response)).toEqual({
      type: 'upstream_error',
      code: 'upstream_timeout',
      message: 'The upstream provider did not answer in time',
    })
    expect(upstream.active).toBe(0)
    expect(await records()).toEqual([])
    await vi.advanceTimersByTimeAsync(200)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is left when the client leaves', async () => {
    const silence = (async function* () {
      await new Promise(() => undefined)
      yield ''
    })()
    const { chat, upstream } = await testGateway({ upstream: () => ({ status: 200, headers: {}, body: silence }) })
    const client = new AbortController()
    const pending = chat({}, { signal: client.signal })
    await vi.waitFor(() => expect(upstream.active).toBe(1))
    client.abort()
    await pending
    expect(upstream.active).toBe(0)
  })
})

describe('a tier of service', () => {
  const body = (service_tier: string) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 5,
    model: 'gpt-4o-2024',
    service_tier,
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  })

  it.each([
    ['default', { cost_nano_usd: 52_500 }],
    ['priority', { cost_nano_usd: null, service_tier: 'priority', rates: {} }],
    ['flex', { cost_nano_usd: null, service_tier: 'flex', rates: {} }],
  ])('is charged at its own price, or at none: %s', async (tier, expected) => {
    const { chat, records, sent } = await testGateway({ upstream: () => answer(body(tier)) })
    await chat({ service_tier: tier })
    expect(sent()).toMatchObject({ service_tier: tier })
    expect(await records()).toMatchObject([expected])
  })

  it('is told in a stream as well', async () => {
    const { chat, records } = await testGateway({
      upstream: () => streamed(chunk('Hello', null, { service_tier: 'priority' }), chunk('', 'stop'), '[DONE]'),
    })
    await (await chat({ stream: true, service_tier: 'priority' })).text()
    expect(await records()).toMatchObject([{ cost_nano_usd: null, service_tier: 'priority' }])
  })
})
