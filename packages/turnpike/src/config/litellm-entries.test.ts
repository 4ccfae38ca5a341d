import { describe, expect, it } from 'vitest'
import { check, convert, groupsOf, models, notesOf, providersOf } from '../../../../test/support/litellm.js'

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
        id: 'fireworks_ai',
        type: 'fireworks',
        apiKey: '${FIREWORKS_AI_API_KEY}',
        models: ['accounts/fireworks/models/llama'],
      },
    ],
    [
      'cloudflare/@cf/a/b',
      {},
      {
        type: 'cloudflare',
        apiKey: '${CLOUDFLARE_API_KEY}',
        accountId: '${CLOUDFLARE_ACCOUNT_ID}',
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
        type: 'azure',
        token: '${TOKEN}',
        baseURL: '${AZURE_API_BASE}',
        deployments: { m: 'dep' },
        models: ['m'],
      },
    ],
    [
      'bedrock/converse/eu-west-1/anthropic.claude-3-haiku-20240307-v1:0',
      { aws_access_key_id: 'a', aws_secret_access_key: 'b', aws_session_token: 'c' },
      {
        type: 'bedrock',
        region: 'eu-west-1',
        credentials: { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' },
        models: ['anthropic.claude-3-haiku-20240307-v1:0'],
      },
    ],
    [
      'bedrock/anthropic.claude-3-haiku-20240307-v1:0',
      { api_key: 'k', model_id: 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1' },
      {
        type: 'bedrock',
        region: '${AWS_REGION_NAME:-us-west-2}',
        apiKey: 'k',
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
        id: 'vertex_ai',
        type: 'vertex',
        project: 'a-project',
        location: 'us-east5',
        credentials: '${GOOGLE_APPLICATION_CREDENTIALS}',
        models: ['claude-opus-4-5@20251101'],
      },
    ],
  ])('of %s with %o becomes a provider', async (model, params, expected) => {
    const yaml = models(['m', { model, ...params }])
    expect(providersOf(yaml)).toEqual([expected])
    expect(notesOf(yaml)).toEqual([])
    await check(convert(yaml).config)
  })

  it('of another server gets no key of OpenAI', () => {
    const yaml = models(['m', { model: 'openai/a', api_base: 'http://gpu:8000/v1' }])
    expect(providersOf(yaml)).toEqual([{ type: 'openai', baseURL: 'http://gpu:8000/v1', models: ['a'] }])
    expect(notesOf(yaml)).toEqual(['model_list[0].litellm_params.api_key: without one, none is sent to this address'])
  })

  it('has what another setting replaces noted', () => {
    const yaml = `
model_list:
  - model_name: m
    litellm_params: { model: bedrock/anthropic.claude-3, api_key: k, aws_access_key_id: a, aws_secret_access_key: b }
    model_info: { base_model: claude-3 }`
    expect(notesOf(yaml)).toEqual([
      'model_list[0].litellm_params.aws_access_key_id: api_key takes its place',
      'model_list[0].model_info.base_model: it is read for Azure alone',
    ])
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

  it('of which several are asked after several others have an order there, which is noted', () => {
    const yaml = models(
      ['m', { model: 'groq/a', weight: 2, rpm: 1 }],
      ['m', { model: 'xai/b', weight: 1, rpm: 9 }],
      ['m', { model: 'groq/c' }],
      ['m', { model: 'xai/d' }],
    )
    expect(groupsOf(yaml)).toEqual({
      m: [{ model: 'groq/a', weight: 2 }, { model: 'xai/b', weight: 1 }, 'groq/c', 'xai/d'],
    })
    expect(notesOf(yaml)).toContain(
      'model_list: those of m that are asked after the first have an order, and no weights',
    )
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
