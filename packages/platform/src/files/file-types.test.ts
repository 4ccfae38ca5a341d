import { describe, expect, it } from 'vitest'
import { contentTypeOf, mayShow, mediaTypeOf, utf8Check } from './file-types.js'

const bytes = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0))
const samples: [type: string, head: string][] = [
  ['image/png', '\x89PNG\r\n\x1a\n…'],
  ['image/jpeg', '\xff\xd8\xff\xe0'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF\0\0\0\0WEBPVP8 '],
  ['image/avif', '\0\0\0\x20ftypavif'],
  ['image/avif', '\0\0\0\x20ftypavis'],
  ['audio/mpeg', 'ID3\x04'],
  ['audio/mpeg', '\xff\xfb\x90'],
  ['audio/wav', 'RIFF\0\0\0\0WAVEfmt '],
  ['audio/webm', '\x1aE\xdf\xa3'],
  ['video/mp4', '\0\0\0\x20ftypisom'],
  ['video/webm', '\x1aE\xdf\xa3'],
  ['text/plain', 'Hello'],
  ['text/plain', ''],
  // Ä, cut in the middle.
  ['text/plain', 'A\xc3'],
]

describe('a file may be shown in place', () => {
  it.each(samples)('as %s, where it begins with %j', (type, head) => expect(mayShow(type, bytes(head))).toBe(true))

  it('never as another type', () => {
    for (const [type, head] of samples)
      for (const [other] of samples) {
        const isSame = samples.some(([known, begin]) => known === other && begin === head)
        // What is a text is one whatever else it is, and MP4 and AVIF begin alike.
        const mayBe = other === 'text/plain' || (other === 'video/mp4' && type === 'image/avif')
        if (!isSame && !mayBe) expect(mayShow(other, bytes(head)), `${head} as ${other}`).toBe(false)
      }
  })

  it.each([
    ['text/html', 'Hello'],
    ['application/pdf', '%PDF-1.7'],
    ['image/svg+xml', '<svg'],
    ['application/json', '{}'],
    ['application/octet-stream', 'GIF89a'],
    ['text/plain', 'a\0b'],
    ['text/plain', '\xff\xfe'],
    ['image/png', '\x89PNG'],
    ['image/png', ''],
    ['constructor', ''],
    ['__proto__', ''],
  ])('not as %s, where it begins with %j', (type, head) => expect(mayShow(type, bytes(head))).toBe(false))
})

it.each([
  ['', true],
  ['a|b', true],
  ['A\xc3|\x84', true],
  ['A\xc3', false],
  ['a|\xe9|b', false],
  ['a|\0|b', false],
])('%j in chunks is UTF-8: %s', (text, isText) => {
  const check = utf8Check()
  for (const chunk of text.split('|')) check(bytes(chunk))
  expect(check()).toBe(isText)
})

it.each([
  ['text/HTML; charset=utf-8', 'text/html'],
  [' image/svg+xml ', 'image/svg+xml'],
  ['application/vnd.ms-excel', 'application/vnd.ms-excel'],
  ['', 'application/octet-stream'],
  ['text', 'application/octet-stream'],
  ['text/', 'application/octet-stream'],
  ['a/b/c', 'application/octet-stream'],
  ['text/pl ain', 'application/octet-stream'],
  ['text/plain\r\nx: y', 'application/octet-stream'],
  [`a/${'b'.repeat(101)}`, 'application/octet-stream'],
])('the media type %j is kept as %s', (given, type) => expect(mediaTypeOf(given)).toBe(type))

it.each([
  ['text/plain', true, 'text/plain; charset=utf-8'],
  ['text/plain', false, 'text/plain'],
  ['image/png', true, 'image/png'],
  ['text/html', false, 'text/html'],
  ['text/javascript', false, 'application/octet-stream'],
  ['application/x-ecmascript', false, 'application/octet-stream'],
  ['text/css', false, 'application/octet-stream'],
  ['application/wasm', false, 'application/octet-stream'],
  ['application/manifest+json', false, 'application/octet-stream'],
])('%s, shown in place: %s, is sent as %s', (type, isShown, sent) => expect(contentTypeOf(type, isShown)).toBe(sent))
