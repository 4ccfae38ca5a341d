import type { OwnModel, ChatProvider, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../anthropic/index.js'
import { azure } from '../azure.js'
import { bedrock } from '../bedrock/index.js'
import type { FamilyOptions } from '../family.js'
import { google, googleEndpoints } from '../google/index.js'
import { openai } from '../openai/index.js'
import { preset } from '../presets.js'
import type { FakeAnswer, FakeRequest } from '../testing/index.js'
import { fakeUpstream } from '../testing/fake-upstream.js'
import { vertex } from '../vertex/index.js'

const call = { signal: new AbortController().signal }
const messages = [{ role: 'user' as const, content: 'Hi' }]
const refused = (message: string): FakeAnswer => ({
  status: 500,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: { message } }),
})

type Options = Pick<FamilyOptions, 'headers' | 'transport'> & { models?: OwnModel[] }

/** The doors to the families, with an id of a model that each knows. */
const doors: [name: string, model: string, make: (options: Options) => ChatProvider][] = [
  ['openai', 'gpt-4o', (options) => openai({ apiKey: 'k', ...options })],
  ['a preset', 'gpt-4o', (options) => preset('groq', { apiKey: 'k', ...options })],
  ['anthropic', 'claude-sonnet-5', (options) => anthropic({ apiKey: 'k', ...options })],
  ['google', 'gemini-2.5-pro', (options) => google({ apiKey: 'k', endpoints: googleEndpoints(), ...options })],
  ['azure', 'gpt-4o', (options) => azure({ apiKey: 'k', baseURL: 'https://a.example', ...options })],
  [
    'azure by its dated API',
    'gpt-4o',
    (options) => azure({ apiKey: 'k', baseURL: 'https://a.example', apiVersion: '2024-10-21', ...options }),
  ],
  ['Claude at bedrock', 'claude-sonnet-5', (options) => bedrock({ apiKey: 'k', region: 'us-east-1', ...options })],
  [
    'bedrock, signed',
    'gpt-oss',
    (options) => bedrock({ credentials: { accessKeyId: 'i', secretAccessKey: 's' }, region: 'us-east-1', ...options }),
  ],
  ['Gemini at vertex', 'gemini-2.5-pro', (options) => vertex({ token: 'k', project: 'p', ...options })],
  ['Claude at vertex', 'claude-sonnet-5', (options) => vertex({ token: 'k', project: 'p', ...options })],
]

/** Where a request names its model: in its body, or in its path. */
const modelOf = ({ body, path }: FakeRequest): unknown =>
  (body as { model?: string }).model ?? /(?:models?|deployments)\/([^/:?]+)/.exec(path)?.[1]

describe.each(doors)('%s', (_, model, make) => {
  it('is asked for a model by its name there, with the rules of its id', async () => {
    const upstream = fakeUpstream(() => refused('no'))
    const plain = make({ transport: upstream.transport })
    const named = make({ transport: upstream.transport, models: [{ id: model, upstream: 'own-name' }] })
    for (const provider of [plain, named])
      for (const stream of [false, true]) {
        const request = { model, messages, stream, logit_bias: { 1: 1 } }
        const asked = stream ? provider.chat.stream(request, call) : provider.chat.complete(request, call)
        await asked.catch(() => undefined)
      }
    expect(upstream.requests.map(modelOf)).toEqual([model, model, 'own-name', 'own-name'])
    const [first, , third] = upstream.requests.map(({ body }) => ({ ...(body as object), model: undefined }))
    expect(third).toEqual(first)
    if (!named.embeddings) return
    await named.embeddings({ model, input: ['x'] }, call).catch(() => undefined)
    expect(modelOf(upstream.requests.at(-1)!)).toBe('own-name')
    expect(JSON.stringify(upstream.requests.at(-1)!.body)).not.toContain(model)
  })

  it('gets headers of its own, whose values no error has', async () => {
    const secret = 'value-of-the-team'
    const upstream = fakeUpstream(({ headers }) => refused(`Refused: ${headers['x-team']} may not`))
    const provider = make({ transport: upstream.transport, headers: { 'X-Team': secret } })
    for (const asked of [
      provider.chat.complete({ model, messages }, call),
      provider.embeddings?.({ model, input: 'x' }, call),
      provider.check?.(call),
    ]) {
      const error = (await asked?.catch((thrown: unknown) => thrown)) as UpstreamError | undefined
      if (asked) expect(error!.message).toBe('Refused: [redacted] may not')
    }
    expect(upstream.requests.every(({ headers }) => headers['x-team'] === secret)).toBe(true)
    expect(upstream.requests.length).toBeGreaterThan(0)
  })

  it.each(['Authorization', 'content-type', 'HOST', 'Accept-Encoding', 'content-length', 'user-agent'])(
    'refuses a header %s of its own',
    (name) => {
      expect(() => make({ headers: { [name]: 'secret-value' } })).toThrow(
        new RegExp(`the option "headers": "${name}" is sent by the adapter itself$`),
      )
    },
  )
})

describe('headers', () => {
  it.each<[headers: unknown, error: string]>([
    [{ 'x-api-key': 'x' }, '"x-api-key" is sent by the adapter itself'],
    [{ 'anthropic-version': 'x' }, '"anthropic-version" is sent by the adapter itself'],
    [{ 'a b': 'x' }, '"a b" is no name of a header'],
    [{ 'x-a': 'secret\n' }, '"x-a" must be visible ASCII characters, without a space or line break at its end'],
    [{ 'x-a': undefined }, '"x-a" must be visible ASCII characters, without a space or line break at its end'],
    ['x', 'must have values by the names of headers'],
    [['x-a: b'], 'must have values by the names of headers'],
  ])('%j are wrong', (headers, error) => {
    const make = (): ChatProvider => anthropic({ apiKey: 'k', headers: headers as Record<string, string> })
    expect(make).toThrow(error)
    expect(make).not.toThrow('secret')
  })

  it('may turn on features of Claude, beside those that a request needs', async () => {
    const upstream = fakeUpstream(() => refused('no'))
    const options = { apiKey: 'k', headers: { 'Anthropic-Beta': 'mine' }, transport: upstream.transport }
    const thoughts = [{ type: 'thinking', thinking: 'Hm', signature: 's' }]
    const history = [
      ...messages,
      { role: 'assistant' as const, content: 'Yes', thinking_blocks: thoughts },
      ...messages,
    ]
    for (const asked of [messages, history])
      await anthropic(options)
        .chat.complete({ model: 'claude-sonnet-5-5', messages: asked }, call)
        .catch(() => undefined)
    expect(upstream.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
      'mine',
      expect.stringMatching(/^mine,thinking-binding/),
    ])
  })
})

describe('own models', () => {
  it('are listed with what is said of them', async () => {
    const price = { input: 1, output: 2 }
    const models = [
      'gpt-4o',
      { id: 'mine', price, contextWindow: 8_000, maxOutput: 1_000, capabilities: ['chat' as const] },
      { id: 'gpt-4.1', upstream: 'there' },
    ]
    const provider = openai({ apiKey: 'k', models })
    const [first, second, third] = await provider.models(call)
    expect(second).toEqual({
      ...first,
      id: 'mine',
      capabilities: ['chat'],
      price,
      context_window: 8_000,
      max_output_tokens: 1_000,
    })
    expect(Object.keys(third!)).toEqual(Object.keys(first!))
    expect(third!.capabilities).toContain('tools')
    expect([...provider.own!.keys()]).toEqual(['mine', 'gpt-4.1'])
    expect(openai({ apiKey: 'k', models: ['gpt-4o'] }).own).toBeUndefined()
  })

  it('have the most output that Claude is asked for, also of a model that is known', () => {
    const { chat } = anthropic({ apiKey: 'k', models: [{ id: 'claude-sonnet-5', maxOutput: 5_000 }] })
    expect(chat!.maxOutput!({ model: 'claude-sonnet-5', messages })).toBe(5_000)
    expect(chat!.preview({ model: 'claude-sonnet-5', messages, max_tokens: 9_000 })).toEqual([
      { field: 'max_tokens', action: 'clamped' },
    ])
  })

  it.each<[models: unknown, error: string]>([
    ['gpt-4o', 'the option "models" must be "live" or a list of ids'],
    [['a', 1], 'the option "models" must be "live" or a list of ids'],
    [['a', ''], 'the option "models" must be "live" or a list of ids'],
    [[{}], 'models[0]: the option "id" is not set'],
    [[{ id: ' ' }], 'models[0]: the option "id" must be the id of a model'],
    [['a', { id: 'b', prize: {} }], 'models[1]: there is no option "prize"'],
    [[{ id: 'a', upstream: '' }], 'models[0]: the option "upstream" must be a name of a model'],
    [[{ id: 'a', contextWindow: 0 }], 'models[0]: the option "contextWindow" must be a number of tokens'],
    [[{ id: 'a', maxOutput: 1.5 }], 'models[0]: the option "maxOutput" must be a number of tokens'],
    [[{ id: 'a', capabilities: 'chat' }], 'models[0]: the option "capabilities" must be a list'],
    [[{ id: 'a' }, { id: 'a' }], 'the model "a" is there twice'],
  ])('%j are wrong', (models, error) => {
    expect(() => openai({ apiKey: 'k', models: models as string[] })).toThrow(error)
  })

  it('may have their name beside deployments, which are the same', async () => {
    const options = { baseURL: 'https://a.example', apiKey: 'k', deployments: { 'gpt-4o': 'there' } }
    const price = { input: 1, output: 2 }
    const { own } = azure({ ...options, models: [{ id: 'gpt-4o', price }] })
    expect([...own!.values()]).toEqual([{ id: 'gpt-4o', upstream: 'there', price }])
    expect(() => azure({ ...options, models: [{ id: 'gpt-4o', upstream: 'elsewhere' }] })).toThrow('there twice')
  })
})
