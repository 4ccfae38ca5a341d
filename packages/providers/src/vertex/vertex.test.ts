import type { ChatChunk, UpstreamError } from '@turnpike/core'
import { toBase64 } from '@turnpike/core/helpers'
import { beforeAll, describe, expect, it } from 'vitest'
import { toChunks } from '../provider.js'
import type { FakeVertexOptions } from '../testing/index.js'
import { fakeVertex } from '../testing/index.js'
import type { Transport } from '../upstream/transport.js'
import type { ServiceAccountKey, VertexOptions } from './index.js'
import { vertex } from './index.js'

const call = { signal: new AbortController().signal }
const messages = [{ role: 'user' as const, content: 'Hi' }]
const email = 'gateway@acme.iam.gserviceaccount.com'
const [gemini, claude] = ['gemini-2.5-flash', 'claude-sonnet-4-5@20250929']

let key: ServiceAccountKey
let account: { email: string; publicKey: string }
let other: typeof account

async function newKey() {
  const algorithm = {
    name: 'RSASSA-PKCS1-v1_5',
    hash: 'SHA-256',
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  }
  const { privateKey, publicKey } = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const der = toBase64(new Uint8Array(await crypto.subtle.exportKey('pkcs8', privateKey)))
  const lines = der.match(/.{1,64}/g)!.join('\n')
  return {
    pem: `-----BEGIN PRIVATE KEY-----\n${lines}\n-----END PRIVATE KEY-----\n`,
    publicKey: toBase64(new Uint8Array(await crypto.subtle.exportKey('spki', publicKey))),
  }
}

beforeAll(async () => {
  const { pem, publicKey } = await newKey()
  account = { email, publicKey }
  other = { email, publicKey: (await newKey()).publicKey }
  key = {
    type: 'service_account',
    project_id: 'acme',
    private_key_id: 'k1',
    private_key: pem,
    client_email: email,
    token_uri: 'https://oauth2.googleapis.com/token',
  }
})

function setUp(options: Partial<VertexOptions> = {}, fake: FakeVertexOptions = {}) {
  const upstream = fakeVertex({ project: 'acme', ...fake })
  const urls: string[] = []
  const transport: Transport = (request) => {
    urls.push(request.url)
    return upstream.transport(request)
  }
  const { credentials, token, apiKey } = options
  const isSet = (credentials ?? token ?? apiKey) !== undefined
  const provider = vertex({ project: 'acme', ...(!isSet && { token: () => 'ya29.mine' }), transport, ...options })
  const complete = (request = {}) => provider.chat.complete({ model: gemini, messages, ...request }, call)
  const stream = async (request = {}) => {
    const chunks: ChatChunk[] = []
    for await (const chunk of toChunks(
      await provider.chat.stream({ model: gemini, messages, stream: true, ...request }, call),
    ))
      chunks.push(chunk)
    expect(chunks.at(-1)!.usage!.total_tokens).toBeGreaterThan(0)
    return chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')
  }
  const failureOf = async (answer: Promise<unknown>) =>
    (await answer.then(
      () => expect.fail('There was an answer'),
      (error: UpstreamError) => error,
    )) as UpstreamError
  return { provider, upstream, urls, complete, stream, failureOf }
}

const said = 'This is a simulated answer. You said: Hi'
const global = 'https://aiplatform.googleapis.com'
const inProject = '/projects/acme/locations/global/publishers'

describe.each<[name: string, options: () => Partial<VertexOptions>, fake: () => FakeVertexOptions]>([
  ['a service account', () => ({ credentials: key, project: undefined }), () => ({ account })],
  ['a token', () => ({ token: () => Promise.resolve('ya29.mine') }), () => ({ token: 'ya29.mine' })],
  ['an API key', () => ({ apiKey: 'AIza-key' }), () => ({ apiKey: 'AIza-key' })],
])('with %s', (_, options, fake) => {
  it.each([
    [
      'Gemini',
      gemini,
      `/v1beta1${inProject}/google/models/${gemini}`,
      ':generateContent',
      ':streamGenerateContent?alt=sse',
    ],
    ['Claude', claude, `/v1${inProject}/anthropic/models/${claude}`, ':rawPredict', ':streamRawPredict'],
  ])('%s answers whole, streamed and with tools', async (_, model, path, whole, streamed) => {
    const { complete, stream, urls, upstream } = setUp(options(), fake())
    expect(await complete({ model })).toMatchObject({
      choices: [{ message: { content: said }, finish_reason: 'stop' }],
    })
    expect(await stream({ model })).toBe(said)
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    const called = await complete({ model, tools, tool_choice: 'required' })
    expect(called.choices[0]!.message.tool_calls![0]!['function']).toMatchObject({ name: 'look' })
    const calls = urls.filter((url) => !url.includes('oauth2'))
    expect(calls).toEqual([whole, streamed, whole].map((method) => global + path + method))
    if (model === claude)
      expect(upstream.requests.at(-1)!.body).toMatchObject({ anthropic_version: 'vertex-2023-10-16' })
  })

  it('has embeddings', async () => {
    const { provider, urls } = setUp(options(), fake())
    for (const [model, dimensions] of [
      ['gemini-embedding-001', 256],
      ['gemini-embedding-2', 256],
      ['text-embedding-005', 256],
    ] as const) {
      const { data, usage } = await provider.embeddings!({ model, input: ['a', 'b', 'c'], dimensions }, call)
      expect(data.map(({ embedding, index }) => [index, embedding.length])).toEqual([
        [0, 256],
        [1, 256],
        [2, 256],
      ])
      expect(usage?.prompt_tokens).toBe(model === 'gemini-embedding-2' ? undefined : 3)
    }
    const at = (model: string, method: string) => `${global}/v1beta1${inProject}/google/models/${model}:${method}`
    expect(urls.filter((url) => !url.includes('oauth2'))).toEqual([
      ...Array<string>(3).fill(at('gemini-embedding-001', 'predict')),
      ...Array<string>(3).fill(at('gemini-embedding-2', 'embedContent')),
      at('text-embedding-005', 'predict'),
    ])
  })
})

describe('a service account', () => {
  it('asks for a token once, and again when it ends', async () => {
    const { complete, upstream } = setUp({ credentials: key }, { account })
    await Promise.all([complete(), complete({ model: claude }), complete()])
    const asked = upstream.requests.filter(({ path }) => path === '/token')
    expect(asked).toHaveLength(1)
    expect(asked[0]!.headers).not.toHaveProperty('authorization')
    // A token of half a minute is too short to be kept.
    const short = setUp({ credentials: key }, { account, seconds: 30 })
    await short.complete()
    await short.complete()
    expect(short.upstream.requests.map(({ path }) => path === '/token')).toEqual([true, false, true, false])
  })

  it('takes a key from a variable, with its line breaks escaped', async () => {
    const private_key = key.private_key.replaceAll('\n', '\\n')
    await setUp({ credentials: { ...key, private_key } }, { account }).complete()
  })

  it('asks over HTTP on the own machine', async () => {
    const { url, close } = await fakeVertex({ account, project: 'acme' }).listen()
    const provider = vertex({ credentials: { ...key, token_uri: `${url}/token` }, baseURL: url })
    expect(await provider.chat.complete({ model: claude, messages }, call)).toMatchObject({
      choices: [{ message: { content: said } }],
    })
    await close()
  })

  it.each<[name: string, changed: () => { key?: Partial<ServiceAccountKey>; fake?: FakeVertexOptions }]>([
    ['whose key is another', () => ({ fake: { account: other } })],
    ['that does not exist', () => ({ key: { client_email: 'nobody@acme.iam.gserviceaccount.com' } })],
    ['that asks elsewhere', () => ({ key: { token_uri: 'https://other.example/token' } })],
  ])('%s calls nothing', async (_, changed) => {
    const { key: fields, fake } = changed()
    const { complete, upstream, failureOf } = setUp({ credentials: { ...key, ...fields } }, { account, ...fake })
    const { failure, cause } = await failureOf(complete())
    expect(failure).toMatchObject({ provider: 'vertex', kind: 'unavailable', accepted: false })
    expect((cause as UpstreamError).failure).toMatchObject({ status: 400 })
    expect(upstream.requests.map(({ path }) => path)).toEqual(['/token'])
  })

  it('that gets no token calls nothing', async () => {
    const headers = { 'content-type': 'application/json' }
    const { complete, failureOf } = setUp(
      { credentials: key },
      { account, override: () => ({ status: 200, headers, body: '{"id_token":"x"}' }) },
    )
    expect((await failureOf(complete())).failure).toMatchObject({ kind: 'unavailable', accepted: false })
  })
})

describe('an endpoint', () => {
  it.each([
    ['us-east5', 'https://us-east5-aiplatform.googleapis.com', 'us-east5'],
    ['eu', 'https://aiplatform.eu.rep.googleapis.com', 'eu'],
    ['global', global, 'global'],
  ])('of %s', async (location, host, path) => {
    const { complete, urls } = setUp({ location })
    await complete({ model: claude })
    expect(urls[0]).toMatch(`${host}/v1/projects/acme/locations/${path}/publishers/anthropic/models/`)
  })

  it('of one’s own', async () => {
    const { complete, urls, provider } = setUp({ baseURL: 'https://vertex.internal.example/' })
    await complete()
    expect(urls[0]).toMatch(/^https:\/\/vertex\.internal\.example\/v1beta1\/projects\//)
    expect((await provider.models(call)).length).toBeGreaterThan(5)
  })

  it('of the express mode, without a project', async () => {
    const { complete, stream, urls } = setUp({ apiKey: 'AIza-key', project: undefined }, { apiKey: 'AIza-key' })
    await complete()
    await stream()
    expect(urls[0]).toBe(`${global}/v1beta1/publishers/google/models/${gemini}:generateContent`)
    await expect(complete({ model: claude })).rejects.toMatchObject({ status: 400, code: 'model_not_found' })
  })
})

describe('an error', () => {
  const told = (status: number, error: object): FakeVertexOptions => ({
    override: () => ({
      status,
      headers: { 'content-type': 'application/json', 'retry-after': '3' },
      body: JSON.stringify(error),
    }),
  })

  it('of a token that is wrong or for another project', async () => {
    const { complete, failureOf } = setUp({ token: 'ya29.other' }, { token: 'ya29.mine' })
    expect((await failureOf(complete())).failure).toMatchObject({ status: 401, credential: true })
    const foreign = setUp({ project: 'umbrella' })
    expect((await failureOf(foreign.complete())).failure).toMatchObject({ status: 403, credential: true })
  })

  it.each<[name: string, model: string, status: number, error: object, failure: object]>([
    [
      'quota',
      gemini,
      429,
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Resource exhausted. Please try again later.' } },
      { status: 429, caller: false, code: 'RESOURCE_EXHAUSTED', retryAfter: 3 },
    ],
    [
      'quota of Claude',
      claude,
      429,
      { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Quota exceeded for base_model' } },
      { status: 429, caller: false, code: 'RESOURCE_EXHAUSTED' },
    ],
    [
      'a model that is not there',
      gemini,
      404,
      { error: { code: 404, status: 'NOT_FOUND', message: 'Publisher Model `x` was not found.' } },
      { status: 404, caller: true, refused: 'model' },
    ],
    [
      'a model that the location does not have',
      claude,
      400,
      {
        error: {
          code: 400,
          status: 'FAILED_PRECONDITION',
          message: 'Publisher Model `x` is not servable in region y.',
        },
      },
      { status: 400, caller: true, credential: false, refused: 'model' },
    ],
    [
      'a project that may not call',
      gemini,
      400,
      { error: { code: 400, status: 'FAILED_PRECONDITION', message: 'Billing is not enabled for the project.' } },
      { status: 400, caller: false, credential: true },
    ],
    [
      'a fault in a request to Claude',
      claude,
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 3 tokens > 2 maximum' } },
      { status: 400, caller: true, refused: 'length', code: 'context_length_exceeded', context: 2 },
    ],
    [
      'an overload of Claude',
      claude,
      529,
      { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
      { status: 529, caller: false },
    ],
  ])('of %s', async (_, model, status, error, failure) => {
    const { complete, failureOf } = setUp({}, told(status, error))
    expect((await failureOf(complete({ model }))).failure).toMatchObject({ kind: 'status', ...failure })
  })

  it('of a text that is too long to be embedded, which is not cut', async () => {
    const { provider, failureOf } = setUp()
    const answer = provider.embeddings!({ model: 'text-embedding-005', input: 'word '.repeat(3_000) }, call)
    expect((await failureOf(answer)).failure).toMatchObject({ status: 400, caller: true })
  })
})

it('embeds many texts in calls that are small enough', async () => {
  const { provider, upstream } = setUp()
  const input = Array.from({ length: 20 }, (_, i) => `${i} ${'word '.repeat(1_600)}`)
  const { data } = await provider.embeddings!({ model: 'text-embedding-005', input }, call)
  expect(data.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, i) => i))
  expect(upstream.requests).toHaveLength(3)
})

it('makes pictures', async () => {
  const { provider, urls } = setUp()
  const { images } = await provider.images!({ model: 'gemini-2.5-flash-image', prompt: 'A cat', n: 1 }, call)
  expect(images).toHaveLength(1)
  expect(urls).toEqual([`${global}/v1beta1${inProject}/google/models/gemini-2.5-flash-image:generateContent`])
})

it('fetches images for Gemini, and leaves them to Claude', async () => {
  const fetched: string[] = []
  const { complete, upstream } = setUp({
    remoteContent: (url) => {
      fetched.push(url)
      return Promise.resolve({ type: 'image/png', data: 'iVBORw0KGgo=' })
    },
  })
  const picture = { type: 'image_url', image_url: { url: 'https://pictures.example/cat.png' } }
  for (const model of [gemini, claude]) await complete({ model, messages: [{ role: 'user', content: [picture] }] })
  expect(fetched).toEqual(['https://pictures.example/cat.png'])
  expect(JSON.stringify(upstream.requests[0]!.body)).toContain('iVBORw0KGgo=')
  expect(JSON.stringify(upstream.requests[1]!.body)).toContain('https://pictures.example/cat.png')
})

it('embeds texts only', () => {
  const { provider } = setUp()
  const fits = (input: unknown) =>
    provider.fits!({ task: 'embeddings', request: { model: 'gemini-embedding-001', input } } as never)
  expect([fits('a'), fits([1, 2])]).toEqual([true, false])
})

it.each(['claude-..', 'claude-x/../../y', 'claude-x?y', 'claude-x#', 'claude-x:predict', 'claude-é'])(
  'threat 3: %j is no model',
  async (model) => {
    const { complete, urls } = setUp()
    if (model === 'claude-..') await complete({ model }).catch(() => undefined)
    else {
      await expect(complete({ model })).rejects.toMatchObject({ status: 400, code: 'model_not_found' })
      expect(urls).toEqual([])
    }
    expect(
      urls.every((url) => new URL(url).pathname.startsWith('/v1/projects/acme/locations/global/publishers/')),
    ).toBe(true)
  },
)

it('lists the Gemini models, or those that are named', async () => {
  const { provider } = setUp()
  const listed = await provider.models(call)
  expect(listed.map(({ id }) => id)).toContain('gemini-2.5-pro')
  expect(listed.map(({ id }) => id)).toContain('text-embedding-005')
  expect(provider.listsAll).toBeUndefined()
  const named = setUp({ models: [gemini, claude] }).provider
  expect((await named.models(call)).map(({ id, capabilities }) => [id, capabilities.length])).toEqual([
    [gemini, 5],
    [claude, 5],
  ])
  expect(named.listsAll).toBe(true)
  expect([provider.owns!(gemini), provider.owns!(claude), provider.owns!('claude-sonnet-4-5')]).toEqual([
    true,
    true,
    false,
  ])
})
