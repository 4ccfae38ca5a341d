import { describe, expect, it } from 'vitest'
import { toUsage } from './answer.js'

describe('toUsage', () => {
  it('keeps details and corrects the total', () => {
    const details = { prompt_tokens_details: { cached_tokens: 2 }, cost: 1 }
    expect(toUsage({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 99, ...details })).toEqual({
      prompt_tokens: 3,
      completion_tokens: 4,
      total_tokens: 7,
      ...details,
    })
    expect(toUsage({ prompt_tokens: 3 })).toEqual({ prompt_tokens: 3, completion_tokens: 0, total_tokens: 3 })
    expect(toUsage({ completion_tokens: 0, prompt_tokens: null })).toMatchObject({ prompt_tokens: 0, total_tokens: 0 })
  })

  it.each([
    null,
    undefined,
    'x',
    {},
    { total_tokens: 7 },
    { prompt_tokens: '3' },
    { prompt_tokens: -1 },
    { prompt_tokens: 1.5 },
  ])('returns undefined for %j', (value) => expect(toUsage(value)).toBeUndefined())
})

describe('toUsage for xAI', () => {
  const of = (reasoning_tokens: number, total_tokens: number) =>
    toUsage({ prompt_tokens: 3, completion_tokens: 4, total_tokens, completion_tokens_details: { reasoning_tokens } })
  it('counts reasoning that is only in the total', () => {
    expect(of(10, 17)).toMatchObject({ prompt_tokens: 3, completion_tokens: 14, total_tokens: 17 })
  })
  it('does not count reasoning twice', () => {
    expect(of(2, 7)).toMatchObject({ completion_tokens: 4, total_tokens: 7 })
    expect(of(0, 7)).toMatchObject({ completion_tokens: 4, total_tokens: 7 })
    expect(of(2, 100)).toMatchObject({ completion_tokens: 4, total_tokens: 7 })
  })
})
