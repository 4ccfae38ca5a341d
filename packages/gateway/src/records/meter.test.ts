import type { ChatCompletionRequest, ChatStream, ChunkChoice, Usage } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { streamMeter } from './meter.js'

const request: ChatCompletionRequest = { model: 'm', messages: [{ role: 'user', content: 'x'.repeat(400) }] }

/** What a stream that has reported `usage` has used after these deltas. */
function used(usage: Partial<Usage> | undefined, deltas: object[], { complete = false, prompts = 1 } = {}) {
  const stream = { head: {}, usage: () => usage } as ChatStream
  const meter = streamMeter({ request, prompts, tier: undefined }, stream)
  meter.count(deltas.map((delta) => ({ index: 0, delta, finish_reason: null }) as ChunkChoice))
  const { usage: told, accuracy } = meter.used(complete)
  return [told.prompt_tokens, told.completion_tokens, accuracy]
}

/** Four bytes of the content a token. */
const PROMPT = 100
const words = { content: 'word '.repeat(200) }
const told = (prompt_tokens: number, completion_tokens: number): Usage => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
})

describe('a stream that is not complete', () => {
  it.each<[what: string, usage: Usage | undefined, deltas: object[], expected: unknown[]]>([
    ['nothing was reported', undefined, [words], [PROMPT, 250, 'estimated']],
    ['nothing was reported or said', undefined, [], [PROMPT, 0, 'estimated']],
    ['the prompt was reported (Claude)', told(90, 0), [words], [90, 250, 'partial']],
    ['less was reported than was said', told(90, 1), [words], [90, 250, 'partial']],
    ['more was reported than was said: thoughts (Gemini)', told(90, 700), [words], [90, 700, 'partial']],
    ['the prompt was not reported', told(0, 7), [], [PROMPT, 7, 'partial']],
    ['thoughts were shown', told(90, 0), [{ reasoning_content: 'hmm '.repeat(100) }], [90, 100, 'partial']],
    ['it refused', told(90, 0), [{ refusal: 'No' }], [90, 1, 'partial']],
    ['emoji were said', told(90, 0), [{ content: '\u{1f9ff}'.repeat(100) }], [90, 100, 'partial']],
  ])('has used what is more where %s', (_, usage, deltas, expected) => expect(used(usage, deltas)).toEqual(expected))

  it('has the arguments of calls', () => {
    const call = { index: 0, function: { arguments: 'x'.repeat(1_000) } }
    expect(used(told(90, 0), [{ tool_calls: [call] }])[1]).toBeGreaterThanOrEqual(250)
  })

  it('has a prompt for each call', () => expect(used(undefined, [], { prompts: 3 })[0]).toBe(3 * PROMPT))
})

it('a complete stream has used what it reports', () => {
  expect(used(told(9, 3), [words], { complete: true })).toEqual([9, 3, 'reported'])
})

it('threat 166: of several calls, each has its report, and an estimate where it has none', () => {
  const calls = new Map([
    [0, told(90, 20_000)],
    [1, undefined],
    [2, told(90, 0)],
  ])
  const stream = { head: {}, usage: () => told(180, 20_000), calls: () => calls } as unknown as ChatStream
  const meter = streamMeter({ request, prompts: 128, tier: undefined }, stream)
  meter.count([1, 2].map((index) => ({ index, delta: words, finish_reason: null }) as ChunkChoice))
  for (const complete of [false, true]) {
    const { usage, accuracy } = meter.used(complete)
    expect([usage.prompt_tokens, usage.completion_tokens, accuracy]).toEqual([
      90 + PROMPT + 90,
      20_000 + 250 + (complete ? 0 : 250),
      'partial',
    ])
  }
  calls.delete(1)
  expect(meter.used(true).accuracy).toBe('reported')
})
