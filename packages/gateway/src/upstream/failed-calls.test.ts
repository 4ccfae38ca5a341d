import type { RouterOptions } from '@turnpike/providers'
import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, testGateway } from '../../../../test/support/gateway.js'
import { requestEvents } from '../records/request-events.js'

const refusal = (status: number) => answer({ error: { message: 'SECRET' } }, status)

/** A gateway whose group `any` has a provider for each of these answers; undefined = it answers well, null = it cannot be reached. */
async function setUp(answers: Record<string, FakeAnswer | null | undefined>, options: Partial<RouterOptions> = {}) {
  const providers = Object.entries(answers).map(([id, given]) => {
    const { transport } = fakeOpenAI({ override: () => given ?? undefined })
    const broken = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    return openai({ id, apiKey: 'sk-upstream-secret', transport: given === null ? broken : transport })
  })
  const groups = { any: Object.keys(answers).map((id) => `${id}/gpt-4o`) }
  const router = createRouter({ ...options, providers, groups })
  const events = requestEvents()
  const at = await testGateway({ router, events })
  return {
    ...at,
    /** Sends a request. @returns its status, and what its event and its log record say of failed calls */
    async failedCalls(fields: object = { model: 'any' }) {
      const response = await at.chat(fields)
      await response.text()
      const [event, log] = [events.recent().at(-1)!, at.logs.at(-1)!]
      expect(event.failed_calls).toBe(log['failed_calls'])
      return [response.status, event.failed_calls]
    },
  }
}

describe('failed_calls', () => {
  it('names the calls that failed before another provider answered', async () => {
    const { failedCalls } = await setUp({ a: refusal(429), b: null, c: refusal(503), d: undefined })
    const failed = 'a/gpt-4o: rate_limited 429, b/gpt-4o: unavailable, c/gpt-4o: status 503'
    expect(await failedCalls()).toEqual([200, failed])
    expect(await failedCalls({ model: 'any', stream: true })).toMatchObject([200, expect.stringContaining('c/gpt-4o')])
  })

  it('names the only call, where it fails', async () => {
    const { failedCalls } = await setUp({ a: refusal(401), b: refusal(400) })
    expect(await failedCalls({ model: 'a/gpt-4o' })).toEqual([502, 'a/gpt-4o: credential 401'])
    expect(await failedCalls({ model: 'b/gpt-4o' })).toEqual([400, 'b/gpt-4o: refused 400'])
    expect(await failedCalls({ model: 'b/x, y: z' })).toEqual([400, 'b/x__y:_z: refused 400'])
  })

  it('names an account that cannot pay a credential, after which another provider is tried', async () => {
    const unpaid = answer({ error: { message: 'SECRET', code: 'insufficient_quota' } }, 429)
    const { failedCalls } = await setUp({ a: unpaid, b: undefined })
    expect(await failedCalls()).toEqual([200, 'a/gpt-4o: credential 429'])
    expect(await failedCalls({ model: 'a/gpt-4o' })).toEqual([429, 'a/gpt-4o: credential 429'])
  })

  it('is absent where no call failed', async () => {
    const { failedCalls, logs } = await setUp({ a: undefined, b: undefined })
    expect(await failedCalls()).toEqual([200, undefined])
    expect(await failedCalls({ model: 'none' })).toEqual([400, undefined])
    for (const log of logs) expect(log).not.toHaveProperty('failed_calls')
  })
})

describe('after a refusal', () => {
  const says = (body: object, status = 400) => answer(body, status)

  it.each<[what: string, refused: FakeAnswer, by: string]>([
    [
      'a model',
      says({ error: { message: 'The model `gpt-4o` does not exist', code: 'model_not_found' } }, 404),
      'openai',
    ],
    ['a model', says({ error: "model 'gpt-4o' not found" }, 404), 'Ollama'],
    ['a model', says({ error: { message: 'Model Not Exist', type: 'invalid_request_error' } }), 'DeepSeek'],
    [
      'a model',
      says({ object: 'error', message: 'Invalid model: gpt-4o', type: 'invalid_model', code: '1500' }),
      'Mistral',
    ],
    ['a model', says({ error: { message: 'gpt-4o is not a valid model ID', code: 400 } }), 'OpenRouter'],
    [
      'a model',
      says({ error: { code: 'DeploymentNotFound', message: 'The API deployment does not exist.' } }, 404),
      'Azure',
    ],
    ['a model', says({ error: { code: '1211', message: '模型不存在，请检查模型代码。' } }), 'GLM'],
    [
      'a length',
      says({
        error: {
          type: 'exceed_context_size_error',
          message: 'request (9 tokens) exceeds the available context size (8 tokens)',
        },
      }),
      'llama.cpp',
    ],
    ['a length', answer('<title>413 Request Entity Too Large</title>', 413), 'nginx'],
    [
      'a parameter',
      says({
        error: {
          message: "Unsupported parameter: 'x' is not supported with this model.",
          param: 'x',
          code: 'unsupported_parameter',
        },
      }),
      'OpenAI',
    ],
    [
      'a parameter',
      says({ error: { message: 'Unrecognized request argument supplied: x', param: null, code: null } }),
      'OpenAI before',
    ],
    [
      'a parameter',
      says({ detail: [{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'Extra inputs are not permitted' }] }, 422),
      'Mistral',
    ],
    [
      'a parameter',
      says({ error: { message: "property 'x' is unsupported, did you mean 'y'?", type: 'invalid_request_error' } }),
      'Groq',
    ],
    ['a parameter', answer('Failed to deserialize the JSON body: unknown field `x`', 422), 'TGI'],
  ])('of %s the next one answers: %o of %s', async (_, refused) => {
    const { chat, failedCalls, records } = await setUp({ a: refused, b: undefined })
    expect(await failedCalls()).toEqual([200, expect.stringMatching(/^a\/gpt-4o: refused 4\d\d$/)])
    const streamed = await chat({ model: 'any', stream: true })
    expect(await streamed.text()).toContain('[DONE]')
    expect(await records()).toMatchObject([
      { provider: 'b', attempts: 2 },
      { provider: 'b', attempts: 2 },
    ])
  })

  it.each<[what: string, given: FakeAnswer]>([
    [
      'a content filter',
      says({ error: { message: 'The response was filtered', param: 'prompt', code: 'content_filter' } }),
    ],
    [
      'a content filter of another form',
      says({ error: { message: 'Your request was rejected as a result of our safety system' } }),
    ],
    [
      'a filter that says unsupported',
      says({ error: { code: 'content_policy_violation', message: 'Unsupported value: x is not supported' } }),
    ],
    [
      'a fault in the messages',
      says({ error: { message: "Invalid value: 'x'.", param: 'messages[0].role', code: 'invalid_value' } }),
    ],
    [
      'an unknown field of a message',
      says(
        {
          detail: [
            { type: 'extra_forbidden', loc: ['body', 'messages', 0, 'x'], msg: 'Extra inputs are not permitted' },
          ],
        },
        422,
      ),
    ],
    ['any other 400', says({ error: { message: 'n is too large' } })],
    ['a 500', says({ error: { message: 'Oh' } }, 500)],
  ])('by %s nobody else is asked', async (_, given) => {
    const { chat } = await setUp({ a: given, b: undefined })
    const { status, headers } = await chat({ model: 'any' }, { headers: { 'x-gateway-explain': 'true' } })
    expect([status >= 400, headers.get('x-gateway-provider')]).toEqual([true, null])
  })

  it('of all, the first one is told, or a failure that passes', async () => {
    const lost = says({ error: 'model not found' }, 404)
    const all = await setUp({
      a: lost,
      b: says({ error: { message: 'prompt is too long' } }),
      c: says({ error: {} }, 401),
    })
    const response = await all.chat({ model: 'any' })
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', message: 'model not found' } })
    const { failedCalls } = await setUp({ a: lost, b: refusal(429) })
    expect(await failedCalls()).toEqual([429, 'a/gpt-4o: refused 404, b/gpt-4o: rate_limited 429'])
  })
})

describe('the option failoverStatuses', () => {
  it.each([500, 502, 504, 520])('moves on after %i where it is set', async (status) => {
    const { failedCalls } = await setUp(
      { a: refusal(status), b: undefined },
      { failoverStatuses: [500, 502, 504, 520] },
    )
    expect(await failedCalls()).toEqual([200, `a/gpt-4o: status ${status}`])
    const off = await setUp({ a: refusal(status), b: undefined })
    expect(await off.failedCalls()).toEqual([502, `a/gpt-4o: status ${status}`])
  })
})
