import { describe, expect, it } from 'vitest'
import { normalise, vectorMaker } from './vectors.js'

/** Encoded by hand: 1 is 3f800000, -2.5 is c0200000, 0.1 is 3dcccccd, each in little-endian order. */
const vector = [1, -2.5, 0.1, 0]
const packed = 'AACAPwAAIMDNzMw9AAAAAA=='

describe('a vector', () => {
  it.each<[given: unknown, encoding: 'float' | 'base64' | null | undefined, told: unknown]>([
    [vector, 'base64', packed],
    [packed, 'base64', packed],
    [vector, 'float', vector],
    [packed, 'float', [1, -2.5, Math.fround(0.1), 0]],
    [vector, undefined, vector],
    [vector, null, vector],
    [packed, undefined, [1, -2.5, Math.fround(0.1), 0]],
    [[-0], 'base64', 'AAAAgA=='],
    [[1, 1, 1], 'base64', 'AACAPwAAgD8AAIA/'],
    ['AACAPwAAgD8AAIA/', 'float', [1, 1, 1]],
  ])('%j is encoded as %s %j', (given, encoding, told) => expect(vectorMaker(given, encoding)()).toEqual(told))

  it('of thousands of numbers survives encoding and decoding', () => {
    const many = Array.from({ length: 3_072 }, (_, i) => Math.fround(Math.sin(i)))
    const text = vectorMaker(many, 'base64')() as string
    expect(text).toBe(Buffer.from(Float32Array.from(many).buffer).toString('base64'))
    expect(vectorMaker(text, 'float')()).toEqual(many)
  })

  it.each<[given: unknown, encoding: 'float' | 'base64']>([
    [[], 'float'],
    [[], 'base64'],
    [[1, null], 'float'],
    [['1'], 'base64'],
    [[Infinity], 'float'],
    [{ 0: 1 }, 'float'],
    [null, 'float'],
    [undefined, 'base64'],
    ['', 'float'],
    ['', 'base64'],
    // Five bytes, then invalid base64.
    ['AACAPwA=', 'float'],
    ['AACAPwA=', 'base64'],
    [Array<number>(65_537).fill(0), 'float'],
    ['AACAPw=='.repeat(65_537), 'base64'],
    ['<html>', 'float'],
    ['<html>', 'base64'],
  ])('%j is invalid, requested as %s', (given, encoding) => expect(() => vectorMaker(given, encoding)).toThrow())
})

describe('normalise', () => {
  it.each<[given: number[], told: number[]]>([
    [
      [3, 4],
      [0.6, 0.8],
    ],
    [[-2], [-1]],
    [
      [0, 0],
      [0, 0],
    ],
    [
      [1e200, 0],
      [1, 0],
    ],
  ])('%j is %j', (given, told) => expect(normalise(given)).toEqual(told))
})
