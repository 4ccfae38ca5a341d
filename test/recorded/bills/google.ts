import type { Bill, Listed, Refilled } from './bill.js'
import { thought } from './bill.js'

export const bills: Record<string, Bill> = {
  'google/google-text.json': thought(9, 28, 244),
  'google/google-text.chunks.txt': thought(9, 23, 185),
  'google/google-reasoning.json': thought(9, 29, 282),
  'google/google-reasoning.chunks.txt': thought(9, 29, 256),
  'google/google-reasoning-gemini3.json': thought(9, 29, 258),
  'google/google-reasoning-gemini3.chunks.txt': thought(9, 23, 302),
  'google/google-tool-call.json': thought(29, 15, 893),
  'google/google-tool-call.chunks.txt': thought(29, 15, 45),
}

const modalities = (text: number, audio: number, image: number) => [
  { modality: 'TEXT', tokenCount: text },
  { modality: 'AUDIO', tokenCount: audio },
  { modality: 'IMAGE', tokenCount: image },
]

export const refilled: Refilled[] = [
  {
    of: ['google/google-text.json', 'google/google-text.chunks.txt'],
    usage: {
      promptTokenCount: 900,
      promptTokensDetails: modalities(600, 200, 100),
      cachedContentTokenCount: 400,
      cacheTokensDetails: modalities(230, 150, 20),
      // What tools gave the model to read is prompt, and not in the 900.
      toolUsePromptTokenCount: 50,
      candidatesTokenCount: 70,
      candidatesTokensDetails: modalities(20, 30, 20),
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
]

export const listed: Listed[] = [
  ['google/google-text.json', 'gemini-3.1-pro-preview', 9 * 2_000 + (28 + 244) * 12_000],
  ['google/google-reasoning.chunks.txt', 'gemini-2.5-flash', 9 * 300 + (29 + 256) * 2_500],
]
