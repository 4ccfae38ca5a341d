import { describe, expect, it } from 'vitest'
import { parseUrl } from './parse-url.js'

describe('parseUrl', () => {
  it.each([
    'https://a.example/x?y#z',
    'HTTPS:\\\\user:password@a.example:1\\x',
    ' http:a.example',
    'https://\ta.ex\nample',
    'https://bücher.example',
    `https://a.example/${'x'.repeat(100_000)}`,
    `https://a.example?${'\u0301\u0323'.repeat(50_000)}`,
    'data:image/png;base64,AAAA',
  ])('reads %j', (text) => expect(parseUrl(text)?.href).toBe(new URL(text).href))

  it('reads a host with an umlaut, however often it was asked before', () => {
    for (let i = 0; i < 20_000; i++) parseUrl(`https://a.example/${i}`)
    expect(parseUrl('https://bücher.example')?.host).toBe('xn--bcher-kva.example')
  })

  it.each(['', 'a.example', '/x', 'https://', 'https://[', `https://${'a'.repeat(1_001)}`])('refuses %j', (text) =>
    expect(parseUrl(text)).toBeUndefined(),
  )

  it.each(['https://a', 'https:\\\\', ' https:', 'h\tttp\ns\r://', '\thttps:/\n/', 'https://user@'])(
    'takes no time for a long host behind %j',
    (start) => {
      // `new URL` takes longer than a test may.
      expect(parseUrl(`//${'\u0301\u0323'.repeat(1_000_000)}`, 'https://a.example')).toBeUndefined()
      expect(parseUrl(`${start}${'\u0301\u0323'.repeat(1_000_000)}/x`)).toBeUndefined()
    },
  )
})
