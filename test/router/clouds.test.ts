import { createRouter } from '@turnpike/providers'
import { azure } from '@turnpike/providers/azure'
import { bedrock } from '@turnpike/providers/bedrock'
import { preset } from '@turnpike/providers/presets'
import type { FakeUpstream } from '@turnpike/providers/testing'
import { fakeAzure, fakeBedrock, fakeOpenAI, fakeVertex } from '@turnpike/providers/testing'
import { undiciTransport } from '@turnpike/providers/undici'
import { vertex } from '@turnpike/providers/vertex'
import { exportPKCS8, exportSPKI, generateKeyPair } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, testGateway } from '../support/gateway.js'

/**
 * The doors of the clouds behind the gateway, over HTTP, before simulations that check the credential: keys and tokens by their text, signatures of
 * AWS by their own implementation, assertions of a service account by its public key.
 */
const secrets = {
  azure: 'azure-key-0123456789',
  entra: 'entra-token-0123456789',
  bedrock: 'bedrock-key-0123456789',
  aws: 'aws-secret-0123456789',
  session: 'aws-session-0123456789',
  router: 'openrouter-key-0123456789',
}
const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: secrets.aws, sessionToken: secrets.session }
const haiku = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const opus = 'claude-opus-4-5@20251101'
const email = 'gateway@acme.iam.gserviceaccount.com'

const closing: (() => Promise<void>)[] = []
const listen = async (fake: FakeUpstream): Promise<string> => {
  const { url, close } = await fake.listen()
  closing.push(close)
  return url
}
afterAll(async () => {
  await Promise.all(closing.map((close) => close()))
})

const transport = undiciTransport()
let gateway: Awaited<ReturnType<typeof testGateway>>
let privateKey: string

beforeAll(async () => {
  const pair = await generateKeyPair('RS256', { extractable: true })
  privateKey = await exportPKCS8(pair.privateKey)
  const publicKey = (await exportSPKI(pair.publicKey)).replace(/-----[^-]+-----|\s/g, '')
  const deployments = { 'gpt-4o': 'prod-chat', 'text-embedding-3-small': 'prod-vectors' }
  const models = { 'prod-chat': 'gpt-4o', 'prod-vectors': 'text-embedding-3-small' }
  const atAzure = await listen(fakeAzure({ apiKey: secrets.azure, token: secrets.entra, deployments: models }))
  const atBedrock = await listen(fakeBedrock({ apiKey: secrets.bedrock, credentials }))
  const atVertex = await listen(fakeVertex({ account: { email, publicKey }, project: 'acme' }))
  const openrouter = await listen(fakeOpenAI({ apiKey: secrets.router }))
  const google = { client_email: email, private_key: privateKey, token_uri: `${atVertex}/token` }
  const providers = [
    azure({ baseURL: atAzure, apiKey: secrets.azure, deployments, transport }),
    azure({
      id: 'azure-dated',
      baseURL: atAzure,
      token: () => Promise.resolve(secrets.entra),
      apiVersion: '2024-10-21',
      deployments,
      transport,
    }),
    bedrock({ region: 'us-east-1', baseURL: atBedrock, apiKey: secrets.bedrock, models: [haiku], transport }),
    bedrock({
      id: 'bedrock-aws',
      region: 'us-east-1',
      baseURL: atBedrock,
      credentials: () => Promise.resolve(credentials),
      models: [haiku, 'openai.gpt-oss-120b-1:0'],
      transport,
    }),
    vertex({
      project: 'acme',
      baseURL: atVertex,
      credentials: google,
      models: ['gemini-2.5-flash', 'gemini-embedding-001', 'gemini-embedding-2', opus],
      transport,
    }),
    preset('openrouter', { baseURL: `${openrouter}/api/v1`, apiKey: () => secrets.router, transport }),
  ]
  gateway = await testGateway({ router: createRouter({ providers }) })
})

const chats = [
  ['azure', 'gpt-4o'],
  ['azure-dated', 'gpt-4o'],
  ['bedrock', haiku],
  ['bedrock-aws', haiku],
  ['bedrock-aws', 'openai.gpt-oss-120b-1:0'],
  ['vertex', 'gemini-2.5-flash'],
  ['vertex', opus],
  ['openrouter', 'gpt-4o-mini'],
] as const

interface Answered {
  choices: { message: { content: string | null; tool_calls?: { function: { name: string } }[] } }[]
}

describe.each(chats)('%s with %s', (provider, model) => {
  const said = 'This is a simulated answer. You said: Hi'

  it('answers whole', async () => {
    const response = await gateway.chat({ model, provider })
    expect(response.status).toBe(200)
    expect(((await response.json()) as Answered).choices[0]!.message.content).toBe(said)
  })

  it('answers in a stream', async () => {
    const response = await gateway.chat({ model, provider, stream: true, stream_options: { include_usage: true } })
    const events = (await response.text()).split('\n\n').filter((line) => line.startsWith('data: {'))
    const chunks = events.map(
      (line) =>
        JSON.parse(line.slice(6)) as {
          choices: { delta: { content?: string | null } }[]
          usage?: { total_tokens: number }
        },
    )
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(said)
    expect(chunks.at(-1)!.usage!.total_tokens).toBeGreaterThan(0)
  })

  it('calls tools', async () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
    const response = await gateway.chat({ model, provider, tools, tool_choice: 'required' })
    const { choices } = (await response.json()) as Answered
    expect(choices[0]!.message.tool_calls!.map((call) => call.function.name)).toEqual(['look'])
  })

  it('answers several choices', async () => {
    const response = await gateway.chat({ model, provider, n: 2 })
    expect(((await response.json()) as Answered).choices.map(({ message }) => message.content)).toEqual([said, said])
  })
})

it.each([
  ['azure', 'text-embedding-3-small'],
  ['azure-dated', 'text-embedding-3-small'],
  ['vertex', 'gemini-embedding-001'],
  ['vertex', 'gemini-embedding-2'],
])('%s embeds with %s', async (provider, model) => {
  const response = await gateway.send('POST', '/v1/embeddings', { model, provider, input: ['a', 'b'] })
  expect(response.status).toBe(200)
  expect(((await response.json()) as { data: unknown[] }).data).toHaveLength(2)
})

it('lists what each has', async () => {
  const response = await gateway.send('GET', '/v1/models')
  const { data } = (await response.json()) as { data: { id: string; provider: string }[] }
  const of = (provider: string) => data.filter((model) => model.provider === provider).map(({ id }) => id)
  expect(of('azure')).toEqual(['gpt-4o', 'text-embedding-3-small'])
  expect(of('bedrock')).toEqual([haiku])
  expect(of('vertex')).toContain(opus)
  expect(of('openrouter')).toContain('gpt-4o-mini')
})

it('goes on where a door is throttled, or its credential cannot be had', async () => {
  const throttled = fakeBedrock({
    override: () =>
      answer({ message: 'Too many requests' }, 429, { 'x-amzn-errortype': 'ThrottlingException', 'retry-after': '7' }),
  })
  const models = ['claude-opus-4-5']
  const fails = () => Promise.reject(new Error('The metadata server does not answer'))
  const at = await testGateway({
    router: createRouter({
      providers: [
        bedrock({
          region: 'us-east-1',
          apiKey: 'k',
          profiles: { 'claude-opus-4-5': 'us.anthropic.claude-opus-4-5-v1:0' },
          transport: throttled.transport,
        }),
        vertex({ project: 'acme', token: fails, models }),
        vertex({ id: 'vertex-2', project: 'acme', token: 'good', models, transport: fakeVertex().transport }),
      ],
    }),
  })
  const response = await at.chat({ model: 'claude-opus-4-5' })
  expect([response.status, throttled.requests.length]).toEqual([200, 1])
  expect((await at.records())[0]).toMatchObject({ provider: 'vertex-2' })
})

it('tells a caller what a filter blocked, and nobody else of a credential that is refused', async () => {
  const blocked = await gateway.chat({
    model: 'gpt-4o',
    provider: 'azure',
    messages: [{ role: 'user', content: 'FORBIDDEN' }],
  })
  expect(blocked.status).toBe(400)
  expect(await blocked.json()).toMatchObject({
    error: { message: expect.stringContaining('content management policy') },
  })
  const at = await testGateway({
    router: createRouter({
      providers: [
        azure({
          baseURL: 'https://acme.openai.azure.com',
          apiKey: secrets.azure,
          transport: fakeAzure({ apiKey: 'x' }).transport,
        }),
      ],
    }),
  })
  const refused = await at.chat()
  expect(refused.status).toBe(502)
  expect(await refused.text()).not.toContain('subscription key')
})

it('has no secret in records, errors and logs', async () => {
  const seen = JSON.stringify([gateway.logs, gateway.errors, await gateway.records()])
  expect(gateway.logs.length).toBeGreaterThan(30)
  for (const secret of [...Object.values(secrets), privateKey.slice(100, 140), 'ya29.'])
    expect(seen).not.toContain(secret)
})
