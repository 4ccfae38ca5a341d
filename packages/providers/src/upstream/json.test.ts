import { describe, expect, it } from 'vitest'
import { excessOf, parseAnswer, parseJson } from './json.js'

describe('the JSON of an answer', () => {
  it('may have the numbers of Python that JSON has not', () => {
    const text = '{"logprob": -Infinity, "a": [NaN,Infinity], "text": "NaN \\"-Infinity\\\\", "NaN": 1}'
    expect(parseAnswer(text)).toEqual({ logprob: null, a: [null, null], text: 'NaN "-Infinity\\', NaN: 1 })
    expect(parseJson(text)).toBeUndefined()
  })

  it.each(['{"a": NaNa}', '{"a": infinity}', 'NaN NaN', '{"a": NaN', '', '<html>'])('is none in %j', (text) =>
    expect(parseAnswer(text)).toBeUndefined(),
  )

  it('takes linear time', () => {
    expect(parseAnswer(`{"NaN": ${'"\\\\'.repeat(1e6)}`)).toBeUndefined()
    expect(parseAnswer(`[NaN, "${'\\\\x'.repeat(9e5)}"]`)).toHaveLength(2)
  })
})

it('threat 229: JSON nests no deeper than it can be written again', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  expect(excessOf(nested(20_000))).toBe('nests deeper than 128 levels')
  expect(excessOf(nested(2_048))).toBeUndefined()
  expect(JSON.stringify(parseJson(nested(2_048)))).toBe(nested(2_048))
})
