import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { checkProviders } from '../providers.js'
import { fromLitellm } from './from-litellm.js'
import { loadConfig } from './load.js'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-litellm-'))
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = {
    type: 'service_account',
    project_id: 'a-project',
    client_email: 'me@a-project.iam.gserviceaccount.com',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: 'https://oauth2.googleapis.com/token',
  }
  writeFileSync(join(folder, 'key.json'), JSON.stringify(key))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** What a variable of this name may hold. */
const valueOf = (name: string): string => {
  if (name === 'DATABASE_URL') return 'postgres://db.example/turnpike'
  if (/BASE|ENDPOINT/.test(name)) return 'https://a.example'
  if (/REGION/.test(name)) return 'eu-west-1'
  if (name === 'GOOGLE_APPLICATION_CREDENTIALS') return join(folder, 'key.json')
  return 'a-value-of-a-variable'
}

const convert = (yaml: string) => fromLitellm(parse(yaml, { version: '1.1' }))
/** As a configuration whose variables are set. */
async function check(config: object) {
  const yaml = stringify(config)
  writeFileSync(join(folder, 'turnpike.config.yaml'), yaml)
  const names = [...yaml.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!)
  const loaded = await loadConfig(Object.fromEntries(names.map((name) => [name, valueOf(name)])), folder)
  checkProviders(loaded)
  return loaded
}
const providersOf = (yaml: string): unknown => convert(yaml).config.providers
const groupsOf = (yaml: string): unknown => convert(yaml).config.routing?.groups
const notesOf = (yaml: string): string[] => convert(yaml).notes.map(({ path, reason }) => `${path}: ${reason}`)
/** A list of models, each as its name and the parameters of its deployment. */
const models = (...entries: [name: string, params: object][]): string =>
  stringify({ model_list: entries.map(([model_name, litellm_params]) => ({ model_name, litellm_params })) })

/** Files in the forms of LiteLLM's own examples, which its repository names so. */
const examples: Record<string, { yaml: string; providers: string[]; groups: string[]; notes: string[] }> = {
  'simple_config.yaml': {
    yaml: 'model_list: [{ model_name: small, litellm_params: { model: gpt-5-mini } }]',
    providers: ['openai'],
    groups: ['small'],
    notes: [],
  },
  'aliases_config.yaml': {
    yaml: `
model_list:
  - { model_name: gpt-4, litellm_params: { model: ollama/llama3.2 } }
  - { model_name: gpt-4o, litellm_params: { model: ollama/llama3.2, temperature: 0.2, max_tokens: 50 } }`,
    providers: ['ollama'],
    groups: ['gpt-4', 'gpt-4o'],
    notes: ['model_list[1].litellm_params.temperature', 'model_list[1].litellm_params.max_tokens'],
  },
  'load_balancer.yaml': {
    yaml: `
litellm_settings: { drop_params: True }
model_list:
  - { model_name: chat, litellm_params: { model: gpt-4o, api_key: sk-1 }, tpm: 30000, rpm: 5 }
  - { model_name: chat, litellm_params: { model: gpt-4o, api_key: sk-2 }, tpm: 30000, rpm: 5 }
  - { model_name: chat, litellm_params: { model: openrouter/gpt-4o } }
  - { model_name: open, litellm_params: { model: somebody/a-model } }
environment_variables: { REDIS_HOST: localhost, REDIS_PORT: 6380 }`,
    providers: ['openai', 'openai', 'openrouter'],
    groups: ['chat'],
    notes: [
      'model_list[3].litellm_params.model',
      'environment_variables.REDIS_HOST',
      'environment_variables.REDIS_PORT',
    ],
  },
  'azure_config_with_tpm.yaml': {
    yaml: `
model_list:
  - model_name: chat
    litellm_params: { model: azure/one, api_base: https://one.openai.azure.com/, api_key: k1, tpm: 80_000 }
  - model_name: chat
    litellm_params: { model: azure/two, api_base: https://two.openai.azure.com/, api_key: k2, tpm: 40_000 }`,
    providers: ['azure', 'azure'],
    groups: ['chat'],
    notes: [],
  },
  'azure_config.yaml': {
    yaml: `
model_list:
  - model_name: of-a-team
    litellm_params:
      model: azure/one
      api_base: https://one.openai.azure.com/
      api_version: "2024-10-21"
      api_key: os.environ/AZURE_API_KEY
      timeout: 5
      stream_timeout: 0.5
      max_retries: 4`,
    providers: ['azure'],
    groups: ['of-a-team'],
    notes: ['timeout', 'stream_timeout', 'max_retries'].map((name) => `model_list[0].litellm_params.${name}`),
  },
  'queue.yaml': {
    yaml: `
model_list:
  - model_name: chat
    litellm_params:
      model: gpt-4o
      api_key:
  - model_name: chat
    litellm_params:
      model: azure/one
      api_key:
      api_version: 2024-07-01-preview
      api_base: https://one.openai.azure.com/`,
    providers: ['openai', 'azure'],
    groups: ['chat'],
    notes: [],
  },
  'pass_through_config.yaml': {
    yaml: `
model_list:
  - model_name: fake
    litellm_params: { model: openai/fake, api_key: a-key, api_base: https://fake.example/ }
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-6, api_key: os.environ/ANTHROPIC_API_KEY }
  - model_name: claude
    litellm_params: { model: anthropic/claude-sonnet-4-6, api_key: os.environ/ANTHROPIC_API_KEY }
  - { model_name: anthropic/*, litellm_params: { model: anthropic/*, api_key: os.environ/ANTHROPIC_API_KEY } }
  - { model_name: openai/*, litellm_params: { model: openai/*, api_key: os.environ/OPENAI_API_KEY } }
general_settings:
  master_key: os.environ/LITELLM_MASTER_KEY
  custom_auth: auth.check
  pass_through_endpoints: [{ path: /azure, target: os.environ/AZURE_API_BASE }]
litellm_settings: { include_cost_in_streaming_usage: true }`,
    providers: ['openai-2', 'anthropic', 'openai'],
    groups: ['fake', 'claude'],
    notes: [
      'model_list[0].litellm_params',
      'general_settings.master_key',
      'litellm_settings.include_cost_in_streaming_usage',
      'general_settings.custom_auth',
      'general_settings.pass_through_endpoints',
    ],
  },
  'oai_misc_config.yaml': {
    yaml: `
model_list:
  - { model_name: of-users, litellm_params: { model: gpt-5-mini, region_name: eu }, model_info: { id: "1" } }
  - { model_name: "*", litellm_params: { model: openai/*, api_key: os.environ/OPENAI_API_KEY } }
  - { model_name: groq/*, litellm_params: { model: groq/*, api_key: os.environ/GROQ_API_KEY } }
  - model_name: batches
    litellm_params:
      model: bedrock/us.anthropic.claude-haiku-4-5-20251001-v1:0
      s3_bucket_name: a-bucket
    model_info: { mode: batch }
litellm_settings:
  drop_params: True
  num_retries: 5
  request_timeout: 600
  telemetry: False
  context_window_fallbacks: [{ gpt-5-mini: [gpt-5.5] }]
  default_team_settings: [{ team_id: team-1, success_callback: [langfuse] }]
finetune_settings: [{ custom_llm_provider: openai, api_key: os.environ/OPENAI_API_KEY }]
files_settings: [{ custom_llm_provider: openai, api_key: os.environ/OPENAI_API_KEY }]
general_settings: { master_key: sk-5678 }`,
    providers: ['openai', 'groq', 'bedrock'],
    groups: ['of-users', 'batches', 'gpt-5-mini'],
    notes: [
      'model_list[0].litellm_params.region_name',
      'model_list[3].model_info.mode',
      'model_list[3].litellm_params.s3_bucket_name',
      'model_list[1].model_name',
      'general_settings.master_key',
      'litellm_settings.telemetry',
      'litellm_settings.default_team_settings',
      'finetune_settings',
      'files_settings',
    ],
  },
  'otel_test_config.yaml': {
    yaml: `
model_list:
  - model_name: fake
    litellm_params: { model: openai/fake, api_key: a-key, api_base: https://fake.example/, tags: [a] }
    model_info: { id: of-team-a }
  - { model_name: rerank, litellm_params: { model: cohere/rerank-v3, api_key: os.environ/COHERE_API_KEY } }
  - model_name: llava
    litellm_params: { model: openai/llava-hf/llava-v1.6, api_base: http://localhost:8000, api_key: a-key }
    model_info: { supports_vision: True }
litellm_settings: { cache: true, callbacks: [otel] }
guardrails: [{ guardrail_name: of-words, litellm_params: { guardrail: aporia, mode: post_call } }]`,
    providers: ['openai', 'openai-2'],
    groups: ['fake', 'llava'],
    notes: [
      'model_list[0].litellm_params.tags',
      'model_list[1].litellm_params.model',
      'model_list[2].model_info.supports_vision',
      'model_list[2].litellm_params',
      'litellm_settings.cache',
      'litellm_settings.callbacks',
      'guardrails',
    ],
  },
  'proxy_server_config.yaml': {
    yaml: `
model_list:
  - { model_name: of-users, litellm_params: { model: gpt-4o, region_name: eu }, model_info: { id: "1" } }
  - model_name: of-users
    litellm_params: &azure
      model: azure/one
      api_base: https://one.openai.azure.com/
      api_version: "2024-05-15-preview"
      api_key: os.environ/AZURE_API_KEY
  - { model_name: large, litellm_params: { model: gpt-4.1, api_key: os.environ/OPENAI_API_KEY, rpm: 480 } }
  - { model_name: llama, litellm_params: { model: sagemaker/llama-2, input_cost_per_second: 0.0004 } }
  - model_name: vectors
    litellm_params: { <<: *azure, model: azure/for-vectors }
    model_info: { mode: embedding, base_model: text-embedding-3-small }
  - { model_name: dall-e-2, litellm_params: { <<: *azure, model: azure/ } }
  - { model_name: fake, litellm_params: { model: openai/fake, api_key: k, api_base: https://fake.example/, rpm: 1000 } }
  - { model_name: fake, litellm_params: { model: openai/fake-2, api_key: k, api_base: https://fake.example/, rpm: 10 } }
  - { model_name: mistral-embed, litellm_params: { model: mistral/mistral-embed } }
  - { model_name: instruct, litellm_params: { model: text-completion-openai/gpt-3.5-turbo-instruct } }
router_settings:
  routing_strategy: usage-based-routing-v2
  redis_host: os.environ/REDIS_HOST
  redis_password: os.environ/REDIS_PASSWORD
  redis_port: os.environ/REDIS_PORT
  enable_pre_call_checks: true
  model_group_alias: { mine: fake }
general_settings: { store_model_in_db: True, proxy_batch_write_at: 1 }`,
    providers: ['openai', 'azure', 'openai-2', 'mistral'],
    groups: ['of-users', 'large', 'vectors', 'dall-e-2', 'fake', 'mistral-embed', 'mine'],
    notes: [
      'model_list[0].litellm_params.region_name',
      'model_list[3].litellm_params.model',
      'model_list[9].litellm_params.model',
      'model_list[6].litellm_params',
      'router_settings.routing_strategy',
      'model_list[2].litellm_params.rpm',
      'model_list[6].litellm_params.rpm',
      'model_list[7].litellm_params.rpm',
      'router_settings.enable_pre_call_checks',
      'general_settings.store_model_in_db',
      'general_settings.proxy_batch_write_at',
    ],
  },
  'china_domestic_free_sources.yaml': {
    yaml: `
model_list:
  - model_name: qwen
    litellm_params: { model: silicon/Qwen/Qwen2.5, api_key: os.environ/SILICON_API_KEY, api_base: https://silicon.example/v1 }
  - model_name: glm
    litellm_params: { model: zai/glm-4-flash, api_key: os.environ/ZHIPU_API_KEY, api_base: https://open.example/api/v4 }
router_settings: { num_retries: 3, timeout: 60, fallbacks: [{ qwen: [glm] }, { glm: [qwen] }] }
general_settings: { port: 4001, host: 127.0.0.1 }
litellm_settings: { return_response_headers: true, cache: true, cache_params: { type: local, ttl: 300 } }`,
    providers: ['silicon', 'zai'],
    groups: ['qwen', 'glm'],
    notes: [
      'model_list[0].litellm_params.api_base',
      'litellm_settings.return_response_headers',
      'litellm_settings.cache',
      'litellm_settings.cache_params',
    ],
  },
  'websearch_interception_config.yaml': {
    yaml: `
model_list: [{ model_name: claude, litellm_params: { model: bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0 } }]
search_tools: [{ search_tool_name: mine, litellm_params: { search_provider: perplexity } }]
litellm_settings: { success_callback: [websearch_interception] }`,
    providers: ['bedrock'],
    groups: ['claude'],
    notes: ['litellm_settings.success_callback', 'search_tools'],
  },
}

describe('an example of LiteLLM', () => {
  it.each(Object.entries(examples))('%s is carried over, and is right', async (_name, { yaml, ...expected }) => {
    const { config, notes } = convert(yaml)
    const given = (config.providers ?? []) as { id?: string; type: string }[]
    expect({
      providers: given.map(({ id, type }) => id ?? type),
      groups: Object.keys(config.routing?.groups ?? {}),
      notes: notes.map(({ path }) => path),
    }).toEqual(expected)
    await check(config)
  })
})

describe('a deployment', () => {
  it.each([
    ['gpt-4o', {}, { type: 'openai', apiKey: '${OPENAI_API_KEY}', models: ['gpt-4o'] }],
    ['claude-opus-4-5', {}, { type: 'anthropic', apiKey: '${ANTHROPIC_API_KEY}', models: ['claude-opus-4-5'] }],
    [
      'anthropic/claude-opus-4-5',
      { api_key: 'k', api_base: 'https://a.example/v1/messages' },
      { type: 'anthropic', apiKey: 'k', baseURL: 'https://a.example', models: ['claude-opus-4-5'] },
    ],
    ['gemini/gemini-2.5-pro', {}, { type: 'google', apiKey: '${GEMINI_API_KEY}', models: ['gemini-2.5-pro'] }],
    ['groq/llama-3.3', {}, { type: 'groq', apiKey: '${GROQ_API_KEY}', models: ['llama-3.3'] }],
    ['xai/grok-4', { api_key: 'os.environ/X' }, { type: 'xai', apiKey: '${X}', models: ['grok-4'] }],
    ['mistral/large', {}, { type: 'mistral', apiKey: '${MISTRAL_API_KEY}', models: ['large'] }],
    ['deepseek/chat', {}, { type: 'deepseek', apiKey: '${DEEPSEEK_API_KEY}', models: ['chat'] }],
    ['openrouter/a/b', {}, { type: 'openrouter', apiKey: '${OPENROUTER_API_KEY}', models: ['a/b'] }],
    ['together_ai/a/b', {}, { id: 'together_ai', type: 'together', apiKey: '${TOGETHERAI_API_KEY}', models: ['a/b'] }],
    [
      'fireworks_ai/llama',
      {},
      {
        ...{ id: 'fireworks_ai', type: 'fireworks', apiKey: '${FIREWORKS_AI_API_KEY}' },
        models: ['accounts/fireworks/models/llama'],
      },
    ],
    [
      'cloudflare/@cf/a/b',
      {},
      {
        ...{ type: 'cloudflare', apiKey: '${CLOUDFLARE_API_KEY}', accountId: '${CLOUDFLARE_ACCOUNT_ID}' },
        models: ['@cf/a/b'],
      },
    ],
    [
      'hosted_vllm/a/b',
      { api_base: 'http://gpu:8000/v1' },
      { id: 'hosted_vllm', type: 'vllm', baseURL: 'http://gpu:8000/v1', models: ['a/b'] },
    ],
    ['ollama_chat/qwen3:8b', {}, { type: 'ollama', models: ['qwen3:8b'] }],
    ['a/b', { custom_llm_provider: 'groq' }, { type: 'groq', apiKey: '${GROQ_API_KEY}', models: ['a/b'] }],
    [
      'azure/dep',
      { api_base: 'os.environ/AZURE_API_BASE', azure_ad_token: 'os.environ/TOKEN', api_version: 'preview' },
      {
        ...{ type: 'azure', token: '${TOKEN}', baseURL: '${AZURE_API_BASE}' },
        ...{ deployments: { m: 'dep' }, models: ['m'] },
      },
    ],
    [
      'bedrock/converse/eu-west-1/anthropic.claude-3-haiku-20240307-v1:0',
      { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_session_token: 'c' },
      {
        ...{ type: 'bedrock', region: 'eu-west-1' },
        credentials: { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' },
        models: ['anthropic.claude-3-haiku-20240307-v1:0'],
      },
    ],
    [
      'bedrock/anthropic.claude-3-haiku-20240307-v1:0',
      { api_key: 'k', model_id: 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1' },
      {
        ...{ type: 'bedrock', region: '${AWS_REGION_NAME:-us-west-2}', apiKey: 'k' },
        profiles: {
          'anthropic.claude-3-haiku-20240307-v1:0':
            'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1',
        },
        models: ['anthropic.claude-3-haiku-20240307-v1:0'],
      },
    ],
    [
      'vertex_ai/claude-opus-4-5@20251101',
      { vertex_project: 'a-project', vertex_location: 'us-east5' },
      {
        ...{ id: 'vertex_ai', type: 'vertex', project: 'a-project', location: 'us-east5' },
        ...{ credentials: '${GOOGLE_APPLICATION_CREDENTIALS}', models: ['claude-opus-4-5@20251101'] },
      },
    ],
  ])('of %s with %o becomes a provider', async (model, params, expected) => {
    const yaml = models(['m', { model, ...params }])
    expect(providersOf(yaml)).toEqual([expected])
    expect(notesOf(yaml)).toEqual([])
    await check(convert(yaml).config)
  })

  it('of Vertex AI may have its key in the file', () => {
    const model = 'vertex_ai/gemini-2.5-pro'
    const key = { client_email: 'me', private_key: 'secret' }
    for (const vertex_credentials of [key, JSON.stringify(key)])
      expect(providersOf(models(['m', { model, vertex_credentials }]))).toMatchObject([{ credentials: key }])
    expect(notesOf(models(['m', { model, vertex_credentials: '{ no JSON' }]))).toEqual([
      'model_list[0].litellm_params.vertex_credentials: it is no JSON',
    ])
  })

  it.each([
    ['cohere/command', {}, 'model: cohere is no provider here'],
    ['some-model', {}, 'model: some-model is no provider here'],
    ['bedrock/amazon.titan-text', {}, 'model: of Bedrock, Claude and the models with the API of OpenAI are served'],
    ['vertex_ai/meta/llama', {}, 'model: of Vertex AI, Gemini and Claude are served'],
    [undefined, {}, 'model: it must be the id of a model'],
  ])('of %s has none', (model, params, note) => {
    const { config, notes } = convert(models(['m', { model, ...params }]))
    expect([config.providers, notes.map(({ path, reason }) => `${path}: ${reason}`)]).toEqual([
      [],
      [`model_list[0].litellm_params.${note}`],
    ])
  })

  it('may take its credentials from the list of the file', () => {
    const yaml = `
credential_list: [{ credential_name: mine, credential_values: { api_key: os.environ/MINE } }]
model_list: [{ model_name: m, litellm_params: { model: gpt-4o, litellm_credential_name: mine } }]`
    expect(providersOf(yaml)).toEqual([{ type: 'openai', apiKey: '${MINE}', models: ['gpt-4o'] }])
    expect(notesOf(yaml)).toEqual([])
  })

  it('has its prices noted as a row of a table', () => {
    const params = { model: 'gpt-4o', input_cost_per_token: 1e-7, output_cost_per_token: 0.0000025 }
    expect(notesOf(models(['m', params]))).toEqual([
      'model_list[0].litellm_params.input_cost_per_token: the setting prices can name a table with ' +
        '{"openai/gpt-4o":{"input":0.1,"output":2.5}}',
    ])
  })
})

describe('deployments', () => {
  it('that serve the same entries have one id, by weight', () => {
    const entry = (api_key: string, weight: number): [string, object] => ['m', { model: 'gpt-4o', api_key, weight }]
    const yaml = models(entry('a', 3), entry('b', 1))
    expect(providersOf(yaml)).toEqual([
      { type: 'openai', apiKey: 'a', weight: 3, models: ['gpt-4o'] },
      { type: 'openai', apiKey: 'b', weight: 1, models: ['gpt-4o'] },
    ])
    expect(groupsOf(yaml)).toEqual({ m: ['openai/gpt-4o'] })
  })

  it('that serve others have ids of their own, which prices need', () => {
    const yaml = models(
      ['m', { model: 'gpt-4o', api_key: 'a' }],
      ['m', { model: 'gpt-4o', api_key: 'b' }],
      ['other', { model: 'gpt-4.1', api_key: 'b' }],
    )
    expect(groupsOf(yaml)).toEqual({
      m: [
        { model: 'openai/gpt-4o', weight: 1 },
        { model: 'openai-2/gpt-4o', weight: 1 },
      ],
      other: ['openai-2/gpt-4.1'],
    })
    expect(notesOf(yaml)).toEqual([
      'model_list[1].litellm_params: its provider is openai-2, by which a table of prices must have its models',
    ])
  })

  it('share by the first of weight, rpm and tpm that one has; the others are for what these cannot serve', () => {
    const yaml = models(
      ['m', { model: 'groq/a', rpm: 10, tpm: 1 }],
      ['m', { model: 'xai/b', rpm: 30 }],
      ['m', { model: 'mistral/c', tpm: 1000 }],
    )
    expect(groupsOf(yaml)).toEqual({
      m: [{ model: 'groq/a', weight: 10 }, { model: 'xai/b', weight: 30 }, 'mistral/c'],
    })
    expect(providersOf(yaml)).toMatchObject([
      { requestsPerMinute: 10, tokensPerMinute: 1 },
      { requestsPerMinute: 30 },
      { tokensPerMinute: 1000 },
    ])
  })

  it('of a lower order are asked first', () => {
    const of = (model: string, order?: number): [string, object] => ['m', { model, ...(order && { order }) }]
    expect(groupsOf(models(of('groq/c'), of('groq/b', 2), of('xai/b', 2), of('groq/a', 1)))).toEqual({
      m: ['groq/a', { model: 'groq/b', weight: 1 }, { model: 'xai/b', weight: 1 }, 'groq/c'],
    })
  })

  it('with one model of Azure under two names at one resource are two providers', () => {
    const azure = { api_base: 'https://a.openai.azure.com', api_key: 'k' }
    const yaml = models(['m', { model: 'azure/one', ...azure }], ['m', { model: 'azure/two', ...azure }])
    expect(providersOf(yaml)).toMatchObject([{ deployments: { m: 'one' } }, { deployments: { m: 'two' } }])
    expect(groupsOf(yaml)).toEqual({ m: ['azure/m'] })
  })

  it('have limits that are of one entry alone', () => {
    const yaml = models(['m', { model: 'groq/a', rpm: 10 }], ['other', { model: 'groq/b' }])
    expect(providersOf(yaml)).toEqual([{ type: 'groq', apiKey: '${GROQ_API_KEY}', models: ['a', 'b'] }])
    expect(notesOf(yaml)).toEqual([
      'model_list[0].litellm_params.rpm: limits are of a provider, and this key and address serve other entries, too',
    ])
  })

  it.each([
    [{ rpm: 0 }, 'rpm: it must be a whole number of at least 1'],
    [{ tpm: 'many' }, 'tpm: it must be a whole number of at least 1'],
    [{ weight: -1 }, 'weight: it must be a number of at least 0'],
    [{ api_key: { a: 1 } }, 'api_key: it must be a text'],
  ])('with %o have that noted', (params, note) => {
    expect(notesOf(models(['m', { model: 'ollama/a', ...params }]))).toEqual([`model_list[0].litellm_params.${note}`])
  })
})

const two =
  'model_list: [{ model_name: a, litellm_params: { model: groq/a } }, { model_name: b, litellm_params: { model: xai/b }, model_info: { id: the-b } }, { model_name: "mistral/*", litellm_params: { model: "mistral/*" } }]\n'

describe('fallbacks', () => {
  it.each([
    ['router_settings: { fallbacks: [{ a: [b] }] }', { a: ['groq/a', 'xai/b'], b: ['xai/b'] }],
    ['litellm_settings: { fallbacks: [{ a: [the-b] }] }', { a: ['groq/a', 'xai/b'], b: ['xai/b'] }],
    ['router_settings: { fallbacks: [{ a: [mistral/c, b] }] }', { a: ['groq/a', 'mistral/c', 'xai/b'], b: ['xai/b'] }],
    [
      'router_settings: { fallbacks: [{ mistral/c: [a] }] }',
      { a: ['groq/a'], b: ['xai/b'], 'mistral/c': ['mistral/c', 'groq/a'] },
    ],
    ['router_settings: { default_fallbacks: [b] }', { a: ['groq/a', 'xai/b'], b: ['xai/b'] }],
    ['router_settings: { model_group_alias: { c: a } }', { a: ['groq/a'], b: ['xai/b'], c: ['groq/a'] }],
    [
      'router_settings: { context_window_fallbacks: [{ a: [b] }], content_policy_fallbacks: [{ a: [mistral/c] }] }',
      { a: { models: ['groq/a'], contextFallback: 'xai/b', contentFallback: 'mistral/c' }, b: ['xai/b'] },
    ],
  ])('%s', async (settings, groups) => {
    expect(groupsOf(two + settings)).toEqual(groups)
    expect(notesOf(two + settings)).toEqual([])
    await check(convert(two + settings).config)
  })

  it.each([
    [
      'router_settings: { fallbacks: [{ a: [c] }] }',
      'router_settings.fallbacks[0].a: "c" is no model of this file that is carried over',
    ],
    ['router_settings: { fallbacks: [{ "*": [b] }] }', 'router_settings.fallbacks[0].*: default_fallbacks is read'],
    [
      'router_settings: { fallbacks: [a] }',
      'router_settings.fallbacks[0]: it must have lists of models by the names of models',
    ],
    [
      'router_settings: { context_window_fallbacks: [{ a: [b, mistral/c] }] }',
      'router_settings.context_window_fallbacks[0].a: only one model is tried: xai/b',
    ],
    [
      'router_settings: { model_group_alias: { c: { model: a, hidden: true } } }',
      'router_settings.model_group_alias.c: it is listed, too',
    ],
  ])('%s is noted', (settings, note) => {
    expect(notesOf(two + settings)).toEqual([note])
  })
})

describe('settings', () => {
  const one = 'model_list: [{ model_name: m, litellm_params: { model: ollama/a } }]\n'

  it.each([
    [
      'router_settings: { num_retries: 2, allowed_fails: 3, cooldown_time: 1.5 }',
      { routing: { retries: 2, failures: 4, restMs: 1500 } },
    ],
    [
      'litellm_settings: { num_retries: 2, request_timeout: 60, stream_timeout: 0.0001 }',
      { routing: { retries: 2 }, gateway: { wholeAnswerMs: 60_000, firstEventMs: 1 } },
    ],
    ['router_settings: { redis_host: a.example, redis_password: "a/b" }', { store: 'redis://:a%2Fb@a.example:6379' }],
    [
      'router_settings: { redis_host: os.environ/H, redis_port: 1, redis_password: os.environ/P, redis_ssl: true }',
      { store: 'rediss://:${P}@${H}:1' },
    ],
    ['router_settings: { redis_url: redis://a.example }', { store: 'redis://a.example' }],
    [
      'general_settings: { global_max_parallel_requests: 50, host: 0.0.0.0, port: 80 }',
      { gateway: { maxInFlight: 50 }, server: { host: '0.0.0.0', port: 80 } },
    ],
    [
      'litellm_settings: { drop_params: true, set_verbose: false }\nrouter_settings: { routing_strategy: simple-shuffle }',
      { prices: 'litellm', server: { port: 4000 } },
    ],
  ])('%s is carried over', (settings, expected) => {
    expect(convert(one + settings).config).toMatchObject(expected)
    expect(notesOf(one + settings)).toEqual([])
  })

  it.each([
    ['litellm_settings: { drop_params: false }', 'litellm_settings.drop_params'],
    ['router_settings: { timeout: 100000 }', 'router_settings.timeout'],
    ['router_settings: { num_retries: 1 }\nlitellm_settings: { num_retries: 2 }', 'litellm_settings.num_retries'],
    ['router_settings: { never_heard_of: 1 }', 'router_settings.never_heard_of'],
    ['general_settings: { database_url: "mysql://a" }', 'general_settings.database_url'],
    ['general_settings: []', 'general_settings'],
    ['mcp_servers: {}', 'mcp_servers'],
    ['environment_variables: { A: b }', 'environment_variables.A'],
  ])('%s is noted', (settings, path) => {
    expect(convert(one + settings).notes.map((note) => note.path)).toEqual([path])
  })

  it('have the database as the store, and the key of operators', async () => {
    const yaml = `${one}general_settings: { master_key: os.environ/MASTER, database_url: os.environ/DATABASE_URL }\nrouter_settings: { redis_host: a }`
    const { config, notes } = convert(yaml)
    expect(await check(config)).toMatchObject({
      store: 'postgres://db.example/turnpike',
      admin: { token: 'a-value-of-a-variable' },
    })
    expect(notes.map(({ path }) => path)).toEqual([
      'general_settings.master_key',
      'general_settings.database_url',
      'router_settings.redis_host',
    ])
  })

  it('keep what looks like a variable here, and take those of the file', async () => {
    const yaml = `
environment_variables: { A: "from the file", B: "with }" }
model_list:
  - { model_name: m, litellm_params: { model: openai/m, api_base: "http://a/\${C}", api_key: os.environ/A } }
  - { model_name: other, litellm_params: { model: openai/n, api_base: http://b, api_key: os.environ/B } }`
    expect(providersOf(yaml)).toMatchObject([
      { apiKey: '${A:-from the file}', baseURL: 'http://a/$${C}' },
      { apiKey: 'with }' },
    ])
  })
})

it.each([undefined, null, 1, [], {}, { model_list: 1 }, { model_list: [null, 1, {}] }])(
  'nothing comes of %o',
  (value) => {
    expect(fromLitellm(value).config.providers).toEqual([])
  },
)
