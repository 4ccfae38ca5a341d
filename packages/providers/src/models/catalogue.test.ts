import { cost, ratesFor } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { anthropicCatalogue, traitsOf } from '../anthropic/models.js'
import { builtInPrices, builtInRows, catalogue, limitsOf } from './catalogue.js'
import { CATALOGUE_DATE } from '../family.js'
import { googleEndpoints } from '../google/endpoints.js'
import { googleCatalogue } from '../google/models.js'
import { openaiCatalogue } from '../openai/models.js'

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

describe('the limits of a model', () => {
  const told = { 'openai/gpt-7-nova': { context: 9, maxOutput: 3, capabilities: [], created: 0 } }

  it.each<[provider: string, model: string, like: string | undefined]>([
    ['openai', 'gpt-4o', 'openai/gpt-4o'],
    ['openai', 'gpt-4o-2024-11-20', 'openai/gpt-4o'],
    ['openai', 'gpt-7-mini', 'openai/gpt-5.4-mini'],
    ['openai', 'gpt-6.3-sol', 'openai/gpt-6.2-sol'],
    ['openai', 'o5', 'openai/o3'],
    ['openai', 'gpt-8-vega', 'openai/gpt-6.2-astra'],
    ['anthropic', 'claude-opus-6', 'anthropic/claude-opus-5-5'],
    ['anthropic', 'claude-haiku-6-20270301', 'anthropic/claude-haiku-5-5'],
    ['anthropic', 'claude-saga-5-5', 'anthropic/claude-haiku-5-5'],
    ['google', 'gemini-4.2-flash', 'google/gemini-3.8-flash'],
    ['google', 'gemini-5-pro-preview', 'google/gemini-3.1-pro-preview'],
    ['google', 'gemini-4-xenon', 'google/gemini-4-hydrogen'],
    ['google', 'gemini-flash-latest', 'google/gemini-3.8-flash'],
    ['google', 'gemini-flash-lite-latest', 'google/gemini-3.5-flash-lite'],
    ['anthropic', 'claude-opus-latest', 'anthropic/claude-opus-5-5'],
    ['openai', 'text-embedding-4-large', 'openai/text-embedding-3-large'],
    // Older than what is known.
    ['openai', 'gpt-4-turbo', undefined],
    ['openai', 'gpt-6.1-astra', undefined],
    ['anthropic', 'claude-3-opus-20240229', undefined],
    ['anthropic', 'claude-instant', undefined],
    ['google', 'gemini-pro', undefined],
    ['local', 'gpt-9', undefined],
  ])('of %s/%s are those of %s', (provider, model, like) => {
    expect(limitsOf(provider, model)).toBe(like && catalogue[like])
  })

  it('are those that a table tells, where the catalogue has none', () => {
    expect(limitsOf('openai', 'gpt-7-nova-2027-03-01', told)).toMatchObject({ context: 9, maxOutput: 3 })
    expect(limitsOf('openai', 'gpt-8-nova', told)).toBe(catalogue['openai/gpt-6.2-astra'])
    expect(limitsOf('openai', 'gpt-4o', { 'openai/gpt-4o': told['openai/gpt-7-nova'] })).toBe(
      catalogue['openai/gpt-4o'],
    )
  })

  it('come without a price', () => {
    expect(builtInPrices().table().price('openai', 'gpt-7-mini')).toBeUndefined()
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
      'openai/gpt-6.1-terra',
      {
        priority: { input: 2, output: 10, cache_read: 0.1, cache_write: 2.5 },
        flex: { input: 0.5, tiers: [{ above: 272_000, input: 1, output: 3.75, cache_read: 0.05, cache_write: 1.25 }] },
      },
    ],
    ['openai/gpt-6.2-astra', { priority: { input: 16, output: 80, cache_read: 0.8, cache_write: 20 } }],
    ['anthropic/claude-opus-5-5', { fast: { input: 8, output: 40, cache_read: 0.4, cache_write: 10 } }],
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
  const table = builtInPrices(() => Date.parse(CATALOGUE_DATE)).table()

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
    // Text and thoughts beside an image have the rate of text (A4 of the field reports).
    [
      'google',
      'gemini-3-pro-image-preview',
      { input: 10, output: 100, reasoning: 200, output_image: 1_120 },
      138_020_000,
    ],
    ['google', 'gemini-nano-banana-2.1', { input: 10, output: 100, output_image: 1_120 }, 34_365_000],
    ['openai', 'gpt-image-2.6-flare', { input: 10, input_image: 1_000, output: 1_000 }, 38_050_000],
    ['openai', 'gpt-4o-mini-tts', { input: 100, output: 1_000 }, 12_060_000],
    ['openai', 'gpt-transcribe', { seconds: 60 }, 4_500_000],
    ['openai', 'gpt-4o-transcribe', { input_audio: 1_000, output: 100 }, 7_000_000],
    ['google', 'gemini-embedding-2', { input: 1_000 }, 200_000],
    ['google', 'gemini-3.8-flash-tts', { input: 100, output_audio: 1_000 }, 9_050_000],
    ['openai', 'gpt-6.1-sol', { input: 100, cache_read: 1_000, cache_write: 1_000, output: 10 }, 2_900_000],
    ['anthropic', 'claude-sonnet-5-5', { input: 100, cache_read: 1_000, cache_write: 1_000, output: 10 }, 2_900_000],
    ['anthropic', 'claude-haiku-5-5', { input: 100_001, output: 10 }, 50_025_500],
  ])('charge %s/%s', (provider, id, units, nano) => {
    const price = table.price(provider, id)!
    expect(cost(units, ratesFor(price, units))).toBe(nano)
  })

  it('change on the day that a vendor has announced', () => {
    let now = Date.parse('2026-11-30T23:59:59Z')
    const prices = builtInPrices(() => now)
    const rates = () => [
      prices.table().price('google', 'gemini-4-argon')?.output,
      prices.table().price('google', 'gemini-3.8-flash')?.output,
      prices.table().price('google', 'gemini-3.8-flash-lite-tts')?.output_audio,
      prices.table().price('openai', 'gpt-4o')?.output,
      prices.table().origin.since,
    ]
    expect(rates()).toEqual([10, 3.75, 6, 10, CATALOGUE_DATE])
    const before = prices.table()
    expect(prices.table()).toBe(before)
    now = Date.parse('2026-12-01')
    expect(rates()).toEqual([20, 3.75, 6, 10, '2026-12-01'])
    expect(before.price('google', 'gemini-4-argon')?.output).toBe(10)
    now = Date.parse('2028-01-01')
    expect(rates()).toEqual([20, 7.5, 12, 10, '2027-01-01'])
    expect(builtInRows(now)['google/gemini-4-carbon']).toMatchObject({ input: 4, input_audio: 4, cache_read: 0.2 })
  })

  it('are undefined for unknown models', () => {
    expect(table.price('openai', 'dall-e-3')).toBeUndefined()
    expect(table.price('google', 'gpt-4o')).toBeUndefined()
  })
})
