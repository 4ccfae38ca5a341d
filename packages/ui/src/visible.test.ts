import { expect, it } from 'vitest'
import { visible } from './visible.js'

it.each([
  ['report\u202Etxt.exe', 'report\\u{202e}txt.exe'],
  ['a\u200Bb\u2066c\u2069\uFEFF', 'a\\u{200b}b\\u{2066}c\\u{2069}\\u{feff}'],
  ['a\u0007\u2028b', 'a\\u{7}\\u{2028}b'],
  ['{\n\t"a": "ü 例 😀"\n}', '{\n\t"a": "ü 例 😀"\n}'],
])('%j is shown as %s', (text, shown) => expect(visible(text)).toBe(shown))
