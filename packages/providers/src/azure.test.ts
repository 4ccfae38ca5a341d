import type { ChatChunk, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { AzureOptions } from './azure.js'
import { azure } from './azure.js'
import { toChunks } from './provider.js'
import type { FakeAzureOptions } from './testing/index.js'
import { fakeAzure } from './testing/index.js'

const call = { signal: new AbortController().signal }
const endpoint = 'https://res.openai.azure.com'
const messages = [{ role: 'user' as const, content: 'Hi' }]
const deployments = {
  'gpt-4o': 'prod-chat',
  'gpt-5': 'prod-5',
  'text-embedding-3-small': 'vectors',
  'dall-e-3': 'pictures',
  'tts-1': 'voice',
  'whisper-1': 'ears',
}
const models = Object.fromEntries(Object.entries(deployments).map(([model, name]) => [name, model]))

function setUp(options: Partial<AzureOptions> = {}, fake: FakeAzureOptions = {}) {
  const upstream = fakeAzure({ apiKey: 'key-of-azure', deployments: models, ...fake })
  const provider = azure({
    baseURL: endpoint,
    ...(options.token === undefined && { apiKey: 'key-of-azure' }),
    deployments,
    transport: upstream.transport,
    ...options,
  })
  const chunks = async (request = {}): Promise<ChatChunk[]> => {
    const all: ChatChunk[] = []
    const stream = await provider.chat.stream({ model: 'gpt-4o', messages, stream: true, ...request }, call)
    for await (const chunk of toChunks(stream)) all.push(chunk)
    return all
  }
  const complete = (request = {}) => provider.chat.complete({ model: 'gpt-4o', messages, ...request }, call)
  const failure = async (request = {}) =>
    (await complete(request).then(
      () => expect.fail('There was an answer'),
      (error: UpstreamError) => error,
    )) as UpstreamError
  return { provider, complete, chunks, failure, paths: () => upstream.requests.map(({ path }) => path), upstream }
}

const apis: [name: string, apiVersion: string | undefined, path: (deployment: string, rest: string) => string][] = [
  ['the v1 API', undefined, (_, rest) => `/openai/v1${rest}`],
  [
    'the dated API',
    '2024-10-21',
    (deployment, rest) => `/openai/deployments/${deployment}${rest}?api-version=2024-10-21`,
  ],
]

describe.each(apis)('%s', (_, apiVersion, path) => {
  const version = apiVersion === undefined ? {} : { apiVersion }

  it('answers whole, streamed and with tools', async () => {
    const { complete, chunks, paths } = setUp(version)
    const answer = await complete()
    expect(answer).toMatchObject({
      model: 'gpt-4o',
      choices: [{ message: { content: 'This is a simulated answer. You said: Hi' } }],
    })
    const all = await chunks()
    expect(all.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe(
      'This is a simulated answer. You said: Hi',
    )
    // The chunk of the filter is no head.
    expect(all.every(({ id, model }) => id.startsWith('chatcmpl-') && model === 'gpt-4o')).toBe(true)
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    expect((await complete({ tools, tool_choice: 'required' })).choices[0]!.finish_reason).toBe('tool_calls')
    expect(paths()).toEqual(Array(3).fill(path('prod-chat', '/chat/completions')))
  })

  it('goes by the rules of the model, whatever its deployment is called', async () => {
    const { complete, upstream } = setUp(version)
    const answer = await complete({ model: 'gpt-5', temperature: 0.2, max_tokens: 100 })
    expect(answer.choices).toHaveLength(1)
    expect(upstream.requests[0]!.body).toMatchObject({ max_completion_tokens: 100 })
    expect(upstream.requests[0]!.body).not.toHaveProperty('temperature')
  })

  it('has the other endpoints', async () => {
    const { provider, paths } = setUp(version)
    const embedded = await provider.embeddings!({ model: 'text-embedding-3-small', input: ['a', 'b'] }, call)
    expect(embedded.data).toHaveLength(2)
    const pictures = await provider.images!({ model: 'dall-e-3', prompt: 'A cat', n: 1 }, call)
    expect(pictures.images).toHaveLength(1)
    const { contentType } = await provider.speech!({ model: 'tts-1', input: 'Hi', voice: 'alloy' }, call)
    expect(contentType).toBe('audio/mpeg')
    const file = {
      name: 'a.wav',
      type: 'audio/wav',
      size: 4,
      read: async function* () {
        yield new TextEncoder().encode('RIFF')
      },
    }
    const transcribed = await provider.transcription!({ model: 'whisper-1', file } as never, call)
    expect(transcribed.seconds).toBeGreaterThan(0)
    expect(paths()).toEqual([
      path('vectors', '/embeddings'),
      path('pictures', '/images/generations'),
      path('voice', '/audio/speech'),
      path('ears', '/audio/transcriptions'),
    ])
  })

  it('takes a token of Entra ID', async () => {
    let calls = 0
    const { complete, upstream } = setUp(
      { ...version, token: () => Promise.resolve(++calls === 1 ? 'first' : 'second') },
      { token: 'first' },
    )
    await complete()
    expect(upstream.requests[0]!.headers).toMatchObject({ authorization: 'Bearer first' })
    expect(upstream.requests[0]!.headers).not.toHaveProperty('api-key')
    await expect(complete()).rejects.toMatchObject({ failure: { status: 401, credential: true } })
  })

  it('takes keys that are functions, and reports those that are refused', async () => {
    await setUp({ ...version, apiKey: () => 'key-of-azure' }).complete()
    const error = await setUp({ ...version, apiKey: 'another-key' }).failure()
    expect(error.failure).toMatchObject({ status: 401, credential: true, caller: false, code: '401' })
  })

  it('reports a prompt that the filter blocks as the fault of the caller, for which only a group may have another model', async () => {
    const { failure } = setUp(version)
    const { message, failure: told } = await failure({ messages: [{ role: 'user', content: 'FORBIDDEN' }] })
    expect(told).toMatchObject({ status: 400, caller: true, code: 'content_filter', accepted: false })
    expect(told.refused).toBe('content')
    expect(message).toContain('content management policy')
  })

  it('reports a deployment that does not exist as a refused model', async () => {
    const { failure } = setUp(version)
    const { failure: told } = await failure({ model: 'o3' })
    expect(told).toMatchObject({ status: 404, caller: true, code: 'DeploymentNotFound', refused: 'model' })
  })

  it('reports for how long it is throttled', async () => {
    const body = JSON.stringify({ error: { code: '429', message: 'Requests have exceeded the token rate limit' } })
    const headers = { 'content-type': 'application/json', 'retry-after': '7', 'retry-after-ms': '6250' }
    const { failure } = setUp(version, { override: () => ({ status: 429, headers, body }) })
    expect((await failure()).failure).toMatchObject({ status: 429, caller: false, retryAfter: 7 })
  })

  it('has its deployments as models, and asks for all models where that is wanted', async () => {
    const { provider, paths } = setUp(version)
    const listed = await provider.models(call)
    expect(listed.map(({ id }) => id)).toEqual(Object.keys(deployments))
    expect(listed[0]).toMatchObject({ provider: 'azure', capabilities: ['chat', 'tools', 'vision', 'json_schema'] })
    expect(provider.listsAll).toBe(true)
    expect(paths()).toEqual([])
    const live = setUp({ ...version, models: 'live' })
    expect(await live.provider.models(call)).toHaveLength(2)
    await live.provider.check!(call)
    const query = apiVersion === undefined ? '/v1/models' : '/models?api-version=2024-10-21'
    expect(live.paths()).toEqual(Array(2).fill(`/openai${query}`))
  })
})

it.each(['', '/', '/openai', '/openai/', '/openai/v1', '/openai/v1/'])(
  'takes the endpoint with %j at its end',
  async (end) => {
    const { complete, paths } = setUp({ baseURL: endpoint + end })
    await complete()
    expect(paths()).toEqual(['/openai/v1/chat/completions'])
  },
)

it('calls deployments as their models without a list', async () => {
  const upstream = fakeAzure()
  const provider = azure({ baseURL: endpoint, apiKey: 'k', apiVersion: '2024-10-21', transport: upstream.transport })
  await provider.chat.complete({ model: 'gpt-4o', messages }, call)
  expect(upstream.requests[0]!.path).toBe('/openai/deployments/gpt-4o/chat/completions?api-version=2024-10-21')
  expect(await provider.models(call)).toEqual([])
})

it.each(['..', 'a/b', '../x', 'a?b', 'a%2fb', ''])('threat 3: %j is no deployment', async (model) => {
  const upstream = fakeAzure()
  const provider = azure({ baseURL: endpoint, apiKey: 'k', apiVersion: '2024-10-21', transport: upstream.transport })
  const refused = { status: 400, code: 'model_not_found' }
  await expect(provider.chat.complete({ model, messages }, call)).rejects.toMatchObject(refused)
  await expect(provider.embeddings!({ model, input: 'a' }, call)).rejects.toMatchObject(refused)
  expect(upstream.requests).toEqual([])
})

it('removes results of a filter that come late and without a text', async () => {
  const chunk = (choice: object) =>
    `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o', choices: [{ index: 0, ...choice }] })}\n\n`
  const body =
    chunk({ delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }) +
    chunk({ delta: {}, finish_reason: 'stop' }) +
    chunk({ content_filter_offsets: { check_offset: 1 }, content_filter_results: {}, finish_reason: null }) +
    'data: [DONE]\n\n'
  const headers = { 'content-type': 'text/event-stream' }
  const { chunks } = setUp({}, { override: () => ({ status: 200, headers, body }) })
  expect((await chunks()).map(({ choices: [choice] }) => [choice!.delta.content, choice!.finish_reason])).toEqual([
    ['Hi', null],
    [undefined, 'stop'],
  ])
})

it.each<[name: string, options: object, message: string]>([
  ['no endpoint', { apiKey: 'k' }, 'azure: the option "baseURL" is not set'],
  ['a name as endpoint', { baseURL: 'my-resource', apiKey: 'k' }, 'azure: the option "baseURL" must be a URL'],
  ['no credential', { baseURL: endpoint }, 'azure: the option "apiKey" is not set'],
  ['two', { baseURL: endpoint, apiKey: 'k', token: 't' }, 'azure: only one of the options "apiKey" and "token"'],
  ['no date', { baseURL: endpoint, apiKey: 'k', apiVersion: 'v1' }, 'azure: the option "apiVersion" must be a date'],
  [
    'a path as deployment',
    { baseURL: endpoint, apiKey: 'k', deployments: { a: '../b' } },
    'azure: the option "deployments" must have names of deployments',
  ],
  ['an unknown option', { baseURL: endpoint, apiKey: 'k', resource: 'r' }, 'azure: there is no option "resource"'],
])('%s is refused', (_, options, message) => {
  expect(() => azure(options as AzureOptions)).toThrow(message)
})
