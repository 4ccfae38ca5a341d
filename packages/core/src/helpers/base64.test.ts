import { expect, it } from 'vitest'
import { fromBase64, toBase64 } from './base64.js'

it.each([0, 1, 2, 3, 24_575, 24_576, 24_577])('%i bytes survive encoding and decoding', (size) => {
  const bytes = Uint8Array.from({ length: size }, (_, i) => i % 251)
  const text = toBase64(bytes)
  expect(text).toBe(Buffer.from(bytes).toString('base64'))
  expect(fromBase64(text)).toEqual(bytes)
})

it('invalid base64 throws', () => expect(() => fromBase64('<html>')).toThrow())
