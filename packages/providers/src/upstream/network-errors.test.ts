import { describe, expect, it } from 'vitest'
import { neverSent } from './network-errors.js'

const coded = (code: unknown, cause?: unknown) => Object.assign(new Error('x', { cause }), { code })

describe('neverSent', () => {
  it.each([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'UND_ERR_CONNECT_TIMEOUT',
    'ConnectionRefused',
    'FailedToOpenSocket',
    'CERT_HAS_EXPIRED',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
  ])('is true for %s', (code) => {
    expect(neverSent(coded(code))).toBe(true)
    expect(neverSent(new TypeError('fetch failed', { cause: coded(code) }))).toBe(true)
  })

  it.each(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'ABORT_ERR', 7, undefined])(
    'is false for %s',
    (code) => expect(neverSent(coded(code))).toBe(false),
  )

  it('is false for anything but an error', () => {
    expect([undefined, null, 'ECONNREFUSED', 1].map(neverSent)).toEqual([false, false, false, false])
  })
})
