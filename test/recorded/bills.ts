import type { Rates, UsageRecord } from '@turnpike/core'

// Whatever is calculated here is calculated by hand, from the numbers of a recording.

/** Primes, so that no class can be charged as another: thousands of them are nano-dollars for a unit. */
export const primes: Rates = {
  input: 2.003,
  input_audio: 3.001,
  input_image: 4.001,
  cache_read: 0.211,
  cache_write: 2.503,
  cache_write_1h: 5.003,
  output: 10.007,
  reasoning: 7.001,
  output_audio: 8.009,
  output_image: 9.001,
  seconds: 100.003,
  images: 40_009,
}

/** What the ledger says of a recording. */
export interface Bill {
  prompt: number
  completion: number
  units: UsageRecord['units']
  /** Nano-dollars at {@link primes}. */
  nano: number
  /** Default `reported`. */
  accuracy?: UsageRecord['accuracy']
}

/** Of each recording that uses anything. */
export const bills: Record<string, Bill> = {
  'anthropic/anthropic-clear-thinking.1.json': {
    prompt: 69,
    completion: 33,
    units: { input: 69, output: 33 },
    nano: 69 * 2_003 + 33 * 10_007,
  },
  'anthropic/anthropic-clear-thinking.1.chunks.txt': {
    prompt: 69,
    completion: 53,
    units: { input: 69, output: 53 },
    nano: 69 * 2_003 + 53 * 10_007,
  },
  'anthropic/anthropic-json-output-format.1.json': {
    prompt: 371,
    completion: 629,
    units: { input: 371, output: 629 },
    nano: 371 * 2_003 + 629 * 10_007,
  },
  'anthropic/anthropic-json-output-format.1.chunks.txt': {
    prompt: 313,
    completion: 305,
    units: { input: 313, output: 305 },
    nano: 313 * 2_003 + 305 * 10_007,
  },
  'anthropic/anthropic-json-tool.1.json': {
    prompt: 1_151,
    completion: 87,
    units: { input: 1_151, output: 87 },
    nano: 1_151 * 2_003 + 87 * 10_007,
  },
  'anthropic/anthropic-json-tool.1.chunks.txt': {
    prompt: 849,
    completion: 47,
    units: { input: 849, output: 47 },
    nano: 849 * 2_003 + 47 * 10_007,
  },
  // 43 at first, and 61 in the end.
  'anthropic/anthropic-message-delta-input-tokens.chunks.txt': {
    prompt: 61,
    completion: 2,
    units: { input: 61, output: 2 },
    nano: 61 * 2_003 + 2 * 10_007,
  },
  'anthropic/anthropic-refusal.json': {
    prompt: 18,
    completion: 5,
    units: { input: 18, output: 5 },
    nano: 18 * 2_003 + 5 * 10_007,
  },
  'anthropic/anthropic-refusal.chunks.txt': {
    prompt: 18,
    completion: 5,
    units: { input: 18, output: 5 },
    nano: 18 * 2_003 + 5 * 10_007,
  },
  'anthropic/anthropic-text.json': {
    prompt: 12,
    completion: 29,
    units: { input: 12, output: 29 },
    nano: 12 * 2_003 + 29 * 10_007,
  },
  'anthropic/anthropic-text.chunks.txt': {
    prompt: 12,
    completion: 30,
    units: { input: 12, output: 30 },
    nano: 12 * 2_003 + 30 * 10_007,
  },
  'anthropic/anthropic-tool-no-args.json': {
    prompt: 602,
    completion: 93,
    units: { input: 602, output: 93 },
    nano: 602 * 2_003 + 93 * 10_007,
  },
  'anthropic/anthropic-tool-no-args.chunks.txt': {
    prompt: 565,
    completion: 48,
    units: { input: 565, output: 48 },
    nano: 565 * 2_003 + 48 * 10_007,
  },
  // What was found is prompt; the searches themselves, two and one, are in no class.
  'anthropic/anthropic-web-search-tool.1.json': {
    prompt: 27_118,
    completion: 600,
    units: { input: 27_118, output: 600 },
    nano: 27_118 * 2_003 + 600 * 10_007,
  },
  'anthropic/anthropic-web-search-tool.1.chunks.txt': {
    prompt: 15_665,
    completion: 795,
    units: { input: 15_665, output: 795 },
    nano: 15_665 * 2_003 + 795 * 10_007,
  },
  'google/google-text.json': {
    prompt: 9,
    completion: 272,
    units: { input: 9, output: 28, reasoning: 244 },
    nano: 9 * 2_003 + 28 * 10_007 + 244 * 7_001,
  },
  'google/google-text.chunks.txt': {
    prompt: 9,
    completion: 208,
    units: { input: 9, output: 23, reasoning: 185 },
    nano: 9 * 2_003 + 23 * 10_007 + 185 * 7_001,
  },
  'google/google-reasoning.json': {
    prompt: 9,
    completion: 311,
    units: { input: 9, output: 29, reasoning: 282 },
    nano: 9 * 2_003 + 29 * 10_007 + 282 * 7_001,
  },
  'google/google-reasoning.chunks.txt': {
    prompt: 9,
    completion: 285,
    units: { input: 9, output: 29, reasoning: 256 },
    nano: 9 * 2_003 + 29 * 10_007 + 256 * 7_001,
  },
  'google/google-reasoning-gemini3.json': {
    prompt: 9,
    completion: 287,
    units: { input: 9, output: 29, reasoning: 258 },
    nano: 9 * 2_003 + 29 * 10_007 + 258 * 7_001,
  },
  'google/google-reasoning-gemini3.chunks.txt': {
    prompt: 9,
    completion: 325,
    units: { input: 9, output: 23, reasoning: 302 },
    nano: 9 * 2_003 + 23 * 10_007 + 302 * 7_001,
  },
  'google/google-tool-call.json': {
    prompt: 29,
    completion: 908,
    units: { input: 29, output: 15, reasoning: 893 },
    nano: 29 * 2_003 + 15 * 10_007 + 893 * 7_001,
  },
  'google/google-tool-call.chunks.txt': {
    prompt: 29,
    completion: 60,
    units: { input: 29, output: 15, reasoning: 45 },
    nano: 29 * 2_003 + 15 * 10_007 + 45 * 7_001,
  },
  'openai/openai-text.json': {
    prompt: 16,
    completion: 363,
    units: { input: 16, output: 363 },
    nano: 16 * 2_003 + 363 * 10_007,
  },
  'openai/openai-text.chunks.txt': {
    prompt: 16,
    completion: 300,
    units: { input: 16, output: 300 },
    nano: 16 * 2_003 + 300 * 10_007,
  },
  // xAI's own `completion_tokens` are the 26 alone, although its total has the thoughts.
  'openai-compatible/xai-tool-call.json': {
    prompt: 307,
    completion: 281,
    units: { input: 63, cache_read: 244, output: 26, reasoning: 255 },
    nano: 63 * 2_003 + 244 * 211 + 26 * 10_007 + 255 * 7_001,
  },
  'openai-compatible/xai-tool-call.chunks.txt': {
    prompt: 307,
    completion: 253,
    units: { input: 1, cache_read: 306, output: 26, reasoning: 227 },
    nano: 1 * 2_003 + 306 * 211 + 26 * 10_007 + 227 * 7_001,
  },
  'openai/openai-embedding.json': { prompt: 12, completion: 0, units: { input: 12 }, nano: 12 * 2_003 },
  // 36.71 are 37 begun.
  'openai/openai-transcription.json': { prompt: 0, completion: 0, units: { seconds: 37 }, nano: 37 * 100_003 },
  // It says nothing of usage. The request has 16 characters, which are 4 tokens, and a picture is taken to have 1,290.
  'openai/openai-image.json': {
    prompt: 4,
    completion: 1_290,
    units: { input: 4, output_image: 1_290, images: 1 },
    nano: 4 * 2_003 + 1_290 * 9_001 + 40_009_000,
    accuracy: 'estimated',
  },
}

/**
 * Recordings whose usage is another, in the vendor's own fields: nearly all classes of those above are zero, behind which a field that
 * is not read would hide.
 */
export const refilled: { of: string[]; usage: Record<string, unknown>; bill: Bill }[] = [
  {
    of: [
      'anthropic/anthropic-text.json',
      'anthropic/anthropic-text.chunks.txt',
      'anthropic/anthropic-web-search-tool.1.json',
      'anthropic/anthropic-web-search-tool.1.chunks.txt',
    ],
    usage: {
      input_tokens: 101,
      cache_creation_input_tokens: 900,
      cache_read_input_tokens: 5_000,
      cache_creation: { ephemeral_5m_input_tokens: 600, ephemeral_1h_input_tokens: 300 },
      output_tokens: 70,
      output_tokens_details: { thinking_tokens: 20 },
      service_tier: 'standard',
    },
    bill: {
      prompt: 6_001,
      completion: 70,
      units: { input: 101, cache_write: 600, cache_write_1h: 300, cache_read: 5_000, output: 50, reasoning: 20 },
      nano: 101 * 2_003 + 600 * 2_503 + 300 * 5_003 + 5_000 * 211 + 50 * 10_007 + 20 * 7_001,
    },
  },
  {
    of: ['openai/openai-text.json', 'openai/openai-text.chunks.txt'],
    usage: {
      prompt_tokens: 2_000,
      completion_tokens: 500,
      total_tokens: 2_500,
      prompt_tokens_details: { cached_tokens: 700, cache_write_tokens: 50, audio_tokens: 110 },
      completion_tokens_details: {
        reasoning_tokens: 130,
        audio_tokens: 120,
        // Of the completion as well, at the rate of the rest.
        accepted_prediction_tokens: 40,
        rejected_prediction_tokens: 30,
      },
    },
    bill: {
      prompt: 2_000,
      completion: 500,
      units: {
        input: 1_140,
        cache_read: 700,
        cache_write: 50,
        input_audio: 110,
        output: 250,
        reasoning: 130,
        output_audio: 120,
      },
      nano: 1_140 * 2_003 + 700 * 211 + 50 * 2_503 + 110 * 3_001 + 250 * 10_007 + 130 * 7_001 + 120 * 8_009,
    },
  },
  {
    of: ['openai-compatible/xai-tool-call.json', 'openai-compatible/xai-tool-call.chunks.txt'],
    usage: {
      prompt_tokens: 2_000,
      completion_tokens: 500,
      total_tokens: 2_630,
      prompt_tokens_details: { text_tokens: 1_700, audio_tokens: 110, image_tokens: 190, cached_tokens: 700 },
      completion_tokens_details: { reasoning_tokens: 130, audio_tokens: 120 },
    },
    bill: {
      prompt: 2_000,
      completion: 630,
      units: {
        input: 1_000,
        cache_read: 700,
        input_audio: 110,
        input_image: 190,
        output: 380,
        reasoning: 130,
        output_audio: 120,
      },
      nano: 1_000 * 2_003 + 700 * 211 + 110 * 3_001 + 190 * 4_001 + 380 * 10_007 + 130 * 7_001 + 120 * 8_009,
    },
  },
  {
    of: ['google/google-text.json', 'google/google-text.chunks.txt'],
    usage: {
      promptTokenCount: 900,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 600 },
        { modality: 'AUDIO', tokenCount: 200 },
        { modality: 'IMAGE', tokenCount: 100 },
      ],
      cachedContentTokenCount: 400,
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 230 },
        { modality: 'AUDIO', tokenCount: 150 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      // What tools gave the model to read is prompt, and not in the 900.
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 70,
      candidatesTokensDetails: [
        { modality: 'TEXT', tokenCount: 20 },
        { modality: 'AUDIO', tokenCount: 30 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      thoughtsTokenCount: 130,
      totalTokenCount: 1_150,
    },
    bill: {
      prompt: 950,
      completion: 200,
      units: {
        input: 420,
        cache_read: 400,
        input_audio: 50,
        input_image: 80,
        output: 20,
        reasoning: 130,
        output_audio: 30,
        output_image: 20,
      },
      nano: 420 * 2_003 + 400 * 211 + 50 * 3_001 + 80 * 4_001 + 20 * 10_007 + 130 * 7_001 + 30 * 8_009 + 20 * 9_001,
    },
  },
  {
    of: ['openai/openai-transcription.json'],
    usage: {
      type: 'tokens',
      input_tokens: 300,
      input_token_details: { text_tokens: 20, audio_tokens: 280 },
      output_tokens: 40,
      total_tokens: 340,
    },
    bill: {
      prompt: 300,
      completion: 40,
      units: { input: 20, input_audio: 280, output: 40 },
      nano: 20 * 2_003 + 280 * 3_001 + 40 * 10_007,
    },
  },
]

/** What a recording costs at the vendor's list price, in nano-dollars; null where the catalogue has no price. */
export const listed: [recording: string, model: string, nano: number | null][] = [
  ['anthropic/anthropic-text.json', 'claude-sonnet-4-5-20250929', 12 * 3_000 + 29 * 15_000],
  ['anthropic/anthropic-text.chunks.txt', 'claude-sonnet-4-5-20250929', 12 * 3_000 + 30 * 15_000],
  ['anthropic/anthropic-json-tool.1.json', 'claude-haiku-4-5-20251001', 1_151 * 1_000 + 87 * 5_000],
  ['anthropic/anthropic-message-delta-input-tokens.chunks.txt', 'claude-opus-4-5-20251101', 61 * 5_000 + 2 * 25_000],
  ['anthropic/anthropic-refusal.json', 'claude-fable-5', 18 * 10_000 + 5 * 50_000],
  ['google/google-text.json', 'gemini-3.1-pro-preview', 9 * 2_000 + (28 + 244) * 12_000],
  ['google/google-reasoning.chunks.txt', 'gemini-2.5-flash', 9 * 300 + (29 + 256) * 2_500],
  ['openai/openai-text.json', 'gpt-4.1-nano-2025-04-14', 16 * 100 + 363 * 400],
  ['openai/openai-text.chunks.txt', 'gpt-4.1-nano-2025-04-14', 16 * 100 + 300 * 400],
  ['openai/openai-embedding.json', 'text-embedding-3-small', 12 * 20],
  ['openai/openai-transcription.json', 'whisper-1', 37 * 100_000],
  ['anthropic/anthropic-web-search-tool.1.json', 'claude-sonnet-4-20250514', null],
  ['openai-compatible/xai-tool-call.json', 'grok-3-mini', null],
  ['openai/openai-image.json', 'dall-e-3', null],
]
