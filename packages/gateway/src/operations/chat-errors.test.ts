import { describe, expect, it } from 'vitest'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { answer, errorOf, testGateway } from '../../../../test/support/gateway.js'

const user = { role: 'user', content: 'Hi' }
const path = '/v1/chat/completions'

describe('an invalid request', () => {
  const invalid = (message: string) => ({ type: 'invalid_request_error', code: 'invalid_body', message })

  it.each<[fields: object, message: string]>([
    [{ messages: [] }, 'messages must not be empty'],
    [{ messages: undefined }, 'messages is missing'],
    [{ model: undefined }, 'model is missing'],
    [{ model: '' }, 'model must not be empty'],
    [{ n: 0 }, 'n must be at least 1, not 0'],
    [{ n: 129 }, 'n must be at most 128, not 129'],
    [{ n: 1.5 }, 'n must be a whole number, not 1.5'],
    [{ temperature: 2.1 }, 'temperature must be at most 2, not 2.1'],
    [{ temperature: '1' }, 'temperature must be a number, not "1"'],
    [{ top_p: -1 }, 'top_p must be at least 0, not -1'],
    [{ top_p: '1' }, 'top_p must be a number, not "1"'],
    [{ max_tokens: 0 }, 'max_tokens must be at least 1, not 0'],
    [{ max_tokens: '1' }, 'max_tokens must be a number, not "1"'],
    [{ n: '1' }, 'n must be a number, not "1"'],
    [{ stop: 1 }, 'stop must be a string or an array of strings'],
    [{ messages: [user, { role: 'user' }] }, 'messages.1.content is missing'],
    [
      { tool_choice: 'any' },
      'tool_choice must be "auto", "none", "required" or {"type":"function","function":{"name":…}}',
    ],
  ])('%j is refused without an upstream call', async (fields, message) => {
    const { chat, upstream, records } = await testGateway()
    const response = await chat(fields)
    expect([response.status, await response.json()]).toEqual([400, { error: invalid(message) }])
    expect(response.headers.get('x-request-id')).not.toBeNull()
    expect(upstream.requests).toEqual([])
    expect(await records()).toEqual([])
  })

  it.each([
    ['{"model":', 'The request body is not valid JSON'],
    ['', 'The request body is empty; a JSON object is expected'],
    ['{} {}', 'The request body is not valid JSON'],
    ['['.repeat(100_000), 'The request body nests deeper than 128 levels'],
  ])('%.9j… is not JSON', async (body, message) => {
    const { send } = await testGateway()
    const response = await send('POST', path, body)
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toEqual({ type: 'invalid_request_error', code: 'invalid_json', message })
  })

  it.each(['[]', '"text"', '1', 'null', 'true'])('%s is not a valid request', async (body) => {
    const response = await (await testGateway()).send('POST', path, body)
    expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
  })

  it('is refused above the byte limit', async () => {
    const { chat } = await testGateway({ bodyLimit: 100 })
    const response = await chat({ user: 'x'.repeat(100) })
    expect([response.status, await errorOf(response)]).toEqual([
      413,
      {
        type: 'invalid_request_error',
        code: 'request_too_large',
        message: 'The request body is larger than 100 bytes',
      },
    ])
  })

  it('with an unknown model or provider is refused', async () => {
    const upstream = fakeOpenAI()
    const providers = ['openai', 'other'].map((id) => openai({ id, apiKey: 'any', transport: upstream.transport }))
    const { chat } = await testGateway({ router: createRouter({ providers }) })
    const model = await chat({ model: 'claude-unknown' })
    expect([model.status, await errorOf(model)]).toEqual([
      400,
      {
        type: 'invalid_request_error',
        code: 'model_not_found',
        message: 'No configured provider has the model "claude-unknown"',
      },
    ])
    const provider = await chat({ provider: 'anthropic' })
    expect([provider.status, await errorOf(provider)]).toEqual([
      400,
      invalid('Unknown provider; the configured ones are "openai", "other", "auto"'),
    ])
    expect(upstream.requests).toEqual([])
  })
})

describe('an upstream that fails', () => {
  const upstreamError = { type: 'upstream_error', code: 'upstream_error', message: 'The upstream provider failed' }
  const error = (message: string, code: string | null = null) => ({ error: { message, type: 'x', param: null, code } })
  const tooLong = (limit: string, told: string) => ({
    type: 'invalid_request_error',
    code: 'context_length_exceeded',
    message: `This model's maximum context length is ${limit}. Please reduce the length of the messages. The provider says: ${told}`,
  })
  const secret = 'key sk-abcdefghijkl of org-1234567890, see https://internal.example/x'

  it.each<[what: string, upstream: ReturnType<typeof answer>, status: number, body: object]>([
    [
      'the caller’s fault',
      answer(error('Too many images', 'too_many'), 400),
      400,
      { type: 'invalid_request_error', code: 'invalid_body', message: 'Too many images' },
    ],
    [
      'a prompt that is too long',
      answer(error('Too long', 'context_length_exceeded'), 400),
      400,
      tooLong('128000 tokens', 'Too long'),
    ],
    [
      'a prompt that is too long, by llama.cpp',
      answer({ error: { code: 400, message: 'No room', type: 'exceed_context_size_error', n_ctx: 8192 } }, 400),
      400,
      tooLong('128000 tokens', 'No room'),
    ],
    [
      'a prompt that is too long, with the limit in the text',
      answer(
        { object: 'error', message: 'The input (9 tokens) is longer than the model’s context length (8 tokens).' },
        400,
      ),
      400,
      tooLong('8 tokens', 'The input (9 tokens) is longer than the model’s context length (8 tokens).'),
    ],
    [
      'a prompt that is too long, with 500',
      answer({ error: 'the input length exceeds the context length' }, 500),
      400,
      tooLong('128000 tokens', 'the input length exceeds the context length'),
    ],
    [
      'a fault, as FastAPI tells it',
      answer({ detail: [{ loc: ['body', 'n'], msg: `Too many ${secret}`, type: 'x' }] }, 422),
      400,
      {
        type: 'invalid_request_error',
        code: 'invalid_body',
        message: 'n: Too many key [redacted] of [redacted], see [redacted]',
      },
    ],
    [
      'a page of a proxy',
      answer('<html><head><title>413 Request Entity Too Large</title></head></html>', 413),
      400,
      { type: 'invalid_request_error', code: 'invalid_body', message: '413 Request Entity Too Large' },
    ],
    [
      'an unsupported parameter',
      answer(error('Unsupported', 'unsupported_parameter'), 400),
      400,
      { type: 'invalid_request_error', code: 'unsupported_parameter', message: 'Unsupported' },
    ],
    [
      'a fault with secrets in its words',
      answer(error(`Wrong ${secret}`), 422),
      400,
      {
        type: 'invalid_request_error',
        code: 'invalid_body',
        message: 'Wrong key [redacted] of [redacted], see [redacted]',
      },
    ],
    [
      'an unknown model',
      answer(error('No such model', 'model_not_found'), 404),
      400,
      { type: 'invalid_request_error', code: 'model_not_found', message: 'No such model' },
    ],
    ['a 404 of something else', answer('<html>', 404), 502, upstreamError],
    ['a 404 of FastAPI', answer({ detail: 'Not Found' }, 404), 502, upstreamError],
    ['a wrong credential', answer(error(secret, 'invalid_api_key'), 401), 502, upstreamError],
    ['no credit', answer(error(secret), 402), 502, upstreamError],
    ['no permission', answer(error(secret), 403), 502, upstreamError],
    ['a time-out', answer(error(secret), 408), 502, upstreamError],
    ['a 500', answer(error(secret), 500), 502, upstreamError],
    ['an HTML page', answer(`<html>${secret}</html>`, 502), 502, upstreamError],
    ['a 503', answer(error(secret), 503), 502, upstreamError],
    ['an overload', answer(error(secret), 529), 502, upstreamError],
    ['a redirect', answer('', 301, { location: 'https://internal.example' }), 502, upstreamError],
  ])('with %s is reported without secrets', async (_, upstream, status, body) => {
    for (const stream of [false, true]) {
      const { chat, records, errors } = await testGateway({ upstream: () => upstream })
      const response = await chat({ stream })
      expect([response.status, await response.json()]).toEqual([status, { error: body }])
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(response.headers.get('x-request-id')).not.toBeNull()
      expect(response.headers.get('x-should-retry')).toBeNull()
      expect(JSON.stringify([...response.headers])).not.toMatch(/internal|sk-|org-/)
      expect(await records()).toEqual([])
      expect(errors).toHaveLength(status >= 500 ? 1 : 0)
    }
  })

  it('with a prompt over an unknown limit is known by litellm, LangChain and coding agents', async () => {
    const upstream = answer({ message: 'Input is too long for requested model.' }, 400)
    const { chat } = await testGateway({ upstream: () => upstream })
    const { code, message } = (await errorOf(await chat({ model: 'openai/local' }))) as Record<string, string>
    expect(code).toBe('context_length_exceeded')
    expect(message).toMatch(/^This model's maximum context length is exceeded\./)
    expect(message).toContain('reduce the length of the messages')
    expect(message).toContain('Input is too long for requested model.')
  })

  it.each<[headers: Record<string, string>, seconds: string]>([
    [{ 'retry-after': '7' }, '7'],
    [{ 'retry-after-ms': '1500' }, '2'],
    [{ 'retry-after': '0' }, '1'],
    [{}, '1'],
  ])('with a rate limit and %j returns Retry-After', async (headers, seconds) => {
    const { chat } = await testGateway({ upstream: () => answer(error(secret), 429, headers) })
    const response = await chat()
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, seconds])
    expect(await errorOf(response)).toEqual({
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'The upstream provider is rate limiting; try again later',
    })
  })

  it.each([['<html>'], [{}], [{ choices: [] }], ['null'], ['']])(
    'with the malformed answer %j must not be retried',
    async (body) => {
      const { chat } = await testGateway({ upstream: () => answer(body) })
      const response = await chat()
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
      expect(await errorOf(response)).toEqual({
        type: 'upstream_error',
        code: 'upstream_error',
        message: 'The upstream provider sent an answer that makes no sense',
      })
    },
  )

  it.each([
    ['ECONNREFUSED', null],
    ['ECONNRESET', 'false'],
  ])('with %s is unavailable', async (code, retry) => {
    const transport = () => Promise.reject(Object.assign(new Error(secret), { code }))
    const router = createRouter({ providers: [openai({ apiKey: 'x', transport })] })
    for (const stream of [false, true]) {
      const response = await (await testGateway({ router })).chat({ stream })
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, retry])
      expect(await errorOf(response)).toEqual({
        type: 'upstream_error',
        code: 'upstream_unavailable',
        message: 'The upstream provider could not be reached',
      })
    }
  })

  it('because of an internal error is reported without details', async () => {
    const router = createRouter({ providers: [openai({ apiKey: 'any' })] })
    const broken = { ...router, candidates: () => Promise.reject(new Error(secret)) }
    const { chat, errors } = await testGateway({ router: broken })
    const response = await chat()
    expect([response.status, await errorOf(response)]).toEqual([
      500,
      { type: 'server_error', code: 'internal_error', message: 'The server had an internal error' },
    ])
    expect(errors).toHaveLength(1)
  })
})
