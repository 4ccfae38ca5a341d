import { expect, it } from 'vitest'
import { fnv1a } from './fnv1a.js'

// The first three are the vectors that the algorithm was published with.
it.each([
  ['', 'cbf29ce484222325'],
  ['a', 'af63dc4c8601ec8c'],
  ['foobar', '85944171f73967e8'],
  // Of the bytes c3 bc.
  ['ü', '0ac20a07b71807ea'],
])('hashes %j', (text, hash) => {
  expect(fnv1a(text)).toBe(hash)
})
