import { unitsOf } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { chunk, decodeChoices, finish, head } from '../../../../test/support/decode.js'
import { openaiChat } from './chat.js'
import { streamDecoder } from './stream.js'

const counts = { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 }

/** What a compatible server reports, beside `choices`, and what it is charged as. */
const cases: [server: string, body: object, units: object][] = [
  ['Kimi, Together', { usage: { ...counts, cached_tokens: 900 } }, { cache_read: 900, input: 100, output: 50 }],
  [
    'zeros in the standard place',
    { usage: { ...counts, cached_tokens: 900, prompt_tokens_details: { cached_tokens: 0 } } },
    { cache_read: 900, input: 100, output: 50 },
  ],
  [
    'DeepSeek',
    { usage: { ...counts, prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 } },
    { cache_read: 600, input: 400, output: 50 },
  ],
  [
    'DeepSeek without a sum',
    { usage: { completion_tokens: 50, prompt_cache_hit_tokens: 600, prompt_cache_miss_tokens: 400 } },
    { cache_read: 600, input: 400, output: 50 },
  ],
  ['Mistral', { usage: { ...counts, num_cached_tokens: 640 } }, { cache_read: 640, input: 360, output: 50 }],
  [
    'Mistral, in details of its own name',
    { usage: { ...counts, prompt_token_details: { cached_tokens: 640 } } },
    { cache_read: 640, input: 360, output: 50 },
  ],
  [
    'Zhipu, vLLM, Groq, Azure, MiniMax',
    { usage: { ...counts, prompt_tokens_details: { cached_tokens: 128 } } },
    { cache_read: 128, input: 872, output: 50 },
  ],
  [
    'Qwen',
    { usage: { ...counts, prompt_tokens_details: { cached_tokens: 200, cache_creation_input_tokens: 300 } } },
    { cache_read: 200, cache_write: 300, input: 500, output: 50 },
  ],
  [
    'OpenRouter',
    {
      usage: {
        ...counts,
        prompt_tokens_details: { cached_tokens: 200, cache_write_tokens: 300 },
        completion_tokens_details: { reasoning_tokens: 20 },
        cost: 0.1,
      },
    },
    { cache_read: 200, cache_write: 300, input: 500, reasoning: 20, output: 30 },
  ],
  [
    'LiteLLM',
    { usage: { ...counts, prompt_tokens_details: { cached_tokens: 200, cache_creation_tokens: 300 } } },
    { cache_read: 200, cache_write: 300, input: 500, output: 50 },
  ],
  [
    'LiteLLM, for an hour',
    {
      usage: {
        ...counts,
        prompt_tokens_details: {
          cached_tokens: 200,
          cache_creation_tokens: 300,
          cache_creation_token_details: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        },
      },
    },
    { cache_read: 200, cache_write_1h: 200, cache_write: 100, input: 500, output: 50 },
  ],
  [
    "Claude's counts by life time through another server",
    {
      usage: {
        ...counts,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 300 },
      },
    },
    { cache_write_1h: 300, input: 700, output: 50 },
  ],
  [
    'Claude through a server that leaves the cache out of the prompt',
    { usage: { ...counts, cache_read_input_tokens: 4000, cache_creation_input_tokens: 300 } },
    { cache_read: 4000, cache_write: 300, input: 1000, output: 50 },
  ],
  [
    'a prompt without the cached part, by the total',
    { usage: { ...counts, total_tokens: 1750, cache_read_input_tokens: 400, cache_creation_input_tokens: 300 } },
    { cache_read: 400, cache_write: 300, input: 1000, output: 50 },
  ],
  [
    'a prompt with the cached part, and reasoning in the total only',
    {
      usage: {
        ...counts,
        total_tokens: 1450,
        prompt_tokens_details: { cached_tokens: 400 },
        completion_tokens_details: { reasoning_tokens: 400 },
      },
    },
    { cache_read: 400, input: 600, reasoning: 400, output: 50 },
  ],
  [
    'xAI: a prompt without the cached part, and reasoning in the total only',
    {
      usage: {
        prompt_tokens: 12,
        completion_tokens: 1,
        total_tokens: 4149,
        prompt_tokens_details: { cached_tokens: 4000 },
        completion_tokens_details: { reasoning_tokens: 136 },
      },
    },
    { cache_read: 4000, input: 12, reasoning: 136, output: 1 },
  ],
  ['SGLang', { usage: { ...counts, reasoning_tokens: 30 } }, { input: 1000, reasoning: 30, output: 20 }],
  [
    'Perplexity',
    { usage: { ...counts, citation_tokens: 5000, num_search_queries: 3, reasoning_tokens: 700 } },
    { input: 6000, reasoning: 700, output: 50 },
  ],
  [
    'sound at Mistral, in the total alone',
    { usage: { ...counts, total_tokens: 3_675, prompt_audio_seconds: 203 } },
    { input: 1000, input_audio: 2_625, output: 50 },
  ],
  ['sound at Mistral, in the prompt', { usage: { ...counts, prompt_audio_seconds: 203 } }, { input: 1000, output: 50 }],
  [
    "Gemini through Google's compatible API",
    { model: 'gemini-3.5-flash', usage: { ...counts, total_tokens: 1350 } },
    { input: 1000, reasoning: 300, output: 50 },
  ],
  [
    'a server with the names of Responses',
    {
      usage: {
        input_tokens: 1000,
        output_tokens: 50,
        input_tokens_details: { cached_tokens: 700 },
        output_tokens_details: { reasoning_tokens: 40 },
      },
    },
    { cache_read: 700, input: 300, reasoning: 40, output: 10 },
  ],
  ['Groq', { x_groq: { id: 'req_1', usage: counts } }, { input: 1000, output: 50 }],
  [
    'llama.cpp',
    { usage: counts, timings: { cache_n: 990, prompt_n: 10, predicted_n: 50 } },
    { cache_read: 990, input: 10, output: 50 },
  ],
  [
    'llama.cpp without usage',
    { timings: { cache_n: 990, prompt_n: 10, predicted_n: 50 } },
    { cache_read: 990, input: 10, output: 50 },
  ],
]

describe('usage of a compatible server', () => {
  it.each(cases)('%s', async (_, body, units) => {
    const message = { role: 'assistant', content: 'a' }
    const whole = openaiChat('x').response(
      { choices: [{ message, finish_reason: 'stop' }], ...body },
      { model: 'm', messages: [] },
    )
    expect(unitsOf(whole.usage!)).toEqual(units)

    const streamed = streamDecoder('x', 'm')
    await decodeChoices(streamed, [chunk({ content: 'a' }), finish(), { ...head, choices: [], ...body }, '[DONE]'])
    expect(unitsOf(streamed.usage()!)).toEqual(units)
  })

  const reported = async (...chunks: object[]) => {
    const streamed = streamDecoder('x', 'm')
    await decodeChoices(streamed, [chunk({ content: 'a' }), ...chunks, '[DONE]'])
    return streamed.usage()
  }

  it('is read from the choice of a whole answer', () => {
    const choice = { message: { role: 'assistant', content: 'a' }, finish_reason: 'stop', usage: counts }
    expect(openaiChat('x').usage({ choices: [choice] })).toMatchObject(counts)
  })

  it.each<[string, object[]]>([
    ['in a chunk before the last', [{ ...chunk({ content: 'b' }), usage: counts }, finish()]],
    ['in a chunk without choices', [finish(), { usage: counts }]],
    [
      'in each chunk, growing',
      [
        { ...chunk({ content: 'b' }), usage: { prompt_tokens: 1000 } },
        { ...finish(), usage: counts },
      ],
    ],
    [
      'and then as zeros',
      [
        { ...finish(), usage: counts },
        { ...head, choices: [], usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 } },
      ],
    ],
    [
      'in part, and then the rest beside zeros',
      [
        { ...chunk({ content: 'b' }), usage: { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 } },
        { ...finish(), usage: { prompt_tokens: 0, completion_tokens: 50, total_tokens: 50 } },
      ],
    ],
    [
      'with a larger prompt, and then the whole of a smaller one',
      [
        { ...chunk({ content: 'b' }), usage: { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000 } },
        { ...finish(), usage: { prompt_tokens: 900, completion_tokens: 50, total_tokens: 950 } },
      ],
    ],
  ])('is read %s', async (_, chunks) => expect(await reported(...chunks)).toEqual(counts))

  it('keeps what was cached, where the last report has only the sums (A3)', async () => {
    const details = { prompt_tokens_details: { cached_tokens: 900 } }
    const usage = await reported(
      { ...finish(), usage: { ...counts, ...details } },
      { ...head, choices: [], usage: counts },
    )
    expect(unitsOf(usage!)).toEqual({ cache_read: 900, input: 100, output: 50 })
  })
})
