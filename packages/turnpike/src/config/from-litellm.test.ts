import { describe, expect, it } from 'vitest'
import { fromLitellm } from './from-litellm.js'
import { check, convert, groupsOf, notesOf, providersOf } from '../../../../test/support/litellm.js'

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
    ['litellm_settings: { model_alias_map: { c: a } }', { a: ['groq/a'], b: ['xai/b'], c: ['groq/a'] }],
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
    ['router_settings: { redis_port: 1 }', 'router_settings.redis_port'],
    ['router_settings: { redis_url: "redis://a", redis_host: b }', 'router_settings.redis_host'],
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
