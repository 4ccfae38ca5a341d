import { describe, expect, it } from 'vitest'
import { cost, ratesFor, toUsd } from './cost.js'
import type { Price, Units } from './price.js'

const sonnet = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75, cache_write_1h: 6 }
const opus = { input: 5, output: 25, cache_read: 0.5, cache_write: 6.25, cache_write_1h: 10 }
const gpt4o = { input: 2.5, output: 10, cache_read: 1.25 }
const flash = { input: 0.3, output: 2.5, cache_read: 0.03, input_audio: 1 }
const pro: Price = {
  input: 1.25,
  output: 10,
  cache_read: 0.125,
  tiers: [{ above: 200_000, input: 2.5, output: 15, cache_read: 0.25 }],
}

describe('the cost of a request', () => {
  it.each<[string, Price, Units, number]>([
    ['cache read and write', sonnet, { input: 12, cache_read: 10_000, cache_write: 2_000, output: 30 }, 10_986_000],
    ['cached prompt', gpt4o, { input: 86, cache_read: 1_920, output: 300 }, 5_615_000],
    ['thoughts', flash, { input: 7, output: 153, reasoning: 45 }, 497_100],
    ['a prompt beyond a tier', pro, { input: 250_000, output: 1_000 }, 640_000_000],
    ['written for an hour', opus, { cache_write_1h: 10_000 }, 100_000_000],
    ['written for minutes', opus, { cache_write: 10_000 }, 62_500_000],
    ['a text spoken', { characters: 15 }, { characters: 4_096 }, 61_440_000],
    ['audio transcribed', { seconds: 100 }, { seconds: 37 }, 3_700_000],
    ['an image by its tokens', { input: 0.3, output: 2.5, output_image: 30 }, { output_image: 1_290 }, 38_700_000],
    ['images by the piece', { images: 40_000 }, { images: 2 }, 80_000_000],
    ['parts of a second', { seconds: 100 }, { seconds: 12.34 }, 1_234_000],
  ])('%s', (_, price, units, nano) => {
    expect(cost(units, ratesFor(price, units))).toBe(nano)
  })

  it.each<[Units, number]>([
    [{ input_audio: 10 }, 20_000],
    [{ input_image: 10 }, 20_000],
    [{ cache_read: 10 }, 20_000],
    [{ cache_write: 10 }, 20_000],
    [{ cache_write_1h: 10 }, 20_000],
    [{ reasoning: 10 }, 70_000],
    [{ output_audio: 10 }, 70_000],
    [{ output_image: 10 }, 70_000],
  ])('of a class without a rate is that of input or output: %j', (units, nano) => {
    expect(cost(units, { input: 2, output: 7 })).toBe(nano)
  })

  it('of the one-hour cache falls back to the rate of cache_write', () => {
    expect(cost({ cache_write_1h: 10 }, { input: 2, cache_write: 3 })).toBe(30_000)
  })

  it('of a rate of 0 is 0, without a fallback', () => {
    expect(cost({ input: 10, cache_read: 5 }, { input: 2, cache_read: 0 })).toBe(20_000)
  })

  it.each<[string, number, Units, number]>([
    ['0.0375 is no binary fraction', 0.0375, { input: 3, cache_read: 3 }, 225],
    ['0.1 ten times', 0.1, { input: 10 }, 1_000],
    ['just below a half', 0.000499, { input: 1 }, 0],
    ['a half goes up', 0.0005, { input: 1 }, 1],
    ['an odd half goes up as well', 0.0015, { input: 1 }, 2],
    // 1.005 x 1000 is 1004.9999999999999 as a product of floats.
    ['1.005', 1.005, { input: 1 }, 1_005],
    ['exponents', 1e-7, { input: 5_000_000 }, 500],
    ['rates that are large', 1e21, { input: 1 }, 1e24],
    // Times 1000, it is more than floats can count.
    ['beyond 2^53 inside', 0.001, { input: 9_007_199_254_740_991 }, 9_007_199_254_740_991],
  ])('is exact: %s', (_, input, units, nano) => {
    expect(cost(units, { input })).toBe(nano)
  })

  it('is rounded once, not per class', () => {
    expect(cost({ input: 1, output: 1, reasoning: 1 }, { input: 0.0004, output: 0.0004 })).toBe(1)
  })

  it.each<[string, Units, Price]>([
    ['nothing has a rate', { input: 1 }, {}],
    ['nothing has a rate and nothing was used', {}, {}],
    ['a class of tokens has none while another has one', { input: 1, output: 1 }, { input: 1 }],
    ['the prompt has none', { cache_write_1h: 1, output: 1 }, { output: 1 }],
    ['tokens were used and only characters have a rate', { input: 5 }, { characters: 15 }],
    ['characters were used and only tokens have a rate', { characters: 5 }, { input: 1, output: 1 }],
    ['seconds were used and only images have a rate', { seconds: 5 }, { images: 15 }],
  ])('is null where %s', (_, units, rates) => {
    expect(cost(units, rates)).toBeNull()
  })

  it.each<[string, Units, Price, number]>([
    ['nothing was used', {}, { input: 1 }, 0],
    ['all counts are 0', { input: 0, characters: 0 }, { input: 1 }, 0],
    ['tokens are counted, but characters are charged', { input: 900, characters: 10 }, { characters: 15 }, 150_000],
    ['images are counted, but tokens are charged', { output_image: 10, images: 1 }, { input: 5, output: 30 }, 300_000],
    ['both are charged', { input: 10, images: 1 }, { input: 5, images: 40_000 }, 40_050_000],
  ])('is known where %s', (_, units, rates, nano) => {
    expect(cost(units, rates)).toBe(nano)
  })
})

describe('the rates of a request', () => {
  const price: Price = {
    input: 1,
    output: 2,
    cache_read: 0.5,
    tiers: [
      { above: 2_000, input: 5, output: 6 },
      { above: 100, input: 3, output: 4 },
      { above: 1_000, output: 9 },
    ],
  }

  it.each<[Units, object]>([
    [{}, { input: 1, output: 2, cache_read: 0.5 }],
    [
      { input: 100, output: 5_000 },
      { input: 1, output: 2, cache_read: 0.5 },
    ],
    [{ input: 101 }, { input: 3, output: 4, cache_read: 0.5 }],
    [{ input: 1_001 }, { input: 1, output: 9, cache_read: 0.5 }],
    [{ input: 2_001 }, { input: 5, output: 6, cache_read: 0.5 }],
  ])('are those of the highest tier that the prompt exceeds, over the base rates: %j', (units, rates) => {
    expect(ratesFor(price, units)).toEqual(rates)
  })

  it('are those of one prompt where there are several calls', () => {
    expect(ratesFor(price, { input: 300 }, 3)).toMatchObject({ input: 1 })
    expect(ratesFor(price, { input: 303 }, 3)).toMatchObject({ input: 3 })
  })

  it('count all classes of the prompt for the tier', () => {
    const classes = ['input', 'input_audio', 'input_image', 'cache_read', 'cache_write', 'cache_write_1h'] as const
    for (const name of classes) expect(ratesFor(price, { input: 100, [name]: 101 }), name).toMatchObject({ input: 3 })
    const units = Object.fromEntries(classes.map((name) => [name, 17]))
    expect(ratesFor(price, units)).toMatchObject({ input: 3 })
  })

  it('are a copy that does not change with the price', () => {
    const mine = { ...price }
    const rates = ratesFor(mine, {})
    mine.input = 100
    expect(rates).toEqual({ input: 1, output: 2, cache_read: 0.5 })
  })
})

it('converts to dollars', () => {
  expect([10_986_000, 1, 0].map(toUsd)).toEqual([0.010986, 1e-9, 0])
})
