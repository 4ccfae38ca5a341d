import { expect, it } from 'vitest'
import { requireSameOrigin } from './same-origin.js'

const host = 'app.example:8443'
const trustedOrigins = ['https://console.example']

/** Whether a request is let through. */
const passes = (
  headers: Record<string, string>,
  { method = 'POST', called = `https://${host}`, baseUrl = undefined as string | undefined, unknown = false } = {},
): boolean => {
  try {
    const head = { method, header: (name: string) => headers[name], ip: () => '', origin: () => called }
    requireSameOrigin(head, { baseUrl, trustedOrigins, unknown })
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
  [false, { origin: `http://${host}` }],
  [false, { referer: `http://${host}/some/page` }],
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

it.each<[passes: boolean, origin: string, called: string, baseUrl: string]>([
  // A proxy serves TLS and does not say so.
  [true, 'https://ai.example', 'http://ai.example', 'https://ai.example/'],
  [false, 'http://ai.example', 'http://ai.example', 'https://ai.example'],
  [false, 'http://ai.example', 'https://ai.example', 'https://ai.example'],
  // By another name, such as an address of the same machine.
  [true, 'http://10.0.0.1:8787', 'http://10.0.0.1:8787', 'https://ai.example'],
  [true, 'https://ai.example', 'http://10.0.0.1:8787', 'https://ai.example'],
])('%s for a page of %s that calls %s of the base URL %s', (expected, origin, called, baseUrl) =>
  expect(passes({ origin }, { called, baseUrl })).toBe(expected),
)

it('lets through what changes nothing', () => {
  for (const method of ['GET', 'HEAD', 'OPTIONS'])
    expect(passes({ 'sec-fetch-site': 'cross-site' }, { method })).toBe(true)
})

it('threat 219: refuses what pages of other origins have browsers read', () => {
  for (const site of ['cross-site', 'same-site'])
    for (const dest of ['image', 'empty', 'iframe', 'document'])
      expect([site, dest, passes({ 'sec-fetch-site': site, 'sec-fetch-dest': dest }, { method: 'GET' })]).toEqual([
        site,
        dest,
        false,
      ])
  for (const site of ['same-origin', 'none'])
    expect(passes({ 'sec-fetch-site': site, 'sec-fetch-dest': 'empty' }, { method: 'GET' })).toBe(true)
})

it('lets through what no browser sends, where that is asked for', () => {
  expect(passes({}, { unknown: true })).toBe(true)
  expect(passes({ 'sec-fetch-site': 'cross-site' }, { unknown: true })).toBe(false)
  expect(passes({ origin: 'https://evil.example' }, { unknown: true })).toBe(false)
})
