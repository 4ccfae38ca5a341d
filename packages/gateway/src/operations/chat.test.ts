import { ChatCompletion } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import * as v from 'valibot'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { watchTimers } from '../../../../test/support/timers.js'
import { completion, errorOf, testGateway } from '../../../../test/support/gateway.js'

afterEach(() => vi.useRealTimers())

describe('a chat completion', () => {
  it('has the content and usage of the upstream', async () => {
    const { chat } = await testGateway({ upstream: () => completion() })
    const response = await chat()
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(isUuid(response.headers.get('x-request-id')!)).toBe(true)
    expect(await response.json()).toEqual(JSON.parse(completion().body as string))
  })

  it('from the fake upstream is valid, with n choices and a tool call', async () => {
    const { chat } = await testGateway()
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: { a: {} } } } }]
    const body = v.parse(ChatCompletion, await (await chat({ n: 2, tools, tool_choice: 'required' })).json())
    expect(body.choices.map(({ finish_reason }) => finish_reason)).toEqual(['tool_calls', 'tool_calls'])
    expect(body.choices[0]!.message.content).toBeNull()
  })

  it('is sent with the credential of the gateway, without its own fields and nulls', async () => {
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
    expect(Object.keys(request!.headers).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'content-type',
      'user-agent',
    ])
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

  it('accepts null for absent within messages and tools', async () => {
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

  it('passes on prototype keys, surrogates and big numbers unchanged', async () => {
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

describe('an upstream that does not answer', () => {
  it.each([false, true])('is aborted after the time-out (stream: %s)', async (stream) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
    const expectNoTimers = watchTimers()
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
    await expectNoTimers()
  })

  it('is aborted when the client disconnects', async () => {
    const silence = (async function* () {
      await new Promise(() => undefined)
      yield ''
    })()
    const { chat, upstream } = await testGateway({ upstream: () => ({ status: 200, headers: {}, body: silence }) })
    const client = new AbortController()
    const pending = chat({}, { signal: client.signal })
    await expect.poll(() => upstream.active).toBe(1)
    client.abort()
    await pending
    expect(upstream.active).toBe(0)
  })
})
