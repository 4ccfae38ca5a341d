import type { Model } from '@turnpike/core'
import { memoryKV, ModelList } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { anthropic, createRouter } from '@turnpike/providers'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { answer, errorOf, OWNER, testGateway } from '../../../test/support/gateway.js'

const open = { headers: { authorization: '' } }

interface Info {
  endpoints: Record<string, string>
}

describe('GET /', () => {
  it('returns name and version without a key', async () => {
    const { send } = await testGateway()
    const response = await send('GET', '/', undefined, open)
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        name: 'turnpike',
        version: '1.0.0',
        description:
          'An OpenAI-compatible AI gateway in front of OpenAI-style, Claude-style and Gemini-style providers',
        endpoints: {
          'chat.completions': 'POST /v1/chat/completions',
          embeddings: 'POST /v1/embeddings',
          'images.generations': 'POST /v1/images/generations',
          'audio.speech': 'POST /v1/audio/speech',
          'audio.transcriptions': 'POST /v1/audio/transcriptions',
          'models.list': 'GET /v1/models',
          'models.get': 'GET /v1/models/{model}',
          'users.list': 'GET /v1/users',
          'users.create': 'POST /v1/users',
          'users.get': 'GET /v1/users/{id}',
          'users.delete': 'DELETE /v1/users/{id}',
          'users.usage': 'GET /v1/users/{id}/usage',
          'health.providers': 'GET /health/providers',
          health: 'GET /health',
          'admin.metrics': 'GET /admin/metrics',
          'admin.providers': 'GET /admin/providers',
          'admin.pricing': 'GET /admin/pricing',
          'admin.users.summary': 'GET /admin/users/summary',
          'admin.balancer': 'GET /admin/balancer',
          info: 'GET /',
        },
      },
    ])
  })

  it('lists exactly the existing endpoints', async () => {
    const { send, gateway } = await testGateway()
    const { endpoints } = (await (await send('GET', '/')).json()) as Info
    for (const [id, endpoint] of Object.entries(endpoints)) {
      const [method, path] = endpoint.split(' ') as [string, string]
      const at = path.replace('{model}', 'gpt-4o').replace('{id}', OWNER)
      const response = await send(method, at, method === 'POST' ? {} : undefined)
      // The key of the test is no administrator's.
      const { access } = gateway.routes.find(({ operation }) => operation.id === id)!.operation
      expect(response.status, id).toBe(access === 'admin' || access === 'monitor' ? 403 : method === 'POST' ? 400 : 200)
    }
  })
})

describe('the models', () => {
  it('are listed', async () => {
    const { send } = await testGateway()
    const { object, data } = v.parse(v.strictObject(ModelList.entries), await (await send('GET', '/v1/models')).json())
    expect(object).toBe('list')
    expect(data.find(({ id }) => id === 'gpt-4o')).toMatchObject({
      object: 'model',
      provider: 'openai',
      owned_by: 'openai',
      capabilities: ['chat', 'tools', 'vision', 'json_schema'],
    })
  })

  it.each([
    ['?provider=openai', true],
    ['?provider=unknown', false],
    ['?other=x', true],
  ])('are filtered by %s', async (query, some) => {
    const { send } = await testGateway()
    const response = await send('GET', `/v1/models${query}`)
    const { data } = (await response.json()) as { data: Model[] }
    expect([response.status, data.length > 0]).toEqual([200, some])
  })

  it.each(['gpt-4o', 'openai/gpt-4o', 'openai%2Fgpt-4o'])('include %s', async (id) => {
    const response = await (await testGateway()).send('GET', `/v1/models/${id}`)
    expect([response.status, await response.json()]).toMatchObject([200, { id: 'gpt-4o', object: 'model' }])
  })

  it('have fidelity only for a single model', async () => {
    const { send } = await testGateway({
      router: createRouter({ providers: [anthropic({ apiKey: 'none' })] }),
    })
    const { data } = (await (await send('GET', '/v1/models')).json()) as { data: Model[] }
    expect(data.filter((model) => 'fidelity' in model)).toEqual([])
    const model = (await (await send('GET', '/v1/models/claude-sonnet-4-5')).json()) as Model
    expect(model.fidelity).toMatchObject({
      'temperature above 1': 'clamped',
      seed: 'dropped',
      'response_format json_object': 'emulated',
      'audio (input_audio)': 'refused',
      stop: 'kept',
    })
  })

  it.each(['gpt-99', 'anthropic/gpt-4o', 'gpt-4o/', '%', '__proto__'])('do not include %s', async (id) => {
    const response = await (await testGateway()).send('GET', `/v1/models/${id}`)
    expect([response.status, await errorOf(response)]).toEqual([
      404,
      { type: 'not_found_error', code: 'not_found', message: 'There is no model with this id' },
    ])
  })

  it('require a key', async () => {
    const { send } = await testGateway()
    for (const path of ['/v1/models', '/v1/models/gpt-4o', '/v1/models/gpt-99'])
      expect((await send('GET', path, undefined, open)).status).toBe(401)
  })
})

describe('GET /health', () => {
  it.each([false, true])('is ok, without a key (simulated: %s)', async (simulated) => {
    const { send } = await testGateway({ simulated })
    const response = await send('GET', '/health', undefined, open)
    expect([response.status, await response.json()]).toEqual([200, { status: 'ok', version: '1.0.0', simulated }])
  })

  it('is 503 while the gateway drains, and other requests still pass', async () => {
    const { send, gateway } = await testGateway()
    await gateway.drain()
    const response = await send('GET', '/health')
    expect([response.status, await response.json()]).toEqual([
      503,
      { status: 'draining', version: '1.0.0', simulated: false },
    ])
    expect((await send('GET', '/v1/models')).status).toBe(200)
  })

  it('is 503 where the store is unhealthy or its check fails', async () => {
    const kv = await memoryKV()
    const ill = [async () => ({ ok: false, reason: 'secret' }), () => Promise.reject(new Error('secret'))]
    for (const health of ill) {
      const response = await (await testGateway({ kv: { ...kv, health } })).send('GET', '/health')
      expect([response.status, await response.json()]).toEqual([
        503,
        { status: 'unavailable', version: '1.0.0', simulated: false },
      ])
    }
  })
})

describe('every answer', () => {
  it('has a request id of its own', async () => {
    const { send, chat } = await testGateway({
      bodyLimit: 1_000,
      upstream: (request) => (JSON.stringify(request.body).includes('fail') ? answer('', 500) : undefined),
    })
    const responses = [
      await chat(),
      await chat({ stream: true }),
      await chat({ user: 'fail' }),
      await chat({ n: 0 }),
      await chat({ user: 'x'.repeat(1_000) }),
      await send('GET', '/v1/models', undefined, open),
      await send('GET', '/v1/models', undefined, { headers: { 'x-request-id': 'mine' } }),
      await send('GET', '/v1/models/unknown'),
      await send('GET', '/'),
      await send('GET', '/health'),
      await send('GET', '/nothing'),
      await send('POST', '/v1/responses', {}),
      await send('POST', '/v1/assistants', {}),
      await send('OPTIONS', '/v1/chat/completions'),
      await send('GET', '/v1/chat/completions'),
      await send('HEAD', '/health'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([
      200, 200, 502, 400, 413, 401, 200, 404, 200, 200, 404, 404, 404, 204, 405, 200,
    ])
    const ids = responses.map(({ headers }) => headers.get('x-request-id')!)
    expect(ids.every(isUuid)).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('to malformed HTTP comes from refuse, in the same error form', async () => {
    const { gateway } = await testGateway()
    const { ApiError } = await import('@turnpike/core')
    const reply = gateway.refuse(new ApiError(400, 'invalid_request_error', 'Bad', { code: 'invalid_body' }))
    expect([reply.status, reply.body]).toEqual([
      400,
      '{"error":{"type":"invalid_request_error","message":"Bad","code":"invalid_body"}}',
    ])
    expect(isUuid(String(reply.headers['x-request-id']))).toBe(true)
  })

  it('is the same through HatTip as through fetch', async () => {
    const { gateway } = await testGateway()
    const context = {
      request: new Request('https://gw.example/health'),
      ip: '1.1.1.1',
      platform: {},
      passThrough: () => undefined,
    }
    const response = await gateway.hattip(context as never)
    expect(await response.json()).toMatchObject({ status: 'ok' })
  })
})
