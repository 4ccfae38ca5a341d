import { describe, expect, it } from 'vitest'
import { parsePrices } from './parse-prices.js'

describe('prices from JSON', () => {
  it('are returned unchanged', () => {
    const rows = {
      'openai/gpt-x': { input: 2, output: 2_000, cache_read: 2, tiers: [{ above: 200_000, input: 4, cache_read: 0 }] },
      'acme/models/tts': { characters: 2_000, seconds: 100_000, images: 10_000_000 },
    }
    const parsed = parsePrices(JSON.parse(JSON.stringify(rows)))
    expect(parsed).toEqual(rows)
    expect(parsePrices(rows)['openai/gpt-x']).not.toBe(rows['openai/gpt-x'])
  })

  it.each<[string, unknown, string]>([
    ['no table', [], 'Prices: expected an object of rows by provider/model'],
    ['null', null, 'Prices: expected an object of rows by provider/model'],
    ['a name without a provider', { 'gpt-x': { input: 1 } }, 'Price of gpt-x: expected a name such as provider/model'],
    ['a name without a model', { 'openai/': { input: 1 } }, 'Price of openai/: expected a name such as provider/model'],
    [
      'the name of a prototype',
      JSON.parse('{"__proto__":{"input":1}}'),
      'Price of __proto__: expected a name such as provider/model',
    ],
    ['a row that is none', { 'a/b': 5 }, 'Price of a/b: expected an object'],
    ['a row without rates', { 'a/b': {} }, 'Price of a/b: there are no rates'],
    ['a text', { 'a/b': { input: '5' } }, 'Price of a/b: input is 5; expected US dollars per million, 0 to 2000'],
    [
      'no number',
      { 'a/b': { output: NaN } },
      'Price of a/b: output is NaN; expected US dollars per million, 0 to 2000',
    ],
    [
      'below 0',
      { 'a/b': { reasoning: -1 } },
      'Price of a/b: reasoning is -1; expected US dollars per million, 0 to 2000',
    ],
    [
      'too much for tokens',
      { 'a/b': { input: 2_000.5 } },
      'Price of a/b: input is 2000.5; expected US dollars per million, 0 to 2000',
    ],
    [
      'too much for characters',
      { 'a/b': { characters: 2_001 } },
      'Price of a/b: characters is 2001; expected US dollars per million, 0 to 2000',
    ],
    [
      'too much for seconds',
      { 'a/b': { seconds: 1e6 } },
      'Price of a/b: seconds is 1000000; expected US dollars per million, 0 to 100000',
    ],
    [
      'too much for images',
      { 'a/b': { images: 1e8 } },
      'Price of a/b: images is 100000000; expected US dollars per million, 0 to 10000000',
    ],
    [
      'a cache dearer than none',
      { 'a/b': { input: 1, cache_read: 2 } },
      'Price of a/b: cache_read is 2; expected at most input, which is 1',
    ],
    [
      'service tiers that are none',
      { 'a/b': { input: 1, service_tiers: [] } },
      'Price of a/b: service_tiers: expected an object',
    ],
    [
      'a service tier that is none',
      { 'a/b': { input: 1, service_tiers: { flex: 0.5 } } },
      'Price of a/b: service_tiers: expected an object',
    ],
    [
      'a service tier of service tiers',
      { 'a/b': { input: 1, service_tiers: { flex: { input: 1, service_tiers: {} } } } },
      'Price of a/b: service_tiers: service_tiers is no class of units; expected one of input, input_audio, input_image, cache_read, cache_write, cache_write_1h, output, reasoning, output_audio, output_image, characters, seconds, images',
    ],
    ['tiers that are none', { 'a/b': { input: 1, tiers: {} } }, 'Price of a/b: tiers: expected an array'],
    ['a tier that is none', { 'a/b': { input: 1, tiers: [1] } }, 'Price of a/b: tiers: expected objects'],
    ['a tier of nothing', { 'a/b': { input: 1, tiers: [{ above: 5 }] } }, 'Price of a/b: tiers: there are no rates'],
    [
      'a tier from nowhere',
      { 'a/b': { input: 1, tiers: [{ above: 0, input: 2 }] } },
      'Price of a/b: tiers: above is 0; expected a number of tokens',
    ],
    [
      'a tier of part of a token',
      { 'a/b': { input: 1, tiers: [{ above: 1.5, input: 2 }] } },
      'Price of a/b: tiers: above is 1.5; expected a number of tokens',
    ],
    [
      'a tier without its bound',
      { 'a/b': { input: 1, tiers: [{ input: 2 }] } },
      'Price of a/b: tiers: above is undefined; expected a number of tokens',
    ],
  ])('are refused: %s', (_, json, message) => {
    expect(() => parsePrices(json)).toThrow(new RangeError(message))
  })

  it('are refused with an unknown class', () => {
    expect(() => parsePrices({ 'a/b': { inptu: 1 } })).toThrow(/^Price of a\/b: inptu is no class of units; .*\binput,/)
  })

  it('errors name the row', () => {
    expect(() => parsePrices({ 'a/b': { input: 1 }, 'a/c': { input: -1 } })).toThrow('Price of a/c: input is -1')
  })
})
