import { describe, expect, it } from 'vitest'
import { isAnthropicModel, traitsOf } from './models.js'

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
    ['~anthropic/claude-opus-latest', 'claude-opus-5-5'],
    ['claude-haiku-latest', 'claude-haiku-5-5'],
  ])('of %s are those of the newest known one, %s', (model, known) => expect(traitsOf(model)).toEqual(traitsOf(known)))

  it.each([
    ['anthropic.claude-opus-5', 'claude-opus-5'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'claude-sonnet-4-5'],
    ['global.anthropic.claude-opus-4-6-v1', 'claude-opus-4-6'],
    ['eu.anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4'],
    ['anthropic.claude-3-7-sonnet-20250219-v1:0', 'claude-3-7-sonnet'],
    ['claude-opus-4-5@20251101', 'claude-opus-4-5'],
    ['claude-opus-4-6@default', 'claude-opus-4-6'],
    ['publishers/anthropic/models/claude-sonnet-5@20260601', 'claude-sonnet-5'],
    ['anthropic/claude-sonnet-5.5', 'claude-sonnet-5-5'],
    ['anthropic/claude-opus-4.6', 'claude-opus-4-6'],
    ['anthropic/claude-3.7-sonnet:thinking', 'claude-3-7-sonnet'],
    ['claude-sonnet-5-latest', 'claude-sonnet-5'],
  ])('of %s, as servers spell it, are those of %s', (model, known) => expect(traitsOf(model)).toEqual(traitsOf(known)))
})

describe('a model of the family', () => {
  it.each(['claude-opus-5', 'anthropic.claude-opus-5', 'us.anthropic.claude-haiku-4-5-20251001-v1:0'])(
    'is %s',
    (model) => expect(isAnthropicModel(model)).toBe(true),
  )
  it.each(['gpt-4o', 'anthropic/claude-opus-5', 'my-claude-opus'])('is not %s', (model) =>
    expect(isAnthropicModel(model)).toBe(false),
  )
})
