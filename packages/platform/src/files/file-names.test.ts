import { expect, it } from 'vitest'
import { displayNameOf } from './file-names.js'

it.each([
  ['a.txt', 'a.txt'],
  [' a b .txt ', 'a b .txt'],
  ['A\u0308rger', 'Ärger'],
  ['日本語 😀.png', '日本語 😀.png'],
  ['a\r\n\0\u0085b', 'ab'],
  ['a: b?', 'a: b?'],
  ['\ud800x', '\ufffdx'],
  ['', 'file'],
  ['\u0007', 'file'],
  [`${'x'.repeat(300)}.txt`, `${'x'.repeat(251)}.txt`],
  // No character is cut: 62 of 4 bytes each and 4 for the extension.
  [`${'😀'.repeat(100)}.txt`, `${'😀'.repeat(62)}.txt`],
  [`a.${'x'.repeat(300)}`, `a.${'x'.repeat(253)}`],
])('%j is shown as %j', (given, shown) => expect(displayNameOf(given)).toBe(shown))

it('threat 218: is made of the beginning and the end of a name, as normal form C takes the square of the marks in it', () => {
  const name = displayNameOf(`a${'\u0316\u0301'.repeat(200_000)}.txt`)
  expect(name).toMatch(/^á\u0316.*\.txt$/u)
  expect(new TextEncoder().encode(name).length).toBeLessThanOrEqual(255)
})
