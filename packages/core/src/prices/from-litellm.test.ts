import { describe, expect, it } from 'vitest'
import { fromLitellm } from './from-litellm.js'

const openai = { litellm_provider: 'openai', mode: 'chat' }

describe('prices of litellm', () => {
  it('use the names and units of Turnpike', () => {
    const row = {
      litellm_provider: 'anthropic',
      mode: 'chat',
      max_input_tokens: 200_000,
      supports_vision: true,
      input_cost_per_token: 1.5e-7,
      input_cost_per_audio_token: 1e-6,
      input_cost_per_image_token: 5.5e-7,
      cache_read_input_token_cost: 1.5e-8,
      cache_creation_input_token_cost: 1.875e-7,
      cache_creation_input_token_cost_above_1hr: 3e-7,
      output_cost_per_token: 6e-7,
      output_cost_per_reasoning_token: 7e-7,
      output_cost_per_audio_token: 2.25e-5,
      output_cost_per_image_token: 0.00003,
      input_cost_per_token_priority: 3e-7,
      output_cost_per_image: null,
      input_cost_per_token_above_128k_tokens: null,
    }
    expect(fromLitellm({ 'claude-x': row })).toEqual({
      rows: {
        'anthropic/claude-x': {
          input: 0.15,
          input_audio: 1,
          input_image: 0.55,
          cache_read: 0.015,
          cache_write: 0.1875,
          cache_write_1h: 0.3,
          output: 0.6,
          reasoning: 0.7,
          output_audio: 22.5,
          output_image: 30,
          service_tiers: { priority: { input: 0.3 } },
        },
      },
      rejected: [],
    })
  })

  it('are exact where a product of floats is not', () => {
    expect(1.7e-7 * 1e6).not.toBe(0.17)
    const { rows } = fromLitellm({ x: { ...openai, input_cost_per_token: 1.7e-7 } })
    expect(rows).toEqual({ 'openai/x': { input: 0.17 } })
  })

  it('have tiers by prompt size', () => {
    const row = {
      ...openai,
      input_cost_per_token: 1.25e-6,
      output_cost_per_token: 1e-5,
      input_cost_per_token_above_128k_tokens: 2e-6,
      input_cost_per_token_above_272k_tokens: 2.5e-6,
      output_cost_per_token_above_272k_tokens: 1.5e-5,
      cache_creation_input_token_cost_above_1hr_above_272k_tokens: 1e-5,
      input_cost_per_token_above_272k_tokens_priority: 9e-6,
    }
    expect(fromLitellm({ x: row }).rows).toEqual({
      'openai/x': {
        input: 1.25,
        output: 10,
        tiers: [
          { above: 128_000, input: 2 },
          { above: 272_000, input: 2.5, output: 15, cache_write_1h: 10 },
        ],
      },
    })
  })

  it('have service tiers, with tiers of their own', () => {
    const row = {
      ...openai,
      input_cost_per_token: 2e-6,
      output_cost_per_token: 8e-6,
      input_cost_per_token_flex: 1e-6,
      output_cost_per_token_flex: 4e-6,
      cache_read_input_token_cost_priority: 1e-6,
      input_cost_per_token_priority: 4e-6,
      input_cost_per_token_above_272k_tokens_priority: 5e-6,
    }
    expect(fromLitellm({ x: row }).rows['openai/x']).toEqual({
      input: 2,
      output: 8,
      service_tiers: {
        flex: { input: 1, output: 4 },
        priority: { cache_read: 1, input: 4, tiers: [{ above: 272_000, input: 5 }] },
      },
    })
  })

  it('use the provider ids of Turnpike', () => {
    const cost = { input_cost_per_token: 1e-6 }
    const rows = {
      'gemini/gemini-x': { litellm_provider: 'gemini', ...cost },
      'gpt-x': { ...openai, ...cost },
      'openai/gpt-y': { ...openai, ...cost },
      'groq/org/llama': { litellm_provider: 'groq', ...cost },
      'gemini-x': { litellm_provider: 'vertex_ai', ...cost },
      constructor: { litellm_provider: 'acme', ...cost },
      sample_spec: { litellm_provider: 'one of the names', ...cost },
      lonely: cost,
      none: null,
    }
    const imported = fromLitellm(rows)
    expect(Object.keys(imported.rows)).toEqual([
      'google/gemini-x',
      'openai/gpt-x',
      'openai/gpt-y',
      'groq/org/llama',
      'vertex_ai/gemini-x',
      'acme/constructor',
    ])
    expect(imported.rejected).toEqual([])
  })

  it.each<[string, object, object]>([
    ['characters', { mode: 'audio_speech', input_cost_per_character: 1.5e-5 }, { characters: 15 }],
    [
      'seconds once',
      { mode: 'audio_transcription', input_cost_per_second: 0.0001, output_cost_per_second: 0.0001 },
      { seconds: 100 },
    ],
    [
      'seconds that are told of one side',
      { mode: 'audio_transcription', input_cost_per_second: 0, output_cost_per_second: 3.083e-5 },
      { seconds: 30.83 },
    ],
    ['seconds that are free', { mode: 'audio_transcription', input_cost_per_second: 0 }, { seconds: 0 }],
    ['images', { mode: 'image_generation', output_cost_per_image: 0.04 }, { images: 40_000 }],
    ['images in older words', { mode: 'image_generation', input_cost_per_image: 0.04 }, { images: 40_000 }],
    [
      'tokens, and not the images that they come to',
      { mode: 'image_generation', output_cost_per_image: 0.039, output_cost_per_image_token: 3e-5 },
      { output_image: 30 },
    ],
    [
      'images where tokens are free',
      { mode: 'image_generation', output_cost_per_image: 0.04, input_cost_per_token: 0 },
      { images: 40_000, input: 0 },
    ],
    [
      'tokens of a chat, whatever it says of seconds',
      { mode: 'chat', input_cost_per_token: 1e-6, input_cost_per_second: 0.1, input_cost_per_character: 1e-6 },
      { input: 1 },
    ],
  ])('charge %s', (_, fields, price) => {
    expect(fromLitellm({ x: { ...openai, ...fields } })).toEqual({ rows: { 'openai/x': price }, rejected: [] })
  })

  it('threat 198: are none for models that choose another one, where a table has zeros', () => {
    const row = (provider: string) => ({
      litellm_provider: provider,
      input_cost_per_token: 0,
      output_cost_per_token: 0,
    })
    const { rows, rejected } = fromLitellm({
      'openrouter/openrouter/auto': row('openrouter'),
      'azure_ai/model_router': row('azure_ai'),
      'openrouter/meta/llama:free': row('openrouter'),
      'ollama/llama3': row('ollama'),
    })
    expect(Object.keys(rows)).toEqual(['openrouter/meta/llama:free', 'ollama/llama3'])
    expect(rejected.map(({ model }) => model)).toEqual(['openrouter/openrouter/auto', 'azure_ai/model_router'])
  })

  it('threat 198: are none for a model whose images cost more by size and quality', () => {
    const row = { litellm_provider: 'openai', mode: 'image_generation', input_cost_per_image: 0.04 }
    const { rows, rejected } = fromLitellm({ 'dall-e-3': row, 'dall-e-2': row })
    expect(Object.keys(rows)).toEqual(['openai/dall-e-2'])
    expect(rejected.map(({ model }) => model)).toEqual(['openai/dall-e-3'])
  })

  it('are imported row by row', () => {
    const { rows, rejected } = fromLitellm({
      good: { ...openai, input_cost_per_token: 1e-6 },
      absurd: { ...openai, input_cost_per_token: 0.135 },
      text: { ...openai, input_cost_per_token: '1e-6' },
      pixels: { ...openai, mode: 'image_generation', input_cost_per_pixel: 1.9e-8 },
      video: { ...openai, mode: 'video_generation', output_cost_per_second: 0.5 },
      constructor: { ...openai, mode: 'constructor', toString: 1 },
    })
    expect(rows).toEqual({ 'openai/good': { input: 1 } })
    expect(rejected).toEqual([
      { model: 'openai/absurd', reason: 'input is 135000; expected US dollars per million, 0 to 2000' },
      { model: 'openai/text', reason: 'input is 1e-6; expected US dollars per million, 0 to 2000' },
      { model: 'openai/pixels', reason: 'there are no rates' },
      { model: 'openai/video', reason: 'there are no rates' },
      { model: 'openai/constructor', reason: 'there are no rates' },
    ])
  })

  it.each([null, 'no', [], { x: null }])('are not read from %j', (json) => {
    expect(fromLitellm(json)).toEqual({ rows: {}, rejected: [] })
  })
})
