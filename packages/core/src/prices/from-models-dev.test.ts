import { describe, expect, it } from 'vitest'
import { fromModelsDev } from './from-models-dev.js'

/** The table with one model of a provider. */
const tableOf = (provider: string, model: string, cost: unknown) => ({
  [provider]: { id: provider, models: { [model]: { id: model, name: 'A model', cost } } },
})

describe('prices of models.dev', () => {
  it('use the names of Turnpike', () => {
    const cost = {
      input: 1.25,
      output: 10,
      reasoning: 12,
      cache_read: 0.125,
      cache_write: 1.5,
      input_audio: 1,
      output_audio: 20,
    }
    expect(fromModelsDev(tableOf('google', 'gemini-x', { ...cost, made_up: 3 }))).toEqual({
      rows: { 'google/gemini-x': cost },
      rejected: [],
    })
  })

  it('have tiers by prompt size', () => {
    const cost = {
      input: 2.5,
      output: 15,
      tiers: [
        { tier: { type: 'context', size: 272_000 }, input: 5, output: 22.5, cache_read: 0.5 },
        { tier: { type: 'day', size: 3 }, input: 9 },
      ],
      // For readers that know no tiers.
      context_over_200k: { input: 5, output: 22.5 },
    }
    expect(fromModelsDev(tableOf('openai', 'gpt-x', cost)).rows).toEqual({
      'openai/gpt-x': { input: 2.5, output: 15, tiers: [{ above: 272_000, input: 5, output: 22.5, cache_read: 0.5 }] },
    })
  })

  it('read the older form of a tier', () => {
    const cost = { input: 1.25, output: 10, context_over_200k: { input: 2.5, output: 15 } }
    expect(fromModelsDev(tableOf('google', 'gemini-x', cost)).rows).toEqual({
      'google/gemini-x': { input: 1.25, output: 10, tiers: [{ above: 200_000, input: 2.5, output: 15 }] },
    })
  })

  it('derive the one-hour cache rate of Claude', () => {
    const cost = { input: 3, output: 15, cache_write: 3.75 }
    const tier = { input: 6, cache_write: 7.5 }
    const tiered = { ...cost, tiers: [{ tier: { type: 'context', size: 200_000 }, ...tier }] }
    expect(fromModelsDev(tableOf('anthropic', 'claude-x', tiered)).rows).toEqual({
      'anthropic/claude-x': { ...cost, cache_write_1h: 6, tiers: [{ above: 200_000, ...tier, cache_write_1h: 12 }] },
    })
    expect(fromModelsDev(tableOf('acme', 'claude-x', cost)).rows).toEqual({ 'acme/claude-x': cost })
  })

  it('of audio by the minute are by the second, and not the zeros beside them', () => {
    const cost = { input: 0, output: 0, per_minute: 0.006 }
    expect(fromModelsDev(tableOf('openai', 'whisper-x', cost)).rows).toEqual({ 'openai/whisper-x': { seconds: 100 } })
  })

  it('are not taken of a model that makes text and images, for which the table has one price', () => {
    const model = (output: string[]) => ({ modalities: { input: ['text'], output }, cost: { input: 2, output: 120 } })
    const models = { both: model(['text', 'image']), image: model(['image']), text: model(['text']) }
    const price = { input: 2, output: 120 }
    expect(fromModelsDev({ google: { models } })).toEqual({
      rows: { 'google/image': price, 'google/text': price },
      rejected: [{ model: 'google/both', reason: 'text and images have one price' }],
    })
  })

  it('are imported row by row', () => {
    const models = {
      good: { cost: { input: 1 } },
      absurd: { cost: { input: 150_000, output: 1 } },
      negative: { cost: { input: 1, output: -1 } },
      text: { cost: { input: '1' } },
      cache: { cost: { input: 1, cache_read: 2 } },
      empty: { cost: {} },
      tier: { cost: { input: 1, tiers: [{ tier: { type: 'context' }, input: 2 }] } },
      free: { cost: { input: 0, output: 0 } },
      'org/named': { cost: { output: 1 } },
      unpriced: {},
      none: null,
    }
    const { rows, rejected } = fromModelsDev({ acme: { models }, other: { models: { good: models.good } }, third: 3 })
    expect(rows).toEqual({
      'acme/good': { input: 1 },
      'acme/free': { input: 0, output: 0 },
      'acme/org/named': { output: 1 },
      'other/good': { input: 1 },
    })
    expect(rejected).toEqual([
      { model: 'acme/absurd', reason: 'input is 150000; expected US dollars per million, 0 to 2000' },
      { model: 'acme/negative', reason: 'output is -1; expected US dollars per million, 0 to 2000' },
      { model: 'acme/text', reason: 'input is 1; expected US dollars per million, 0 to 2000' },
      { model: 'acme/cache', reason: 'cache_read is 2; expected at most input, which is 1' },
      { model: 'acme/empty', reason: 'there are no rates' },
      { model: 'acme/tier', reason: 'tiers: above is undefined; expected a number of tokens' },
    ])
  })

  it.each([null, 'no', [], { openai: null }, { openai: { models: [] } }])('are not read from %j', (json) => {
    expect(fromModelsDev(json)).toEqual({ rows: {}, rejected: [] })
  })
})
