import { describe, expect, it } from 'vitest'
import { indented } from './indented.js'

describe('JSON that is shown', () => {
  it('has a line for each value', () => {
    expect(indented('{"a":[1,"]}\\"["]}')).toBe('{\n  "a": [\n    1,\n    "]}\\"["\n  ]\n}')
    expect(() => indented('{')).toThrow(SyntaxError)
  })

  it('threat 81: is as it came where lines of it would be mostly spaces, or very many', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(indented(nested(32))).toContain('\n')
    const long = JSON.stringify(Array.from({ length: 12_000 }, () => 1))
    for (const json of [nested(33), nested(1_500), long]) expect(indented(json)).toBe(json)
  })
})
