import { describe, expect, it } from 'vitest'
import { unitsOf } from './units.js'

const usage = (prompt_tokens: number, completion_tokens: number, prompt?: unknown, completion?: unknown) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: prompt_tokens + completion_tokens,
  ...(prompt !== undefined && { prompt_tokens_details: prompt }),
  ...(completion !== undefined && { completion_tokens_details: completion }),
})

describe('the units of a usage', () => {
  it('are input and output without details', () => {
    expect(unitsOf(usage(12, 34))).toEqual({ input: 12, output: 34 })
    expect(unitsOf(usage(12, 34, null, null))).toEqual({ input: 12, output: 34 })
  })

  it('are empty without usage', () => {
    expect(unitsOf(usage(0, 0))).toEqual({})
  })

  it('are disjoint', () => {
    const prompt = {
      cached_tokens: 100,
      cache_write_tokens: 50,
      cache_write_1h_tokens: 20,
      audio_tokens: 7,
      image_tokens: 3,
    }
    const completion = { reasoning_tokens: 40, audio_tokens: 5, image_tokens: 2 }
    expect(unitsOf(usage(200, 60, prompt, completion))).toEqual({
      cache_read: 100,
      cache_write_1h: 20,
      cache_write: 30,
      input_audio: 7,
      input_image: 3,
      input: 40,
      reasoning: 40,
      output_audio: 5,
      output_image: 2,
      output: 13,
    })
  })

  it.each([
    [
      'what was written for an hour is at most what was written',
      { cache_write_tokens: 4, cache_write_1h_tokens: 9 },
      { cache_write_1h: 4, input: 6 },
    ],
    ['nothing was written for an hour where nothing was written', { cache_write_1h_tokens: 9 }, { input: 10 }],
    ['one detail beyond the whole', { cached_tokens: 11 }, { cache_read: 10 }],
    [
      'several beyond the whole',
      { cached_tokens: 8, audio_tokens: 5, image_tokens: 5 },
      { cache_read: 8, input_audio: 2 },
    ],
    ['numbers that are none', { cached_tokens: '8', audio_tokens: null, image_tokens: NaN }, { input: 10 }],
    ['infinite numbers', { cached_tokens: Infinity, cache_write_tokens: Infinity }, { input: 10 }],
    ['negative numbers', { cached_tokens: -8, cache_write_tokens: -1 }, { input: 10 }],
    ['parts of a token', { cached_tokens: 3.9 }, { cache_read: 3, input: 7 }],
    ['details that are none', 'many', { input: 10 }],
  ])('add up for inconsistent prompt details: %s', (_, details, units) => {
    expect(unitsOf(usage(10, 0, details))).toEqual(units)
  })

  it('add up for inconsistent completion details', () => {
    expect(unitsOf(usage(0, 10, {}, { reasoning_tokens: 12, audio_tokens: 1 }))).toEqual({ reasoning: 10 })
  })
})
