import { describe, expect, it } from 'vitest'
import { traitsOf } from './models.js'

describe('the rules of a version', () => {
  const of = (model: string) => {
    const { thinking, thinksByDefault, unthinking, prefill, forced, bound, sampling, maxOutput } = traitsOf(model)
    return [maxOutput, thinking, thinksByDefault, unthinking, prefill, forced, bound, sampling]
  }

  // Columns: maximum output, thinking, by default, turned off by, prefill, forced calls, bound thoughts, sampling
  it.each<[string, ...unknown[]]>([
    ['claude-3-5-haiku-latest', undefined, 'none', false, 'disabled', true, true, false, true],
    ['claude-3-7-sonnet-20250219', undefined, 'budget', false, 'disabled', true, true, false, true],
    ['claude-opus-4-1-20250805', 32_000, 'budget', false, 'disabled', true, true, false, true],
    ['claude-haiku-4-5', 64_000, 'budget', false, 'disabled', true, true, false, true],
    ['claude-sonnet-4-6', 64_000, 'effort', false, 'disabled', false, true, false, true],
    ['claude-opus-4-7', 128_000, 'effort', false, 'disabled', false, true, false, false],
    ['claude-opus-5', 128_000, 'effort', true, 'disabled', false, true, false, false],
    ['claude-sonnet-5', 128_000, 'effort', true, 'disabled', false, true, false, false],
    ['claude-fable-5', 128_000, 'effort', true, undefined, false, true, false, false],
    ['claude-mythos-preview', 128_000, 'effort', true, undefined, false, true, false, false],
    ['claude-fable-5-1', 128_000, 'effort', true, undefined, false, false, true, false],
    ['claude-fable-5-2', 128_000, 'effort', true, undefined, false, false, true, false],
    ['claude-opus-5-5', 128_000, 'effort', true, undefined, false, false, true, false],
    ['claude-sonnet-5-5', 128_000, 'effort', true, 'between_tools', false, false, true, false],
    ['claude-haiku-5-5', 128_000, 'effort', true, 'disabled', false, true, true, false],
  ])('of %s are those of its documentation', (model, ...expected) => expect(of(model)).toEqual(expected))

  it.each([
    ['claude-opus-6', 'claude-opus-5-5'],
    ['claude-sonnet-5-9', 'claude-sonnet-5-5'],
    ['claude-sonnet-6-20270301', 'claude-sonnet-5-5'],
    ['claude-haiku-7-1', 'claude-haiku-5-5'],
    ['claude-opus-4-9', 'claude-opus-4-8'],
    ['claude-verse-6', 'claude-opus-5-5'],
  ])('of %s are those of the newest known one, %s', (model, known) => expect(traitsOf(model)).toEqual(traitsOf(known)))
})
