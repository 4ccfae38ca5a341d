import { expect, it } from 'vitest'
import { requireSameOrigin } from './csrf.js'

const host = 'app.example:8443'
const trustedOrigins = ['https://console.example']

/** Whether a request is let through. */
const passes = (headers: Record<string, string>, { method = 'POST', unknown = false } = {}): boolean => {
  const all: Record<string, string> = { host, ...headers }
  try {
    requireSameOrigin({ method, header: (name) => all[name], ip: () => '' }, { trustedOrigins, unknown })
    return true
  } catch {
    return false
  }
}

it.each<[passes: boolean, headers: Record<string, string>]>([
  [true, { 'sec-fetch-site': 'same-origin' }],
  [false, { 'sec-fetch-site': 'same-site' }],
  [false, { 'sec-fetch-site': 'cross-site' }],
  [false, { 'sec-fetch-site': 'none' }],
  [false, { 'sec-fetch-site': 'cross-site', origin: `https://${host}` }],
  [true, { 'sec-fetch-site': 'cross-site', origin: 'https://console.example' }],
  [true, { origin: `https://${host}` }],
  [true, { referer: `https://${host}/some/page?x` }],
  [false, { origin: 'https://app.example' }],
  [false, { origin: 'https://evil.example' }],
  [false, { origin: `https://${host}.evil.example` }],
  [false, { origin: `https://evil.example/${host}` }],
  [false, { origin: 'https://console.example.evil.example' }],
  [false, { origin: 'http://console.example' }],
  [false, { origin: 'null' }],
  [false, { origin: 'null', referer: `https://${host}/` }],
  [false, {}],
])('%s for %j', (expected, headers) => expect(passes(headers)).toBe(expected))

it('lets through what changes nothing', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    expect(passes({ 'sec-fetch-site': 'cross-site' }, { method })).toBe(true)
})

it('lets through what no browser sends, where that is asked for', () => {
  expect(passes({}, { unknown: true })).toBe(true)
  expect(passes({ 'sec-fetch-site': 'cross-site' }, { unknown: true })).toBe(false)
  expect(passes({ origin: 'https://evil.example' }, { unknown: true })).toBe(false)
})
