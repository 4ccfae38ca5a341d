import type { Bill, Listed, Refilled } from './bill.js'
import { text } from './bill.js'

export const bills: Record<string, Bill> = {
  'openai/openai-text.json': text(16, 363),
  'openai/openai-text.chunks.txt': text(16, 300),
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
  // For credits, a second has 32 tokens to hear and 3 to write.
  'openai/openai-transcription.json': {
    prompt: 37 * 32,
    completion: 37 * 3,
    units: { seconds: 37 },
    nano: 37 * 100_003,
  },
  // It says nothing of usage. The request has 16 characters, which are 4 tokens, and a picture is taken to have 1,290.
  'openai/openai-image.json': {
    prompt: 4,
    completion: 1_290,
    units: { input: 4, output_image: 1_290, images: 1 },
    nano: 4 * 2_003 + 1_290 * 9_001 + 40_009_000,
    accuracy: 'estimated',
  },
}

export const refilled: Refilled[] = [
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

export const listed: Listed[] = [
  ['openai/openai-text.json', 'gpt-4.1-nano-2025-04-14', 16 * 100 + 363 * 400],
  ['openai/openai-text.chunks.txt', 'gpt-4.1-nano-2025-04-14', 16 * 100 + 300 * 400],
  ['openai/openai-embedding.json', 'text-embedding-3-small', 12 * 20],
  ['openai/openai-transcription.json', 'whisper-1', 37 * 100_000],
  ['openai-compatible/xai-tool-call.json', 'grok-3-mini', null],
  ['openai/openai-image.json', 'dall-e-3', null],
]
