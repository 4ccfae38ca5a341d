import type { ApiError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { collect, paced, parseJson, requireJson } from './body.js'

const utf8 = new TextEncoder()

/** What goes wrong, as `status code message`; undefined where nothing does. */
function complaint(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    const { status, code, message } = error as ApiError
    return `${status} ${code} ${message}`
  }
}

const parse = (body: string | number[], depth = 128): unknown =>
  parseJson(typeof body === 'string' ? utf8.encode(body) : Uint8Array.from(body), depth)

const nested = (levels: number, open = '[', close = ']'): string => open.repeat(levels) + close.repeat(levels)

describe('parseJson', () => {
  it.each<[text: string, value: unknown]>([
    ['{"a":[1,"ü😀",null]}', { a: [1, 'ü😀', null] }],
    [' \n{}\t', {}],
    ['"text"', 'text'],
    ['0', 0],
    ['{"a":"\\u0000\\ud800"}', { a: '\0\ud800' }],
  ])('reads %s', (text, value) => expect(parse(text)).toEqual(value))

  it('reads a body that begins with a byte order mark', () => expect(parse([0xef, 0xbb, 0xbf, 0x7b, 0x7d])).toEqual({}))

  it.each<[what: string, body: string | number[]]>([
    ['trailing data', '{} {}'],
    ['a trailing comma', '{"a":1,}'],
    ['an open object', '{"a":1'],
    ['an open string', '{"a":"b'],
    ['a comment', '{} // x'],
    ['plain text', 'hello'],
    ['white space', '  '],
    ['NaN', 'NaN'],
    ['two byte order marks', [0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, 0x7b, 0x7d]],
  ])('refuses %s', (_, body) =>
    expect(complaint(() => parse(body))).toBe('400 invalid_json The request body is not valid JSON'),
  )

  it('refuses what is not UTF-8', () => {
    const message = '400 invalid_json The request body is not valid UTF-8'
    expect(complaint(() => parse([0x22, 0xff, 0x22]))).toBe(message)
    expect(complaint(() => parse([0x22, 0xc3, 0x22]))).toBe(message)
    expect(complaint(() => parse([0x22, 0xed, 0xa0, 0x80, 0x22]))).toBe(message)
  })

  it('refuses an empty body', () => {
    expect(complaint(() => parse(''))).toBe('400 invalid_json The request body is empty; a JSON object is expected')
  })

  it('accepts 128 levels and refuses 129', () => {
    const message = '400 invalid_json The request body nests deeper than 128 levels'
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ]) {
      const inner = open === '[' ? '' : '1'
      const at = (levels: number): string => open!.repeat(levels) + inner + close!.repeat(levels)
      expect(complaint(() => parse(at(128)))).toBeUndefined()
      expect(complaint(() => parse(at(129)))).toBe(message)
    }
    expect(complaint(() => parse(nested(100_000)))).toBe(message)
    expect(complaint(() => parse('['.repeat(1_000_000)))).toBe(message)
  })

  it('accepts 400,000 values and refuses one more', () => {
    const message = '400 invalid_json The request body has more than 400000 values'
    const list = (n: number, value: string): string => `[${Array(n).fill(value).join(',')}]`
    expect(parse(list(399_999, '0'))).toHaveLength(399_999)
    expect(complaint(() => parse(list(400_000, '0')))).toBe(message)
    expect(complaint(() => parse(list(200_001, '{}')))).toBe(message)
    expect(complaint(() => parse(list(200_001, '[1]')))).toBe(message)
    expect(parse(JSON.stringify([',{['.repeat(1_000_000)]))).toHaveLength(1)
  })

  it('accepts 100,000 fields and refuses one more', () => {
    const fields = (n: number): string => `{${Array.from({ length: n }, (_, i) => `"${i}":0`).join(',')}}`
    const pairs = (n: number): string => `[${Array(n).fill('{"a":{"b":":"}}').join(',')}]`
    const message = '400 invalid_json The request body has more than 100000 fields'
    expect([fields(100_000), pairs(50_000)].map((text) => complaint(() => parse(text)))).toEqual([undefined, undefined])
    expect([fields(100_001), pairs(50_001)].map((text) => complaint(() => parse(text)))).toEqual([message, message])
  })

  it('counts levels, not brackets', () => {
    expect(parse(`[${Array(1_000).fill('[]').join(',')}]`, 2)).toHaveLength(1_000)
  })

  it.each([
    JSON.stringify([nested(200)]),
    JSON.stringify([`"${nested(200)}`]),
    JSON.stringify([`\\${nested(200)}\\`]),
    JSON.stringify([`\\"${nested(200)}\\\\"`]),
    JSON.stringify({ [nested(200, '{', '}')]: ['\\', '\\\\', '"'] }),
  ])('does not count brackets within strings: %.40s…', (text) => expect(JSON.stringify(parse(text, 2))).toBe(text))

  it('counts brackets behind a string that ends in backslashes', () => {
    expect(complaint(() => parse(`["\\\\",${nested(3)}]`, 3))).toContain('deeper than 3')
    expect(complaint(() => parse(`["\\\\\\"",${nested(3)}]`, 3))).toContain('deeper than 3')
    expect(complaint(() => parse(`["\\\\",${nested(2)}]`, 3))).toBeUndefined()
  })

  it('keeps prototype keys as own data', () => {
    const value = parse('{"__proto__":{"x":1}}') as object
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(({} as { x?: number }).x).toBeUndefined()
  })
})

describe('requireJson', () => {
  it.each([
    undefined,
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset=UTF-8',
    ' application/json ',
    'application/vnd.api+json',
  ])('accepts content type %j', (type) => expect(complaint(() => requireJson(type, undefined))).toBeUndefined())

  it.each([
    'text/plain',
    'application/jsonx',
    'multipart/form-data; boundary=x',
    '',
    'application/x-www-form-urlencoded',
  ])('refuses content type %j', (type) =>
    expect(complaint(() => requireJson(type, undefined))).toBe(
      '400 invalid_body Content-Type must be application/json',
    ),
  )

  it('refuses compressed bodies', () => {
    expect(complaint(() => requireJson('application/json', 'Identity'))).toBeUndefined()
    expect(complaint(() => requireJson('application/json', 'gzip'))).toBe(
      '400 invalid_body Content-Encoding "gzip" is not supported; send the body uncompressed',
    )
  })
})

describe('collect', () => {
  const chunks = (...sizes: number[]) => {
    const taken = { count: 0 }
    const body = (async function* () {
      for (const size of sizes) {
        taken.count++
        yield new Uint8Array(size).fill(taken.count)
      }
    })()
    return { taken, body }
  }

  it('joins chunks up to the limit', async () => {
    expect([...(await collect(chunks(2, 0, 1).body, 3))]).toEqual([1, 1, 3])
    expect(await collect(chunks().body, 3)).toHaveLength(0)
  })

  it('reckons with what each piece costs', async () => {
    let taken = 0
    await collect(chunks(1, 1, 500).body, 1_000, { take: (bytes) => (taken += bytes) })
    expect(taken).toBe(3 * 256 + 502)
  })

  it('stops reading over the limit', async () => {
    const { taken, body } = chunks(2, 2, 2, 2)
    await expect(collect(body, 3)).rejects.toMatchObject({
      status: 413,
      type: 'invalid_request_error',
      code: 'request_too_large',
      message: 'The request body is larger than 3 bytes',
    })
    expect(taken.count).toBe(2)
  })
})

describe('paced', () => {
  const pace = { idleMs: 1_000, bytesPerS: 500 }
  const read = async (sizes: number[]): Promise<number> => {
    let count = 0
    const body = (async function* () {
      for (const size of sizes) yield new Uint8Array(size)
    })()
    for await (const { length } of paced(body, pace)) count += Math.sign(length)
    return count
  }

  it('refuses more than 10,000 pieces of less than 32 bytes on average', async () => {
    const pieces = (count: number, size: number) => Array.from({ length: count }, () => size)
    expect(await read(pieces(10_000, 1))).toBe(10_000)
    const refused = { status: 400, code: 'invalid_body', message: expect.stringContaining('small pieces') as string }
    await expect(read(pieces(10_001, 1))).rejects.toMatchObject(refused)
    await expect(read(pieces(10_001, 31))).rejects.toMatchObject(refused)
    expect(await read(pieces(10_001, 32))).toBe(10_001)
    expect(await read([320_000, ...pieces(10_000, 1)])).toBe(10_001)
  })
})
