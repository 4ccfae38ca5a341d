import type { Usage } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { decodeReads } from '../../../../test/support/decode.js'
import { streamDecoder } from './stream.js'

const end = (stop_reason: string | null, usage: object) => ({ type: 'message_delta', delta: { stop_reason }, usage })

/** The usage of a stream that reports it thrice: at its start, with its text, and as zeros at its end. */
function usageOf(first: object, then: object): Usage | undefined {
  const again = { output_tokens: 0, output_tokens_details: { thinking_tokens: 0 } }
  const { batches, error } = decodeReads(streamDecoder('anthropic', { model: 'm', messages: [] }), [
    [{ type: 'message_start', message: { id: 'msg_1', content: [], usage: { ...first, output_tokens: 1 } } }],
    [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } }],
    [end(null, then), end('end_turn', again), { type: 'message_stop' }],
  ])
  if (error) throw error
  return batches.flat().at(-1)!.usage as Usage | undefined
}

describe('the usage of a stream of Claude (A3)', () => {
  it.each<[string, object, object, object]>([
    [
      'input of 0 at the end',
      { input_tokens: 500, cache_read_input_tokens: 400 },
      { input_tokens: 0, output_tokens: 7 },
      { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 0 } },
    ],
    [
      'all counts of 0 at the end',
      { input_tokens: 5, cache_creation_input_tokens: 6, cache_creation: { ephemeral_1h_input_tokens: 6 } },
      {
        input_tokens: 0,
        cache_creation_input_tokens: 0,
        cache_creation: { ephemeral_1h_input_tokens: 0 },
        output_tokens: 7,
      },
      {
        prompt_tokens: 11,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 6, cache_write_1h_tokens: 6 },
      },
    ],
    [
      'input of 0 at the start',
      { input_tokens: 0, cache_read_input_tokens: 0 },
      { input_tokens: 500, cache_read_input_tokens: 400, output_tokens: 7 },
      { prompt_tokens: 900, completion_tokens: 7 },
    ],
    [
      'the whole prompt at the start, and its parts at the end (Kimi)',
      { input_tokens: 900 },
      { input_tokens: 500, cache_read_input_tokens: 400, output_tokens: 7 },
      { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 400 } },
    ],
    [
      'an estimate at the start, and the prompt and its parts at the end (Kimi)',
      { input_tokens: 910, cache_read_input_tokens: 0 },
      { input_tokens: 500, cache_read_input_tokens: 400, prompt_tokens: 900, output_tokens: 7 },
      { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 400 } },
    ],
    [
      'the whole prompt at the start, and what of it was cached at the end (Qwen)',
      { input_tokens: 3602 },
      {
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 3604,
        prompt_tokens_details: { cached_tokens: 3604 },
        output_tokens: 7,
      },
      { prompt_tokens: 3604, prompt_tokens_details: { cached_tokens: 3604 } },
    ],
    [
      'the rest of the prompt at the start, and what was cached at the end',
      { input_tokens: 500 },
      { input_tokens: 0, cache_read_input_tokens: 400, output_tokens: 7 },
      { prompt_tokens: 900, prompt_tokens_details: { cached_tokens: 400 } },
    ],
    [
      'thinking tokens that fall',
      { input_tokens: 1 },
      { output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } },
      { completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 4 } },
    ],
  ])('has counts that never fall: %s', (_, first, then, usage) => expect(usageOf(first, then)).toMatchObject(usage))
})
