import { describe, expect, it } from 'vitest'
import { check, convert } from '../../../../test/support/litellm.js'

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
    notes: [],
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
