import { describe, expect, it } from 'vitest'
import { isOfCaller } from './callers-words.js'

const said = (content: string) => ({ messages: [{ role: 'user', content }] })

describe('what stands in a request', () => {
  it.each([
    ['as it is', 'temperature is unsupported'],
    ['percent-encoded', 'temperature%20is%20unsupp%6Frted'],
    ['as JSON in a text', '{"detail":"temperature is unsupp\\u006frted"}'],
    ['over lines of JSON in a text', '{"detail":"temperature\\nis\\tunsupported"}'],
    ['with the letters of another case, quoted', '"Temperature" is UNSUPPORTED'],
  ])('is found: %s', (_, content) => expect(isOfCaller(['temperature is unsupported'], said(content))).toBe(true))

  it.each(['temperature', 'C:\\temp\\unsupported', 'temperature is unsupp\\u006', '\\'])(
    'is not what is not there: %s',
    (content) => expect(isOfCaller(['temperature is unsupported'], said(content))).toBe(false),
  )

  it('threat 151: is not looked for where an answer has many texts, of which each takes a pass over the request', () => {
    const texts = (count: number) => Array.from({ length: count }, (_, i) => `parameter ${i} is unsupported`)
    expect([isOfCaller(texts(32), said('Hi')), isOfCaller(texts(33), said('Hi'))]).toEqual([false, true])
  })
})
