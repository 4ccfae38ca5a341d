import type { Bill, Listed, Refilled } from './bill.js'
import { text } from './bill.js'

export const bills: Record<string, Bill> = {
  'anthropic/anthropic-clear-thinking.1.json': text(69, 33),
  'anthropic/anthropic-clear-thinking.1.chunks.txt': text(69, 53),
  'anthropic/anthropic-json-output-format.1.json': text(371, 629),
  'anthropic/anthropic-json-output-format.1.chunks.txt': text(313, 305),
  'anthropic/anthropic-json-tool.1.json': text(1_151, 87),
  'anthropic/anthropic-json-tool.1.chunks.txt': text(849, 47),
  // 43 at first, and 61 in the end.
  'anthropic/anthropic-message-delta-input-tokens.chunks.txt': text(61, 2),
  'anthropic/anthropic-refusal.json': text(18, 5),
  'anthropic/anthropic-refusal.chunks.txt': text(18, 5),
  'anthropic/anthropic-text.json': text(12, 29),
  'anthropic/anthropic-text.chunks.txt': text(12, 30),
  'anthropic/anthropic-tool-no-args.json': text(602, 93),
  'anthropic/anthropic-tool-no-args.chunks.txt': text(565, 48),
  // What was found is prompt; the searches themselves, two and one, are in no class.
  'anthropic/anthropic-web-search-tool.1.json': text(27_118, 600),
  'anthropic/anthropic-web-search-tool.1.chunks.txt': text(15_665, 795),
}

export const refilled: Refilled[] = [
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
]

export const listed: Listed[] = [
  ['anthropic/anthropic-text.json', 'claude-sonnet-4-5-20250929', 12 * 3_000 + 29 * 15_000],
  ['anthropic/anthropic-text.chunks.txt', 'claude-sonnet-4-5-20250929', 12 * 3_000 + 30 * 15_000],
  ['anthropic/anthropic-json-tool.1.json', 'claude-haiku-4-5-20251001', 1_151 * 1_000 + 87 * 5_000],
  ['anthropic/anthropic-message-delta-input-tokens.chunks.txt', 'claude-opus-4-5-20251101', 61 * 5_000 + 2 * 25_000],
  ['anthropic/anthropic-refusal.json', 'claude-fable-5', 18 * 10_000 + 5 * 50_000],
  ['anthropic/anthropic-web-search-tool.1.json', 'claude-sonnet-4-20250514', null],
]
