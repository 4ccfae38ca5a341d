import type { ChatChunk, Note, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { toChunks } from '../provider.js'
import type { FakeBedrockOptions } from '../testing/index.js'
import { bedrockException, fakeBedrock } from '../testing/index.js'
import { frame } from '../testing/aws-frames.js'
import type { BedrockOptions } from './index.js'
import { bedrock } from './index.js'

const call = { signal: new AbortController().signal }
const messages = [{ role: 'user' as const, content: 'Hi' }]
const sonnet = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const opaque = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3'
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }
const temporary = { ...credentials, sessionToken: 'IQoJb3JpZ2luX2VjE/session+token==' }

function setUp(options: Partial<BedrockOptions> = {}, fake: FakeBedrockOptions = {}) {
  const upstream = fakeBedrock({ apiKey: 'bedrock-api-key', ...fake })
  const provider = bedrock({
    region: 'us-east-1',
    ...(!options.credentials && { apiKey: 'bedrock-api-key' }),
    models: [sonnet, 'openai.gpt-oss-120b-1:0'],
    transport: upstream.transport,
    ...options,
  })
  const notes: Note[] = []
  const noted = { ...call, onNotes: (all: Note[]) => void notes.push(...all) }
  const complete = (request = {}) => provider.chat.complete({ model: sonnet, messages, ...request }, noted)
  const chunks: ChatChunk[] = []
  const stream = async (request = {}) => {
    const answer = await provider.chat.stream({ model: sonnet, messages, stream: true, ...request }, noted)
    for await (const chunk of toChunks(answer)) chunks.push(chunk)
    return chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')
  }
  const failureOf = async (answer: Promise<unknown>) =>
    (await answer.then(
      () => expect.fail('There was an answer'),
      (error: UpstreamError) => error,
    )) as UpstreamError
  return { provider, upstream, notes, complete, chunks, stream, failureOf }
}

/** An upstream that streams these bytes. */
const streaming = (...pieces: Uint8Array[]): FakeBedrockOptions => ({
  override: () => ({
    status: 200,
    headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    body: (async function* () {
      yield* pieces
    })(),
  }),
})

const said = 'This is a simulated answer. You said: Hi'

describe.each<[name: string, options: Partial<BedrockOptions>, fake: FakeBedrockOptions]>([
  ['an API key', {}, {}],
  ['an API key that is a function', { apiKey: () => Promise.resolve('bedrock-api-key') }, {}],
  ['credentials', { credentials }, { credentials }],
  ['temporary credentials', { credentials: temporary }, { credentials: temporary }],
  ['a function of credentials', { credentials: () => Promise.resolve(temporary) }, { credentials: temporary }],
])('with %s', (_, options, fake) => {
  it('Claude answers whole, streamed and with tools', async () => {
    const { upstream, complete, stream, chunks } = setUp(options, fake)
    const answer = await complete()
    expect(answer).toMatchObject({ choices: [{ message: { content: said }, finish_reason: 'stop' }] })
    expect(answer.usage!.total_tokens).toBeGreaterThan(0)
    expect(await stream()).toBe(said)
    expect(chunks.at(-1)!.usage!.total_tokens).toBeGreaterThan(0)
    const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
    const called = await complete({ tools, tool_choice: 'required' })
    expect(called.choices[0]!.message.tool_calls![0]!['function']).toMatchObject({ name: 'look' })
    const path = '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke'
    expect(upstream.requests.map((request) => request.path)).toEqual([path, `${path}-with-response-stream`, path])
    expect(upstream.requests[1]!.body).toMatchObject({ anthropic_version: 'bedrock-2023-05-31' })
  })

  it('other models answer whole and streamed', async () => {
    const { upstream, complete, stream } = setUp(options, fake)
    const model = 'openai.gpt-oss-120b-1:0'
    expect(await complete({ model })).toMatchObject({ model, choices: [{ message: { content: said } }] })
    expect(await stream({ model })).toBe(said)
    expect(upstream.requests.map(({ path }) => path)).toEqual(Array(2).fill('/openai/v1/chat/completions'))
  })

  it('takes the ARN of a profile, whose path is signed as it is sent', async () => {
    const profiles = { 'claude-sonnet-4-5': opaque }
    const { provider, upstream, complete } = setUp(
      { ...options, profiles, models: undefined! },
      { ...fake, profiles: { [opaque]: 'claude-sonnet-4-5' } },
    )
    await complete({ model: 'claude-sonnet-4-5', temperature: 0.5, top_p: 0.5 })
    expect(upstream.requests[0]!.path).toBe(`/model/${encodeURIComponent(opaque)}/invoke`)
    expect(upstream.requests[0]!.path).toContain('arn%3Aaws%3Abedrock%3Aus-east-1')
    // By the rules of the model.
    expect(upstream.requests[0]!.body).not.toHaveProperty('top_p')
    expect((await provider.models(call)).map(({ id }) => id)).toEqual(['claude-sonnet-4-5'])
  })
})

describe('a credential that is wrong', () => {
  it.each<[name: string, options: Partial<BedrockOptions>, code: string]>([
    ['key', { apiKey: 'another-key' }, 'AccessDeniedException'],
    ['access key', { credentials: { ...credentials, accessKeyId: 'AKIDOTHER' } }, 'UnrecognizedClientException'],
    ['secret', { credentials: { ...credentials, secretAccessKey: 'other' } }, 'InvalidSignatureException'],
    ['session token', { credentials: temporary }, 'UnrecognizedClientException'],
    ['region', { credentials, region: 'eu-west-1' }, 'InvalidSignatureException'],
  ])('%s', async (_, options, code) => {
    const { complete, failureOf } = setUp(options, { credentials })
    const { failure } = await failureOf(complete())
    expect(failure).toMatchObject({ status: 403, credential: true, caller: false, code })
  })

  it('is told with 400 as well', async () => {
    const headers = {
      'x-amzn-errortype': 'ExpiredTokenException:http://amazon.com',
      'content-type': 'application/json',
    }
    const body = JSON.stringify({ message: 'The security token included in the request is expired' })
    const { complete, failureOf } = setUp({}, { override: () => ({ status: 400, headers, body }) })
    expect((await failureOf(complete())).failure).toMatchObject({ credential: true, caller: false })
  })

  it('that a function does not give sends nothing', async () => {
    const { complete, upstream, failureOf } = setUp({
      credentials: () => Promise.reject(new Error('There is no profile')),
    })
    const { failure } = await failureOf(complete())
    expect(failure).toMatchObject({ kind: 'unavailable', accepted: false })
    expect(upstream.requests).toEqual([])
  })

  it('is scrubbed from errors', async () => {
    const body = JSON.stringify({ message: `The token ${temporary.sessionToken} is expired` })
    const { complete, failureOf } = setUp(
      { credentials: temporary },
      { override: () => ({ status: 403, headers: { 'content-type': 'application/json' }, body }) },
    )
    expect((await failureOf(complete())).message).toBe('The token [redacted] is expired')
  })
})

describe('an error status', () => {
  const told = (status: number, type: string, message: string): FakeBedrockOptions => ({
    override: () => ({
      status,
      headers: { 'content-type': 'application/json', 'x-amzn-errortype': `${type}:http://internal.amazon.com/` },
      body: JSON.stringify({ message }),
    }),
  })

  it.each<[status: number, type: string, message: string, failure: object]>([
    [429, 'ThrottlingException', 'Too many requests, please wait before trying again.', { status: 429, caller: false }],
    [400, 'ServiceQuotaExceededException', 'Too many tokens per day', { status: 429, caller: false }],
    [408, 'ModelTimeoutException', 'The model timed out', { status: 408, caller: false, credential: false }],
    [424, 'ModelErrorException', 'The model failed', { status: 424, caller: false, credential: false }],
    [503, 'ServiceUnavailableException', 'Bedrock is unavailable', { status: 503, caller: false }],
    [
      403,
      'AccessDeniedException',
      "You don't have access to the model with the specified model ID.",
      { credential: true },
    ],
    [404, 'ResourceNotFoundException', 'This model version has reached the end of its life.', { refused: 'model' }],
    [400, 'ValidationException', 'The provided model identifier is invalid.', { caller: true, refused: 'model' }],
    [
      400,
      'ValidationException',
      'The model returned the following errors: prompt is too long: 210000 tokens > 200000 maximum',
      { caller: true, refused: 'length', code: 'context_length_exceeded', context: 200_000 },
    ],
    [
      400,
      'ValidationException',
      'The model returned the following errors: messages.0.content: Field required',
      { caller: true, refused: undefined },
    ],
  ])('%i %s: %s', async (status, type, message, failure) => {
    const { complete, failureOf } = setUp({}, told(status, type, message))
    const error = await failureOf(complete())
    expect(error.failure).toMatchObject({ kind: 'status', accepted: false, code: type, ...failure })
    expect(error.message).not.toContain('The model returned')
  })

  it('that refuses a parameter is learnt from', async () => {
    let calls = 0
    const refusal = told(
      400,
      'ValidationException',
      'The model returned the following errors: top_k: Extra inputs are not permitted',
    )
    const { complete, notes, upstream } = setUp(
      {},
      { override: (request) => (++calls === 1 ? refusal.override!(request) : undefined) },
    )
    await complete({ top_k: 5 })
    expect(upstream.requests).toHaveLength(2)
    expect(notes).toEqual([{ field: 'top_k', action: 'dropped' }])
  })
})

describe('a stream', () => {
  const chunk = (event: object) =>
    frame(
      { ':event-type': 'chunk', ':message-type': 'event' },
      { bytes: btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(event)))) },
    )
  const begun = [
    chunk({ type: 'message_start', message: { id: 'msg_1', model: 'claude', usage: { input_tokens: 3 } } }),
    chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 👋' } }),
  ]
  const ended = [
    chunk({ type: 'content_block_stop', index: 0 }),
    chunk({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }),
    chunk({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 3 } }),
  ]
  const whole = Uint8Array.from([...begun, ...ended].flatMap((piece) => [...piece]))

  it.each([1, 2, 7, 12, 64, 1_000_000])('is read in pieces of %i bytes', async (size) => {
    const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
      whole.subarray(i * size, (i + 1) * size),
    )
    const { stream } = setUp({}, streaming(...pieces))
    expect(await stream()).toBe('Grüße 👋')
  })

  it.each<[type: string, status: number]>([
    ['throttlingException', 429],
    ['validationException', 400],
    ['modelTimeoutException', 408],
    ['modelStreamErrorException', 424],
    ['internalServerException', 500],
    ['serviceUnavailableException', 503],
    ['someNewException', 500],
  ])('that begins with %s has its status', async (type, status) => {
    const { stream, failureOf } = setUp({}, streaming(bedrockException(type, 'Not now')))
    const error = await failureOf(stream())
    expect(error.failure).toMatchObject({ kind: 'status', status, accepted: false })
    expect(error.message).toBe('Not now')
  })

  it('that ends with an exception was accepted', async () => {
    const { stream, chunks, failureOf } = setUp({}, streaming(...begun, bedrockException('throttlingException', 'No')))
    const { failure } = await failureOf(stream())
    expect(failure).toMatchObject({ status: 429, accepted: true })
    expect(chunks.map(({ choices: [choice] }) => choice!.delta.content).join('')).toBe('Grüße 👋')
  })

  it('that ends with an error of the protocol tells its words', async () => {
    const error = frame({ ':message-type': 'error', ':error-code': 'InternalError', ':error-message': 'Broken' }, {})
    const { stream, failureOf } = setUp({}, streaming(error))
    expect(await failureOf(stream())).toMatchObject({ message: 'Broken', failure: { status: 500 } })
  })

  it('passes over frames that say nothing', async () => {
    const other = frame({ ':event-type': 'metadata', ':message-type': 'event' }, { usage: {} })
    const { stream } = setUp({}, streaming(other, ...begun, other, ...ended))
    expect(await stream()).toBe('Grüße 👋')
  })

  /** The stream with one byte changed. */
  const changed = (at: number): Uint8Array => whole.map((byte, i) => (i === at ? byte ^ 1 : byte))
  const first = begun[0]!.length

  it.each<[name: string, bytes: Uint8Array, cause: string]>([
    ['a wrong length', changed(first + 3), 'The checksum of the lengths of a frame is wrong'],
    ['a wrong checksum of the lengths', changed(first + 8), 'The checksum of the lengths of a frame is wrong'],
    ['a wrong header', changed(first + 14), 'The checksum of a frame is wrong'],
    ['a wrong payload', changed(first + 90), 'The checksum of a frame is wrong'],
    ['a wrong checksum', changed(first + begun[1]!.length - 1), 'The checksum of a frame is wrong'],
    ['an end within a frame', whole.subarray(0, first + 50), 'The answer ended within a frame'],
  ])('is broken off by %s', async (_, bytes, cause) => {
    const { stream, failureOf } = setUp({}, streaming(begun[0]!, bytes.subarray(first)))
    const error = await failureOf(stream())
    expect(error.failure).toMatchObject({ kind: 'truncated', accepted: true })
    expect((error.cause as Error).message).toBe(cause)
  })

  it('refuses a frame that is too large before it comes', async () => {
    const lengths = new DataView(new ArrayBuffer(12))
    lengths.setUint32(0, 0x7fffffff)
    const { stream, failureOf } = setUp({}, streaming(new Uint8Array(lengths.buffer), begun[0]!))
    expect(((await failureOf(stream())).cause as Error).message).toContain('frame is wrong')
  })

  it('is broken off by a frame with too many headers, or of too many values', async () => {
    const names = Array.from({ length: 1_000 }, (_, i) => [`${i}`, 'x'.repeat(130)])
    for (const [wide, message] of [
      [frame(Object.fromEntries(names), {}), 'lengths of a frame are wrong'],
      [frame({ ':message-type': 'event' }, Array(60_000).fill(0)), 'A frame has more than 50000 values'],
    ] as const) {
      const { stream, failureOf } = setUp({}, streaming(begun[0]!, wide))
      expect(((await failureOf(stream())).cause as Error).message).toContain(message)
    }
  })

  it('closes the connection when the client leaves', async () => {
    const { provider, upstream } = setUp({}, { delayMs: 20 })
    const answer = await provider.chat.stream({ model: sonnet, messages, stream: true }, call)
    expect(upstream.active).toBe(1)
    for await (const _ of toChunks(answer)) break
    await expect.poll(() => upstream.active).toBe(0)
  })
})

describe('a request', () => {
  it('has no fields that Claude has at Anthropic only, each with a note', async () => {
    const { complete, notes } = setUp()
    await complete({ user: 'u-1', service_tier: 'auto' })
    expect(notes).toEqual([
      { field: 'user', action: 'dropped' },
      { field: 'service_tier', action: 'dropped' },
    ])
  })

  it('has a beta in its body', async () => {
    const { complete, upstream } = setUp({}, { override: () => ({ status: 500, headers: {}, body: '' }) })
    const thinking = [{ type: 'thinking', thinking: 'Hm', signature: 'c2ln' }]
    const history = [
      ...messages,
      { role: 'assistant' as const, content: 'Yes', thinking_blocks: thinking },
      ...messages,
    ]
    const request = { model: 'us.anthropic.claude-fable-5-2-v1:0', messages: history }
    await complete(request).catch(() => undefined)
    expect(upstream.requests[0]!.body).toMatchObject({ anthropic_beta: ['thinking-binding-controls-2026-08-01'] })
    expect(upstream.requests[0]!.headers).not.toHaveProperty('anthropic-beta')
  })

  it('goes to an endpoint of a VPC, signed for it', async () => {
    const host = 'vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com'
    const { complete, failureOf } = setUp({ credentials, baseURL: `https://${host}/` }, { credentials, host })
    await complete()
    const elsewhere = setUp({ credentials, baseURL: `https://${host}/` }, { credentials })
    expect((await failureOf(elsewhere.complete())).failure.code).toBe('InvalidSignatureException')
  })

  it('is signed as it is sent over HTTP', async () => {
    const { url, close } = await fakeBedrock({ credentials: temporary }).listen()
    const provider = bedrock({ region: 'us-east-1', credentials: temporary, baseURL: url, models: [sonnet] })
    const request = { model: sonnet, messages, stream: true }
    let text = ''
    for await (const { choices } of toChunks(await provider.chat.stream(request, call)))
      text += choices[0]?.delta.content ?? ''
    expect(text).toBe(said)
    await close()
  })

  it.each(['..', '../x', '', 'a b', 'a?b', '%2e%2e', '/x'])('threat 3: has no model %j in its path', async (id) => {
    const { upstream, complete } = setUp({ profiles: { 'claude-x': id } })
    const refused = { status: 400, code: 'model_not_found' }
    await expect(complete({ model: 'claude-x' })).rejects.toMatchObject(refused)
    await expect(complete({ model: id })).rejects.toMatchObject(refused)
    expect(upstream.requests).toEqual([])
  })
})

it('lists its models with what Claude can do', async () => {
  const models = await setUp().provider.models(call)
  expect(models.map(({ id, capabilities }) => [id, capabilities.length])).toEqual([
    [sonnet, 5],
    ['openai.gpt-oss-120b-1:0', 0],
  ])
  expect(setUp().provider.listsAll).toBe(true)
})

it.each(['us-east-1', 'us-gov-west-1', 'eusc-de-east-1'])('bedrock takes the region %s', (region) => {
  expect(bedrock({ region, apiKey: 'k' }).id).toBe('bedrock')
})

it.each<[name: string, options: object, message: string]>([
  ['no region', { apiKey: 'k' }, 'bedrock: the option "region" is not set'],
  ['a zone', { apiKey: 'k', region: 'us-east-1a' }, 'bedrock: the option "region" must be a region'],
  ['a host', { apiKey: 'k', region: 'evil.example/' }, 'bedrock: the option "region" must be a region'],
  ['no credential', { region: 'us-east-1' }, 'bedrock: the option "apiKey" is not set'],
  ['two', { region: 'us-east-1', apiKey: 'k', credentials }, 'bedrock: only one of the options'],
  [
    'half of one',
    { region: 'us-east-1', credentials: { ...credentials, secretAccessKey: undefined } },
    'bedrock: the option "credentials.secretAccessKey" is not set',
  ],
  ['live models', { region: 'us-east-1', apiKey: 'k', models: 'live' }, 'bedrock: the option "models" must be'],
])('%s is refused', (_, options, message) => {
  expect(() => bedrock(options as BedrockOptions)).toThrow(message)
})
