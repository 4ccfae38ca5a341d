import { cost, ratesFor } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { anthropicCatalogue, traitsOf } from './anthropic/models.js'
import { builtInPrices, catalogue } from './catalogue.js'
import { googleEndpoints } from './google/endpoints.js'
import { googleCatalogue } from './google/models.js'
import { openaiCatalogue } from './openai/models.js'

const listed = [
  ...Object.keys(openaiCatalogue).map((id) => `openai/${id}`),
  ...Object.keys(anthropicCatalogue).map((id) => `anthropic/${id}`),
  ...Object.keys({ ...googleCatalogue, ...googleEndpoints({ audio: true }).catalogue }).map((id) => `google/${id}`),
]

describe('the catalogue', () => {
  it('contains exactly the listed models', () => {
    // The price of dall-e-3 depends on the size of the image, which no unit class expresses.
    const priced = listed.filter((id) => id !== 'openai/dall-e-3')
    // gpt-4o-2024-05-13 is a version with its own price.
    expect(Object.keys(catalogue).toSorted()).toEqual([...priced, 'openai/gpt-4o-2024-05-13'].toSorted())
  })

  it('agrees with the output limits of the Claude adapter', () => {
    for (const id of Object.keys(anthropicCatalogue))
      expect(catalogue[`anthropic/${id}`]!.maxOutput, id).toBe(traitsOf(id).maxOutput)
  })

  it('has the rates of the price list of Claude', () => {
    expect(catalogue['anthropic/claude-sonnet-4-5']).toEqual({
      context: 200_000,
      maxOutput: 64_000,
      price: { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 },
    })
    const price = { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25, cache_write_1h: 10 }
    expect(catalogue['anthropic/claude-opus-4-5']!.price).toEqual(price)
    const readOf = (id: string) => catalogue[`anthropic/claude-${id}`]!.price.cache_read
    expect(['sonnet-5', 'sonnet-5-5', 'opus-5-5', 'fable-5-1', 'fable-5-2', 'haiku-5-5'].map(readOf)).toEqual([
      0.2, 0.1, 0.2, 0.25, 0.2, 0.01,
    ])
    const long = { input: 0.5, output: 2.5, cache_read: 0.05, cache_write: 0.625, cache_write_1h: 1 }
    expect(catalogue['anthropic/claude-haiku-5-5']!.price).toMatchObject({
      input: 0.1,
      output: 0.5,
      tiers: [{ above: 100_000, ...long }],
      service_tiers: { us: { input: 0.11, tiers: [{ above: 100_000, input: 0.55, cache_write_1h: 1.1 }] } },
    })
  })

  it('has tiers, audio and images', () => {
    expect(catalogue['google/gemini-2.5-pro']).toEqual({
      context: 1_048_576,
      maxOutput: 65_536,
      price: {
        input: 1.25,
        output: 10,
        cache_read: 0.125,
        input_audio: 1.25,
        tiers: [{ above: 200_000, input: 2.5, output: 15, cache_read: 0.25, input_audio: 2.5 }],
      },
    })
    expect(catalogue['google/gemini-2.5-flash']!.price).toMatchObject({ input: 0.3, input_audio: 1 })
    expect(catalogue['google/gemini-2.5-flash-image']!.price).toMatchObject({ output: 2.5, output_image: 30 })
    expect(catalogue['openai/gpt-image-2']!.price).toMatchObject({ input: 5, cache_read: 1.25, output_image: 30 })
  })
})

describe('the service tiers of the catalogue', () => {
  const tiersOf = (id: string) => catalogue[id]!.price.service_tiers

  it.each([
    ['openai/gpt-4o', { priority: { input: 4.25, output: 17, cache_read: 2.125 } }],
    [
      'openai/gpt-5.4',
      {
        priority: { input: 5, output: 30, cache_read: 0.5 },
        flex: {
          input: 1.25,
          output: 7.5,
          cache_read: 0.125,
          tiers: [{ above: 272_000, input: 2.5, output: 11.25, cache_read: 0.25 }],
        },
      },
    ],
    ['openai/o4-mini', { priority: { input: 2, output: 8 }, flex: { input: 0.55, output: 2.2, cache_read: 0.1375 } }],
    [
      'anthropic/claude-opus-4-8',
      { us: { input: 5.5, output: 27.5, cache_read: 0.55, cache_write: 6.875, cache_write_1h: 11 } },
    ],
  ])('are those of the price list: %s', (id, tiers) => {
    expect(tiersOf(id)).toMatchObject(tiers)
  })

  it('cost more than the standard one, but for flex', () => {
    for (const { price } of Object.values(catalogue))
      for (const [name, tier] of Object.entries(price.service_tiers ?? {}))
        for (const rate of ['input', 'output', 'cache_read'] as const)
          if (tier[rate] !== undefined) expect(tier[rate]! > price[rate]!).toBe(name !== 'flex')
  })
})

describe('the built-in prices', () => {
  const table = builtInPrices().table()

  it.each([
    ['openai', 'gpt-4o-2024-08-06', { input: 86, cache_read: 1_920, output: 300 }, 5_615_000],
    [
      'anthropic',
      'claude-sonnet-4-5-20250929',
      { input: 12, cache_read: 10_000, cache_write: 2_000, output: 30 },
      10_986_000,
    ],
    ['google', 'gemini-2.5-flash', { input: 7, output: 153, reasoning: 45 }, 497_100],
    ['openai', 'gpt-5.4', { input: 272_001, output: 10 }, 1_360_230_000],
    ['openai', 'tts-1', { characters: 4_096 }, 61_440_000],
    ['openai', 'tts-1-hd', { characters: 100 }, 3_000_000],
    ['openai', 'whisper-1', { seconds: 37 }, 3_700_000],
    ['openai', 'text-embedding-3-small', { input: 1_000 }, 20_000],
    ['google', 'gemini-2.5-flash-image', { input: 10, output_image: 1_290 }, 38_703_000],
  ])('charge %s/%s', (provider, id, units, nano) => {
    const price = table.price(provider, id)!
    expect(cost(units, ratesFor(price, units))).toBe(nano)
  })

  it('are undefined for unknown models', () => {
    expect(table.price('openai', 'dall-e-3')).toBeUndefined()
    expect(table.price('google', 'gpt-4o')).toBeUndefined()
  })
})
