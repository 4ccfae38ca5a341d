import type { Provider, UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { failure, provider, target, testHealth } from '../../../../test/support/health.js'
import { Health } from './health.js'

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const left = new ApiError(499, 'server_error', 'The client went away', { code: 'internal_error' })

describe('the circuit breaker', () => {
  it('opens after the configured number of consecutive failures', () => {
    const { health, call } = testHealth()
    call(failure())
    call(failure())
    expect(health.available(target())).toBe(true)
    call(failure())
    expect(health.available(target())).toBe(false)
  })

  it('has defaults of 5 failures and 30 seconds', () => {
    const clock = { now: 0 }
    const health = new Health({ now: () => clock.now })
    const after = (failures: number): boolean => {
      for (let i = 0; i < failures; i++) health.report(target(), failure())
      return health.available(target())
    }
    expect([after(4), after(1)]).toEqual([true, false])
    clock.now = 29_999
    expect(health.available(target())).toBe(false)
    clock.now = 30_000
    expect(health.available(target())).toBe(true)
  })

  it.each([
    ['a success', undefined],
    ['an unusable answer with its usage', failure({ kind: 'malformed', accepted: true, usage })],
    ['an answer without a picture', failure({ kind: 'malformed', accepted: true, code: 'NO_IMAGE' })],
    ['an answer that was too long', failure({ kind: 'truncated', accepted: true, code: 'MAX_TOKENS' })],
  ])('starts counting again after %s', (_, error) => {
    const { health, call } = testHealth()
    for (let i = 0; i < 3; i++) {
      call(failure())
      call(failure())
      call(error)
    }
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
  })

  it.each([
    ['a client that left', left],
    ['an error of our own', new TypeError('x is undefined')],
    ['a rate limit', failure({ status: 429 })],
  ])('neither counts %s nor resets because of it', (_, error) => {
    const { health, call } = testHealth()
    call(failure())
    call(failure())
    for (let i = 0; i < 5; i++) call(error)
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 2 })
    call(failure())
    expect(health.available(target())).toBe(false)
  })

  it('threat 197: neither counts what is refused nor closes because of it', () => {
    const { health, call } = testHealth()
    for (const status of [500, 500, 400, 500, 400]) call(failure({ status, caller: status === 400 }))
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy', failures: 3 })
  })

  it.each<Partial<UpstreamFailure>>([
    { kind: 'unavailable', status: undefined },
    { kind: 'timeout', status: undefined, accepted: true },
    { kind: 'truncated', status: undefined, accepted: true },
    { kind: 'malformed', status: undefined, accepted: true },
    { status: 500, accepted: true, code: 'INTERNAL' },
    { status: 429, credential: true, code: 'insufficient_quota' },
    { status: 503 },
    { status: 529 },
    { status: 401, credential: true },
  ])('counts %o', (fields) => {
    const { health, call } = testHealth()
    for (let i = 0; i < 3; i++) call(failure(fields))
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy', last_failure: fields.kind ?? 'status' })
  })

  it.each<Partial<UpstreamFailure>>([
    { kind: 'timeout', status: undefined, accepted: true },
    { status: 504 },
    { status: 524 },
    { status: 401, credential: true },
    { status: 403, credential: true },
    { status: 404 },
    { status: 500 },
    { kind: 'unavailable', status: undefined, accepted: true },
  ])(
    'counts %o only where nobody was answered for restMs, and a 500 or a connection that breaks for five seconds',
    (fields) => {
      const { clock, health, call } = testHealth()
      call()
      clock.now += fields.status === 500 || fields.kind === 'unavailable' ? 4_999 : 9_999
      for (let i = 0; i < 3; i++) call(failure(fields))
      expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
      clock.now += 1
      for (let i = 0; i < 3; i++) call(failure(fields))
      expect(health.describe(provider)).toMatchObject({ status: 'unhealthy' })
    },
  )

  it.each([
    [
      'Request too large for m on tokens per min (TPM): Limit 30000, Requested 100000.',
      { status: 429, retryAfter: 60 },
    ],
    [
      'This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens',
      { status: 402, credential: true },
    ],
    ['Resource unavailable: try again later', { status: 429 }],
    ['Flex capacity exceeded', { status: 498 }],
  ])('does not count what another request would pass, and lets no model rest: %s', (text, fields) => {
    const { health } = testHealth()
    const error = new UpstreamError(text, failure(fields).failure)
    for (let i = 0; i < 5; i++) health.report(target(), error)
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
    expect(health.rest(target())).toBeUndefined()
  })

  it.each([
    'Country, region, or territory not supported',
    'The upstream answered with status 403',
    'API key was leaked',
  ])('counts a 403 that names no model: %s', (message) => {
    const { health } = testHealth()
    const error = new UpstreamError(message, failure({ status: 403, credential: true }).failure)
    for (let i = 0; i < 3; i++) health.report(target('gpt-x'), error)
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy' })
  })

  it('is separate for each provider object, also with the same id', () => {
    const { health, open } = testHealth()
    open()
    const twin: Provider = { ...provider }
    expect([health.available(target()), health.available(target('m', twin))]).toEqual([false, true])
  })
})

describe('half-open, a provider', () => {
  it('is probed by one request at a time', () => {
    const { clock, health, open } = testHealth()
    open()
    clock.now += 9_999
    expect(health.available(target())).toBe(false)
    clock.now += 1
    expect(health.available(target())).toBe(true)
    const probe = target()
    health.begin(probe)
    expect(health.available(target())).toBe(false)
    clock.now += 9_999
    expect(health.available(target())).toBe(false)
    health.report(probe)
    expect(health.available(target())).toBe(true)
    health.begin(target())
    expect(health.available(target())).toBe(true)
  })

  it('is probed by another request when one takes as long as a slow reader', () => {
    const { clock, health, open } = testHealth()
    open()
    clock.now += 10_000
    health.begin(target())
    clock.now += 10_000
    expect(health.available(target())).toBe(true)
  })

  it('opens again immediately when the probe fails', () => {
    const { clock, health, call, open } = testHealth()
    open()
    clock.now += 10_000
    call(failure())
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy', failures: 4 })
    clock.now += 9_999
    expect(health.available(target())).toBe(false)
    clock.now += 1
    expect(health.available(target())).toBe(true)
  })

  it.each([
    ['left', left],
    ['was rate limited', failure({ status: 429 })],
  ])('can be probed by the next request when the first %s', (_, error) => {
    const { clock, health, call, open } = testHealth()
    open()
    clock.now += 10_000
    call(error)
    expect(health.available(target())).toBe(true)
    expect(health.describe(provider).status).toBe('unhealthy')
    call()
    expect(health.describe(provider).status).toBe('healthy')
  })

  it('is not probed twice because an ordinary request ends', () => {
    const { clock, health, open } = testHealth()
    open()
    const early = target()
    health.begin(early)
    clock.now += 10_000
    expect(health.available(target())).toBe(true)
    const [probe, other] = [target(), target()]
    health.begin(probe)
    health.begin(other)
    health.report(early, left)
    health.report(other, failure({ status: 429 }))
    expect(health.available(target())).toBe(false)
    health.report(probe, left)
    expect(health.available(target())).toBe(true)
  })
})

describe('an open breaker', () => {
  it('lets all models rest until one request may try the provider', () => {
    const { clock, health, open } = testHealth()
    open()
    expect(health.rest(target('any'))).toEqual({ why: 'unhealthy', until: clock.now + 10_000 })
    clock.now += 10_000
    expect(health.rest(target('any'))).toBeUndefined()
  })
})

describe('the description of a provider', () => {
  it('has its state and the time of the next probe', () => {
    const { health, call, open } = testHealth()
    const fresh = { id: 'p', status: 'healthy', failures: 0, last_failure: null, next_try: null }
    expect(health.describe(provider)).toEqual(fresh)
    open()
    expect(health.describe(provider)).toEqual({
      id: 'p',
      status: 'unhealthy',
      failures: 3,
      last_failure: 'status',
      next_try: '2026-01-02T00:00:10.000Z',
    })
    call()
    expect(health.describe(provider)).toEqual({ ...fresh, last_failure: 'status' })
  })
})
