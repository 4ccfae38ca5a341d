import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { check, convert, models, notesOf, providersOf } from '../../../../test/support/litellm.js'

describe('a deployment', () => {
  const entry = (params: object, info: object = {}): string =>
    stringify({
      model_list: [{ model_name: 'm', litellm_params: { model: 'gpt-4o', api_key: 'k', ...params }, model_info: info }],
    })

  it.each<[what: string, params: object, info: object, own: object]>([
    [
      'prices',
      { input_cost_per_token: 1e-7, output_cost_per_token: '2.5e-6', cache_read_input_token_cost: 5e-8 },
      {},
      { price: { input: 0.1, output: 2.5, cache_read: 0.05 } },
    ],
    [
      'prices of long prompts and tiers',
      {},
      {
        input_cost_per_token: 2e-6,
        output_cost_per_token: 8e-6,
        input_cost_per_token_above_200k_tokens: 4e-6,
        input_cost_per_token_flex: 1e-6,
      },
      {
        price: {
          input: 2,
          output: 8,
          tiers: [{ above: 200_000, input: 4 }],
          service_tiers: { flex: { input: 1 } },
        },
      },
    ],
    [
      'a price by the second',
      { input_cost_per_second: 1e-4 },
      { mode: 'audio_transcription' },
      { price: { seconds: 100 }, capabilities: ['transcription'] },
    ],
    [
      'limits',
      {},
      { max_input_tokens: 100_000, max_output_tokens: 4_000 },
      { contextWindow: 100_000, maxOutput: 4_000 },
    ],
    ['its kind', {}, { mode: 'embedding' }, { capabilities: ['embeddings'] }],
    [
      'what it can do',
      {},
      {
        mode: 'chat',
        supports_function_calling: true,
        supports_vision: false,
        supports_response_schema: true,
        supports_reasoning: false,
      },
      { capabilities: ['chat', 'tools', 'json_schema'] },
    ],
  ])('has %s with its model', async (_, params, info, own) => {
    const yaml = entry(params, info)
    expect([providersOf(yaml), notesOf(yaml)]).toEqual([
      [{ type: 'openai', apiKey: 'k', models: [{ id: 'gpt-4o', ...own }] }],
      [],
    ])
    await check(convert(yaml).config)
  })

  it.each<[what: string, params: object, info: object, note: string]>([
    [
      'a price without output',
      { input_cost_per_token: 1e-7 },
      {},
      'litellm_params.input_cost_per_token: add the rates of output to the price: other tables are not asked for the rest',
    ],
    [
      'a price that cannot be',
      { input_cost_per_token: 1 },
      {},
      'litellm_params.input_cost_per_token: input is 1000000; expected US dollars per million, 0 to 2000',
    ],
    [
      'a price by the second of a chat',
      { input_cost_per_second: 1e-4 },
      {},
      'litellm_params.input_cost_per_second: it has no counterpart',
    ],
    [
      'one thing that it can do',
      {},
      { supports_vision: true },
      'model_info.supports_vision: what is not said beside it is taken as not there',
    ],
    [
      'a header of its provider',
      { extra_headers: { Host: 'x' } },
      {},
      'litellm_params.extra_headers.Host: it is sent in any case',
    ],
    [
      'headers in another form',
      { headers: 'x' },
      {},
      'litellm_params.headers: it must have values by the names of headers',
    ],
    [
      'retries that are there twice',
      { num_retries: 1, max_retries: 2 },
      {},
      'litellm_params.max_retries: num_retries is read',
    ],
    [
      'a price of all models',
      { model: 'openai/*', input_cost_per_token: 0 },
      {},
      'litellm_params.model: prices, limits and capabilities are of single models',
    ],
  ])('has %s noted', (_, params, info, note) => {
    expect(notesOf(entry(params, info))).toContain(`model_list[0].${note}`)
  })

  it('has headers, time-outs and retries of its own', async () => {
    const yaml = entry({
      headers: { 'X-One': 'a' },
      extra_headers: { 'X-Two': 'os.environ/TWO' },
      organization: 'org-1',
      timeout: 30,
      stream_timeout: 0.5,
      num_retries: 3,
    })
    expect([providersOf(yaml), notesOf(yaml)]).toEqual([
      [
        {
          type: 'openai',
          apiKey: 'k',
          headers: { 'X-One': 'a', 'X-Two': '${TWO}', 'OpenAI-Organization': 'org-1' },
          retries: 3,
          firstEventMs: 500,
          wholeAnswerMs: 30_000,
          models: ['gpt-4o'],
        },
      ],
      [],
    ])
    await check(convert(yaml).config)
  })

  it('with another price of the same model has another id, and at the same key a note', async () => {
    const yaml = models(
      ['m', { model: 'gpt-4o', api_key: 'a', input_cost_per_token: 1e-6, output_cost_per_token: 1e-6 }],
      ['m', { model: 'gpt-4o', api_key: 'b', input_cost_per_token: 2e-6, output_cost_per_token: 2e-6 }],
      ['n', { model: 'gpt-4o', api_key: 'b', input_cost_per_token: 3e-6, output_cost_per_token: 3e-6 }],
    )
    const at = (input: number) => [{ id: 'gpt-4o', price: { input, output: input } }]
    expect(providersOf(yaml)).toMatchObject([{ models: at(1) }, { id: 'openai-2', models: at(2) }])
    expect(notesOf(yaml)).toContain(
      'model_list[2].model_info: another entry of this provider says another price of its model',
    )
    await check(convert(yaml).config)
  })
})
