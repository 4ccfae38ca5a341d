import { anthropic, createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, chunk, errorOf, streamed, testGateway } from '../support/gateway.js'

/** As OpenAI and Azure refuse. */
const tooLong = answer(
  {
    error: {
      message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  },
  400,
)
const filtered = answer(
  {
    error: {
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      code: 'content_filter',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  },
  400,
)

async function setUp(first: () => FakeAnswer | undefined) {
  const upstreams = { openai: fakeOpenAI({ override: first }), google: fakeGoogle(), anthropic: fakeAnthropic() }
  const router = createRouter({
    providers: [
      openai({ apiKey: 'x', transport: upstreams.openai.transport }),
      google({ apiKey: 'x', transport: upstreams.google.transport, endpoints: googleEndpoints() }),
      anthropic({ apiKey: 'x', transport: upstreams.anthropic.transport }),
    ],
    groups: {
      smart: {
        models: ['gpt-4o', 'gpt-4o-mini'],
        contextFallback: 'gemini-2.5-pro',
        contentFallback: 'claude-haiku-4-5',
      },
    },
  })
  const gateway = await testGateway({ router })
  const asked = () => Object.entries(upstreams).flatMap(([id, { requests }]) => requests.map(() => id))
  return { ...gateway, asked }
}

describe.each([false, true])('the fallback of a group, streamed: %s', (stream) => {
  const ask = async ({ chat }: Awaited<ReturnType<typeof setUp>>) => {
    const response = await chat({ model: 'smart', stream }, { headers: { 'x-gateway-explain': 'true' } })
    const text = await response.clone().text()
    const header = (name: string) => response.headers.get(`x-gateway-${name}`)
    return { response, text, told: ['fallback', 'provider', 'attempts'].map(header) }
  }

  it.each([
    ['a prompt that is too long', tooLong, 'length', 'google'],
    ['a content that a filter refused', filtered, 'content', 'anthropic'],
  ] as const)('answers after %s, is told, and is one record', async (_, refusal, reason, provider) => {
    const gateway = await setUp(() => refusal)
    const { response, text, told } = await ask(gateway)
    expect([response.status, told], text).toEqual([200, [reason, provider, '2']])
    if (stream) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(gateway.asked()).toEqual(['openai', provider])
    expect(await gateway.records()).toMatchObject([{ provider, attempts: 2, outcome: 'complete' }])
  })

  it('is neither called nor told where a member answers', async () => {
    const gateway = await setUp(() => undefined)
    const { response, told } = await ask(gateway)
    expect([response.status, told]).toEqual([200, [null, 'openai', '1']])
    expect(gateway.asked()).toEqual(['openai'])
  })
})

it('does not call a fallback after the start of a stream', async () => {
  const refusal = (JSON.parse(filtered.body as string) as { error: object }).error
  const gateway = await setUp(() => streamed(chunk('Hel'), { error: refusal }))
  const text = await (await gateway.chat({ model: 'smart', stream: true })).text()
  expect(text).toContain('"Hel"')
  expect(text).not.toContain('[DONE]')
  expect(gateway.asked()).toEqual(['openai'])
})

it('returns the refusal of a request for one model as it is', async () => {
  const gateway = await setUp(() => filtered)
  const response = await gateway.chat({ model: 'gpt-4o' })
  expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
  expect(gateway.asked()).toEqual(['openai'])
})

/** Answers of which a filter left nothing, whole and as events, with the tokens that they report. */
const withheld: Record<string, [whole: object, events: object[]]> = {
  'a prompt that Gemini blocks': (() => {
    const blocked = { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, usageMetadata: { promptTokenCount: 7 } }
    return [blocked, [blocked]]
  })(),
  'an answer that Gemini withholds': (() => {
    const usageMetadata = { promptTokenCount: 7, totalTokenCount: 7 }
    const candidates = [{ index: 0, finishReason: 'SAFETY' }]
    return [
      { candidates, usageMetadata },
      [{ candidates: [{ index: 0, content: { parts: [{ text: '' }] } }] }, { candidates, usageMetadata }],
    ]
  })(),
  'an answer that Azure withholds': (() => {
    const head = { id: 'x', created: 1, model: 'gpt-4o' }
    const usage = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }
    const choice = { index: 0, finish_reason: 'content_filter', content_filter_results: { hate: { filtered: true } } }
    return [
      { ...head, choices: [{ ...choice, message: { role: 'assistant', content: '' } }], usage },
      [
        { ...head, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
        { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
        { ...head, choices: [{ ...choice, delta: {} }] },
        { ...head, choices: [], usage },
      ],
    ]
  })(),
  'an answer that Claude declines': (() => {
    const usage = { input_tokens: 7, output_tokens: 0 }
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'claude-haiku-4-5', content: [], usage }
    return [
      { ...message, stop_reason: 'refusal' },
      [
        { type: 'message_start', message },
        { type: 'message_delta', delta: { stop_reason: 'refusal' }, usage },
        { type: 'message_stop' },
      ],
    ]
  })(),
}
const models = { Gemini: 'gemini-2.5-flash', Azure: 'gpt-4o', Claude: 'claude-haiku-4-5' }

/** A group of a model with this answer, and a fallback of another family, or of its own. */
async function withFilter(model: string, given: FakeAnswer, fallback: string | undefined, ofFallback?: FakeAnswer) {
  const override = (own: string) => () => (own === fallback ? ofFallback : given)
  const options = { apiKey: 'x' }
  const router = createRouter({
    providers: [
      openai({ ...options, transport: fakeOpenAI({ override: override('gpt-4o') }).transport }),
      google({ ...options, transport: fakeGoogle({ override: override('gemini-2.5-flash') }).transport }),
      anthropic({ ...options, transport: fakeAnthropic({ override: override('claude-haiku-4-5') }).transport }),
    ],
    groups: { g: { models: [model, 'gpt-4o-mini'], ...(fallback && { contentFallback: fallback }) } },
  })
  return testGateway({ router })
}
const explained = { headers: { 'x-gateway-explain': 'true' } }

describe.each([false, true])('an answer that a filter withholds, streamed: %s', (stream) => {
  const cases = Object.entries(withheld).map(([name, [whole, all]]): [string, string, () => FakeAnswer, string] => {
    const model = Object.entries(models).find(([vendor]) => name.includes(vendor))![1]
    const fallback = model === 'gpt-4o' ? 'claude-haiku-4-5' : 'gpt-4o'
    return [name, model, () => (stream ? streamed(...all) : answer(whole)), fallback]
  })

  it.each(cases)('of %s is charged, and the fallback answers', async (_, model, given, fallback) => {
    const { chat, records } = await withFilter(model, given(), fallback)
    const response = await chat(
      { model: 'g', stream, stream_options: stream ? { include_usage: true } : undefined },
      explained,
    )
    const text = await response.text()
    expect(
      [response.status, response.headers.get('x-gateway-fallback'), response.headers.get('x-gateway-attempts')],
      text,
    ).toEqual([200, 'content', '2'])
    expect(text).toContain('simulated')
    expect(text).not.toContain('content_filter')
    const [own, first] = await records()
    expect([first, own]).toMatchObject([
      { model, outcome: 'refused', prompt_tokens: 7, accuracy: 'reported', attempts: 1 },
      { model: fallback, outcome: 'complete', attempts: 2 },
    ])
    expect(first!.request_id).toBe(own!.request_id)
    // The caller is told the cost of both.
    const told = stream ? /"cost":([\d.e-]+)/.exec(text)![1] : response.headers.get('x-gateway-cost')
    expect(Number(told) * 1e9).toBeCloseTo(first!.cost_nano_usd! + own!.cost_nano_usd!, 0)
    expect(first!.cost_nano_usd).toBeGreaterThan(0)
  })

  it('is taken off the budgets, whether the fallback answers or not', async () => {
    const [, model, given, fallback] = cases[0]!
    for (const ofFallback of [undefined, answer({ error: { message: 'content_filter' } }, 400)]) {
      const { chat, records, gateway, keyId } = await withFilter(model, given(), fallback, ofFallback)
      const { used } = gateway.ledger
      const budget = { usd: 0.01 }
      await gateway.keys.update(keyId, { budget })
      for (let i = 0; i < 3; i++) await (await chat({ model: 'g', stream, max_tokens: 10 })).text()
      const spent = (await records()).reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd!, 0)
      expect(spent).toBeGreaterThan(0)
      expect(await used({ of: 'key', id: keyId, budget })).toEqual({ spent, held: 0 })
    }
  })

  it.each(cases)('of %s is the answer where there is no fallback', async (_, model, given) => {
    const { chat, records } = await withFilter(model, given(), undefined)
    const response = await chat({ model: 'g', stream }, explained)
    expect(await response.text()).toContain('content_filter')
    expect(response.status).toBe(200)
    expect(await records()).toMatchObject([{ model, outcome: 'complete' }])
  })

  it.each([
    ['is busy', 429, 'Slow down', { code: 'rate_limit_exceeded' }],
    ['refuses it too', 400, 'content_filter', { code: 'invalid_body' }],
  ])('is charged once where the fallback %s', async (_, status, message, error) => {
    const [, model, given, fallback] = cases[0]!
    const { chat, records } = await withFilter(model, given(), fallback, answer({ error: { message } }, status))
    const response = await chat({ model: 'g', stream })
    expect([response.status, await errorOf(response)]).toMatchObject([status, error])
    expect(await records()).toMatchObject([{ model, outcome: 'refused' }])
  })

  it('is the answer where the fallback withholds its own', async () => {
    const [, , given] = cases[3]!
    const { chat, records } = await withFilter('gpt-4o', filtered, 'claude-haiku-4-5', given())
    const response = await chat({ model: 'g', stream })
    expect([response.status, await response.text()]).toMatchObject([200, expect.stringContaining('content_filter')])
    expect(await records()).toHaveLength(1)
  })
})

it('a stream that says something before the filter ends is the answer, whole and once', async () => {
  const said = { candidates: [{ index: 0, content: { parts: [{ text: 'Hel' }] } }] }
  const end = { candidates: [{ index: 0, finishReason: 'SAFETY' }], usageMetadata: { promptTokenCount: 7 } }
  const { chat, records } = await withFilter('gemini-2.5-flash', streamed(said, end), 'gpt-4o')
  const text = await (await chat({ model: 'g', stream: true })).text()
  expect(text.match(/Hel/g)).toHaveLength(1)
  expect(text).toContain('content_filter')
  expect(text).toContain('[DONE]')
  expect(await records()).toMatchObject([{ provider: 'google', outcome: 'complete' }])
})

describe.each([
  ['of refusals', { refusal: 'x'.repeat(1_000) }, {}],
  ['with a field beside nothing', { content: '' }, { note: 'x'.repeat(1_000) }],
])('a long stream %s', (_, delta, beside) => {
  it('threat 226: is passed on, and not kept', async () => {
    const { chat, upstream } = await (async () => {
      let sent = 0
      const choice = { index: 0, delta: { role: 'assistant', ...delta }, ...beside, finish_reason: null }
      const pieces = async function* () {
        for (; sent < 1_000; sent++)
          yield `data: ${JSON.stringify({ id: 'x', model: 'gpt-4o', choices: [choice] })}\n\n`
        await new Promise(() => undefined)
      }
      const given = { status: 200, headers: { 'content-type': 'text/event-stream' }, body: pieces() }
      return { ...(await withFilter('gpt-4o', given, 'claude-haiku-4-5')), upstream: () => sent }
    })()
    const response = await chat({ model: 'g', stream: true })
    expect(response.status).toBe(200)
    expect(upstream()).toBeLessThan(200)
    await response.body!.cancel()
  })
})

it('a stream that breaks before it says anything is its own error', async () => {
  const begun = { id: 'x', model: 'gpt-4o', choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }
  const { chat, records } = await withFilter('gpt-4o', streamed(begun), 'claude-haiku-4-5')
  const text = await (await chat({ model: 'g', stream: true })).text()
  expect(text).toContain('upstream_truncated')
  expect(await records()).toMatchObject([{ provider: 'openai', outcome: 'truncated' }])
})
