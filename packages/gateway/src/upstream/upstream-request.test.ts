import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { familiesGateway, recording } from '../../../../test/support/families.js'
import { answer, chunk, streamed, testGateway } from '../../../../test/support/gateway.js'
import { parseStream } from '../../../../test/support/sse.js'

const explain = { headers: { 'x-gateway-explain': 'true' } }
const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }

const chat = '/v1/chat/completions'
const hello = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const requests: [path: string, request: object][] = [
  [chat, hello],
  ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello world' }],
  ['/v1/images/generations', { model: 'gpt-image-2', prompt: 'A cat' }],
  ['/v1/audio/speech', { model: 'tts-1', input: 'Hi' }],
  ['/v1/audio/transcriptions', recording()],
]
const names = ['x-gateway-provider', 'x-gateway-attempts', 'x-gateway-cost']
const headersOf = ({ headers }: Response) => names.map((name) => headers.get(name))

describe('with x-gateway-explain', () => {
  it('an answer has the provider, and the cost if it is whole', async () => {
    const { send, records } = await testGateway()
    const costs: [path: string, cost: string | null][] = [
      // 3 tokens at $0.02, 2 at $5 and 1,056 at $30 for a million, and a second at $0.0001
      ['/v1/embeddings', '0.00000006'],
      ['/v1/images/generations', '0.03169'],
      ['/v1/audio/speech', null],
      ['/v1/audio/transcriptions', '0.0001'],
    ]
    for (const [path, cost] of costs) {
      const response = await send('POST', path, new Map(requests).get(path), explain)
      expect([path, ...headersOf(response)]).toEqual([path, 'openai', '1', cost])
      await response.arrayBuffer()
      if (cost !== null) expect((await records())[0]).toMatchObject({ cost_nano_usd: Math.round(Number(cost) * 1e9) })
    }
  })

  it('the usage of a whole answer has the cost', async () => {
    const { send } = await testGateway({
      upstream: ({ path }) =>
        path.endsWith('completions')
          ? answer({ choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }], usage })
          : undefined,
    })
    const response = await send('POST', chat, hello, explain)
    expect(headersOf(response)).toEqual(['openai', '1', '0.0000525'])
    // 9 × $2.50 and 3 × $10 for a million
    expect(await response.json()).toMatchObject({ usage: { ...usage, cost: 0.000_052_5, priced: true } })
    const vectors = await send(
      'POST',
      '/v1/embeddings',
      { model: 'text-embedding-3-small', input: 'Hello world' },
      explain,
    )
    expect(((await vectors.json()) as { usage: object }).usage).toEqual({
      prompt_tokens: 3,
      total_tokens: 3,
      cost: 0.000_000_06,
      priced: true,
    })
  })

  it('the usage of a stream has the cost, its head does not', async () => {
    const pieces = [chunk('Hello', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]']
    const { send } = await testGateway({ upstream: () => streamed(...pieces) })
    const wanted = { ...hello, stream: true, stream_options: { include_usage: true } }
    const response = await send('POST', chat, wanted, explain)
    expect(headersOf(response)).toEqual(['openai', '1', null])
    const text = await response.text()
    parseStream(text)
    expect(text).toContain(
      '"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12,"cost":0.0000525,"priced":true}}',
    )
  })

  it('an unknown price is reported', async () => {
    const { send } = await testGateway({
      upstream: () => answer({ choices: [{ index: 0, message: { content: 'Hello' }, finish_reason: 'stop' }], usage }),
    })
    const response = await send('POST', chat, { ...hello, model: 'gpt-9' }, explain)
    expect(headersOf(response)).toEqual(['openai', '1', '0'])
    expect(await response.json()).toMatchObject({ usage: { ...usage, cost: 0, priced: false } })
  })

  it('the number of calls is reported, as in the record', async () => {
    const busy = fakeOpenAI({ override: () => answer({ error: { message: 'Key' } }, 401) })
    const good = fakeOpenAI()
    const providers = [busy, good].map(({ transport }) => openai({ apiKey: 'sk-upstream', transport }))
    for (const [path, request] of requests) {
      // A router of their own, whose turn begins with the first.
      const { send, records } = await testGateway({ router: createRouter({ providers }) })
      const response = await send('POST', path, request, explain)
      await response.arrayBuffer()
      expect([path, response.status, response.headers.get('x-gateway-attempts')]).toEqual([path, 200, '2'])
      expect(await records()).toMatchObject([{ attempts: 2, provider: 'openai' }])
    }
  })
})

describe('without x-gateway-explain', () => {
  it.each([undefined, 'false', '1', ''])('(%s) nothing is reported', async (value) => {
    const { send } = await testGateway()
    for (const [path, request] of requests) {
      const init = value === undefined ? {} : { headers: { 'x-gateway-explain': value } }
      const response = await send('POST', path, request, init)
      expect([path, response.status, ...headersOf(response)]).toEqual([path, 200, null, null, null])
      expect(await response.text()).not.toMatch(/"cost"|"priced"/)
    }
  })
})

describe('a model', () => {
  const rows: [path: string, model: string, provider: string, request: (model: string, provider?: string) => object][] =
    [
      [chat, 'gpt-4o', 'openai', (model, provider) => ({ ...hello, model, provider })],
      [chat, 'gemini-2.5-flash', 'google', (model, provider) => ({ ...hello, model, provider })],
      ['/v1/embeddings', 'text-embedding-3-small', 'openai', (model, provider) => ({ model, provider, input: 'Hi' })],
      ['/v1/embeddings', 'gemini-embedding-001', 'google', (model, provider) => ({ model, provider, input: 'Hi' })],
      ['/v1/images/generations', 'dall-e-3', 'openai', (model, provider) => ({ model, provider, prompt: 'A cat' })],
      [
        '/v1/images/generations',
        'gemini-2.5-flash-image',
        'google',
        (model, provider) => ({ model, provider, prompt: 'A cat' }),
      ],
      ['/v1/audio/speech', 'tts-1-hd', 'openai', (model, provider) => ({ model, provider, input: 'Hi' })],
      [
        '/v1/audio/transcriptions',
        'whisper-1',
        'openai',
        (model, provider) => recording({ model, ...(provider !== undefined && { provider }) }),
      ],
    ]

  it.each(rows)(
    'at %s: %s is found with the prefix %s, and with the provider field',
    async (path, model, id, request) => {
      const { send, records, google, openai: other } = await familiesGateway()
      const all = [
        request(model),
        request(`${id}/${model}`),
        request(model, id),
        request(`${id}/${model}`, id),
        request(model, 'auto'),
      ]
      for (const one of all) {
        const response = await send('POST', path, one)
        expect(response.status).toBe(200)
        await response.arrayBuffer()
      }
      expect(await records()).toMatchObject(all.map(() => ({ model, provider: id })))
      expect((id === 'google' ? google : other).requests).toHaveLength(all.length)
      for (const { body, path: asked } of other.requests) {
        expect(asked).not.toContain(`${id}/`)
        if (body !== undefined) expect(body).toMatchObject({ model })
        expect(body ?? {}).not.toHaveProperty('provider')
      }
    },
  )
})
