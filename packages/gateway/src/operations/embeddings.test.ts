import { builtInPrices } from '@turnpike/providers'
import { describe, expect, it, vi } from 'vitest'
import { familiesGateway } from '../../../../test/support/families.js'
import { answer, OWNER, testGateway } from '../../../../test/support/gateway.js'

const path = '/v1/embeddings'
const request = { model: 'text-embedding-3-small', input: 'Hi' }
const told = (usage?: object, vectors = 1) =>
  answer({
    object: 'list',
    data: Array.from({ length: vectors }, (_, index) => ({ object: 'embedding', index, embedding: [1] })),
    model: 'text-embedding-3-small',
    usage,
  })

describe('the record of an embedding', () => {
  it('has all fields', async () => {
    const { send, records, keyId } = await testGateway({ upstream: () => told({ prompt_tokens: 7, total_tokens: 7 }) })
    const response = await send('POST', path, request)
    expect(await response.json()).toMatchObject({ usage: { prompt_tokens: 7, total_tokens: 7 } })
    expect(await records()).toEqual([
      {
        request_id: response.headers.get('x-request-id'),
        user_id: OWNER,
        key_id: keyId,
        session_id: '',
        conversation_id: '',
        task_id: '',
        project_id: '',
        task: 'embeddings',
        model: 'text-embedding-3-small',
        provider: 'openai',
        attempts: 1,
        prompt_tokens: 7,
        completion_tokens: 0,
        tokens: 7,
        accuracy: 'reported',
        units: { input: 7 },
        rates: { input: 0.02, output: 0 },
        catalogue: builtInPrices().table().version,
        // 7 × $0.02 for a million
        cost_nano_usd: 140,
        outcome: 'complete',
        in_session: false,
        latency_ms: expect.any(Number) as number,
        first_token_ms: null,
        timestamp: '2026-01-02T00:00:00.000Z',
      },
    ])
  })

  it.each<[input: unknown, vectors: number, tokens: number]>([
    ['x'.repeat(41), 1, 11],
    [['x', 'x'.repeat(5)], 2, 3],
    [[1, 2, 3], 1, 3],
    [[[1, 2, 3], [4]], 2, 4],
  ])('of %j is estimated where the upstream reports no usage', async (input, vectors, tokens) => {
    const { send, records } = await testGateway({ upstream: () => told(undefined, vectors) })
    const response = await send('POST', path, { ...request, input })
    expect(await response.json()).toMatchObject({ usage: { prompt_tokens: tokens, total_tokens: tokens } })
    expect(await records()).toMatchObject([
      { prompt_tokens: tokens, accuracy: 'estimated', units: { input: tokens }, cost_nano_usd: tokens * 20 },
    ])
  })
})

describe('threat 51: vectors that are far larger than their request', () => {
  const dimensions = 3_072
  const count = 200
  const vector = Float32Array.from({ length: dimensions }, (_, i) => Math.sin(i + 1))
  const packed = Buffer.from(vector.buffer).toString('base64')
  const input = Array.from({ length: count }, () => 'a')
  const ask = async (fields: object = {}) => {
    const data = input.map((_, index) => ({ object: 'embedding', index, embedding: packed }))
    const usage = { prompt_tokens: 7, total_tokens: 7 }
    const upstream = () => answer({ object: 'list', data, model: 'text-embedding-3-large', usage })
    const { send } = await testGateway({ upstream })
    return send('POST', path, { model: 'text-embedding-3-large', input, ...fields })
  }
  const expected = (embedding: unknown) =>
    JSON.stringify({
      object: 'list',
      data: input.map((_, index) => ({ object: 'embedding', index, embedding })),
      model: 'text-embedding-3-large',
      usage: { prompt_tokens: 7, total_tokens: 7 },
    })

  it.each([
    ['float', [...vector]],
    ['base64', packed],
  ])('are sent some at a time as %s, made as they are read', async (encoding_format, embedding) => {
    const stringify = vi.spyOn(JSON, 'stringify')
    const response = await ask({ encoding_format })
    const pieces: number[] = []
    let text = ''
    for await (const piece of response.body!) {
      pieces.push(stringify.mock.calls.length)
      text += Buffer.from(piece).toString()
    }
    const whole = stringify.mock.calls.filter(([value]) => value?.data?.length === count)
    stringify.mockRestore()
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(text === expected(embedding)).toBe(true)
    // That of the upstream alone.
    expect(whole).toHaveLength(1)
    expect(pieces.at(-1)! - pieces[0]!).toBeGreaterThan(count / 2)
  })
})

describe('threat 177: many short texts, whose vectors are megabytes', () => {
  const input = Array.from({ length: 200 }, () => 'a')
  const left = (response: Response) => Number(response.headers.get('x-ratelimit-remaining-requests'))

  it('count as a request for each hundred, as decimals', async () => {
    const { send } = await testGateway({
      upstream: ({ body }) => told(undefined, (body as { input: string[] }).input.length),
    })
    const before = left(await send('POST', path, { ...request, input: ['a'] }))
    expect(left(await send('POST', path, { ...request, input: input.slice(100) }))).toBe(before - 1)
    expect(left(await send('POST', path, { ...request, input }))).toBe(before - 3)
    expect(left(await send('POST', path, { ...request, input, encoding_format: 'base64' }))).toBe(before - 4)
  })

  it('are refused before they are billed, where there is no memory for their vectors', async () => {
    const { send, sent, records } = await testGateway({ bodyMemory: 1_000_000 })
    const refused = await send('POST', path, { ...request, input, dimensions: 3_072 })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(sent()).toBeUndefined()
    expect(await records()).toEqual([])
  })
})

describe('the dimensions', () => {
  const sent = async (fields: object, options = {}) => {
    const { send, google } = await familiesGateway(options)
    await send('POST', path, { ...request, model: 'gemini-embedding-001', ...fields })
    const { requests } = google.requests[0]!.body as { requests: { outputDimensionality?: number }[] }
    return requests[0]!.outputDimensionality
  }

  it('default to 768 for the embedding model of the platform', async () => {
    expect(await sent({})).toBe(768)
    expect(await sent({ dimensions: null })).toBe(768)
    expect(await sent({ model: 'google/gemini-embedding-001' })).toBe(768)
    expect(await sent({ model: 'gemini-embedding-001', provider: 'gemini' })).toBe(768)
    expect(await sent({ dimensions: 256 })).toBe(256)
    expect(await sent({ model: 'gemini-embedding-2' })).toBeUndefined()
  })

  it('can be set by the host', async () => {
    const embedding = { model: 'gemini-embedding-2', dimensions: 1536 }
    expect(await sent({}, { embedding })).toBeUndefined()
    expect(await sent({ model: 'gemini-embedding-2' }, { embedding })).toBe(1536)
  })
})

it('treats null as absent', async () => {
  const { send, sent } = await testGateway()
  await send('POST', path, { ...request, dimensions: null, encoding_format: null, provider: null })
  expect(sent()).toEqual({ ...request, encoding_format: 'base64' })
})
