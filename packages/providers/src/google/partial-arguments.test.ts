import { describe, expect, it } from 'vitest'
import { addArgument, emptyArguments } from './partial-arguments.js'

describe('partial arguments', () => {
  const built = (...pieces: [path: string, value: string][]): string => {
    const root = emptyArguments()
    for (const [jsonPath, stringValue] of pieces) addArgument(root, { jsonPath, stringValue })
    return JSON.stringify(root)
  }

  it('keep prototype keys as data', () => {
    expect(built(['$.__proto__.a', 'x'], ['$.constructor.prototype.b', 'y'])).toBe(
      '{"__proto__":{"a":"x"},"constructor":{"prototype":{"b":"y"}}}',
    )
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
    expect(built(['$.a[0]', 'x'], ['$.a.__proto__.b', 'y'])).toBe('{"a":["x"]}')
    expect(([] as unknown as Record<string, unknown>)['b']).toBeUndefined()
  })

  it('never modify a prototype', () => {
    addArgument({}, { jsonPath: '$.__proto__.a', stringValue: 'x' })
    addArgument({}, { jsonPath: '$.constructor.prototype.a', stringValue: 'x' })
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
  })

  it('grow an array by one at most', () => {
    expect(built(['$.a[4294967290]', 'x'], ['$.a[1]', 'y'])).toBe('{"a":["x","y"]}')
  })

  it('have no path that is too long or too deep', () => {
    expect(built([`$${'.a'.repeat(128)}`, 'x']).length).toBe(128 * 6 + 3)
    for (const path of [`$${'.a'.repeat(129)}`, `$.${'a'.repeat(3_000)}`])
      expect(() => built([path, 'x'])).toThrow('The path of an argument is too long')
  })

  it('ignore an invalid path', () => {
    expect(built(['$', 'x'], ['', 'y'])).toBe('{}')
  })
})
