import { describe, expect, it } from 'vitest'
import { parseAnswer, parseJson } from './json.js'

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
