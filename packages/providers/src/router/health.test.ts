import type { CallKind, Provider, Target, UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { Health } from './health.js'

const provider: Provider = { id: 'p', models: async () => [] }
const target = (model = 'm', of = provider): Target => ({ provider: of, model, price: undefined, catalogue: '' })
const failure = (fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  new UpstreamError('failed', { provider: 'p', kind: 'status', status: 500, accepted: false, ...fields })
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const left = new ApiError(499, 'server_error', 'The client went away', { code: 'internal_error' })

function setup() {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const health = new Health({ failures: 3, restMs: 10_000, now: () => clock.now })
  /** Reports one request that ends with `error`, or without one. */
  const call = (error?: unknown): void => {
    const one = target()
    health.begin(one)
    health.report(one, error)
  }
  const open = (): void => {
    for (let i = 0; i < 3; i++) call(failure())
  }
  return { clock, health, call, open }
}

describe('the circuit breaker', () => {
  it('opens after the configured number of consecutive failures', () => {
    const { health, call } = setup()
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
    const { health, call } = setup()
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
    const { health, call } = setup()
    call(failure())
    call(failure())
    for (let i = 0; i < 5; i++) call(error)
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 2 })
    call(failure())
    expect(health.available(target())).toBe(false)
  })

  it('threat 197: neither counts what is refused nor closes because of it', () => {
    const { health, call } = setup()
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
    const { health, call } = setup()
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
      const { clock, health, call } = setup()
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
    ['a 403 with the id of the model', 'm-7b is not for you', { status: 403 }],
    ['a 403 with the code of OpenAI', 'No access', { status: 403, code: 'model_not_found' }],
    ['a 403 of Claude', 'Your API key does not have permission to use the specified resource', { status: 403 }],
    ['a 404 that is no fault of the caller', 'No such model', { status: 404, credential: false }],
    ['a 401 of LiteLLM with the id of the model', 'Key not allowed to access model. Tried m-7b', { status: 401 }],
    ['a 501 of llama.cpp', 'This server does not support embeddings', { status: 501, credential: false }],
    ['a 405', 'Method not allowed', { status: 405, credential: false }],
  ])('does not count %s, after which the model rests', (_, message, fields) => {
    const { clock, health } = setup()
    const error = new UpstreamError(message, { ...failure({ credential: true, ...fields }).failure })
    for (let i = 0; i < 5; i++) health.report(target('m-7b'), error)
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
    expect([health.rest(target('m-7b'))?.why, health.rest(target('other'))]).toEqual(['limited', undefined])
    clock.now += 10_000
    expect(health.rest(target('m-7b'))).toBeUndefined()
  })

  it('threat 193: does not count errors of a model while others answer, as of one that is dead or overloaded', () => {
    const { clock, health, call } = setup()
    call()
    clock.now += 9_999
    for (let i = 0; i < 3; i++) health.report(target('preview'), failure({ status: 503 }))
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
    for (let i = 0; i < 3; i++) call(failure({ status: 503 }))
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy' })
  })

  describe('threat 193: a model that one request after another lets rest, for what it may not be asked', () => {
    const refused = new UpstreamError('This model is not for that', failure({ status: 403, credential: true }).failure)
    const ask = (health: Health, task: CallKind, error?: UpstreamError): void => {
      const one: Target = { ...target(), need: { task } }
      health.begin(one)
      health.report(one, error)
    }
    const rests = (health: Health, task: CallKind): boolean =>
      health.rest({ ...target(), need: { task } }) !== undefined

    it('rests for that alone', () => {
      const { health } = setup()
      ask(health, 'embeddings', refused)
      expect([rests(health, 'embeddings'), rests(health, 'chat')]).toEqual([true, false])
      expect(health.limits(provider)).toHaveLength(1)
    })

    it('does not rest for an hour after its last answer', () => {
      const { clock, health } = setup()
      ask(health, 'chat')
      clock.now += 3_599_999
      ask(health, 'chat', refused)
      expect(rests(health, 'chat')).toBe(false)
      clock.now += 1
      ask(health, 'chat', refused)
      expect(rests(health, 'chat')).toBe(true)
    })

    it('does not rest for five seconds after it has, so that others may get an answer', () => {
      const { clock, health } = setup()
      ask(health, 'chat', refused)
      clock.now += 10_000
      for (const ms of [0, 4_999]) {
        clock.now += ms
        ask(health, 'chat', refused)
        expect(rests(health, 'chat')).toBe(false)
      }
      clock.now += 1
      ask(health, 'chat', refused)
      expect(rests(health, 'chat')).toBe(true)
    })
  })

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
    const { health } = setup()
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
    const { health } = setup()
    const error = new UpstreamError(message, failure({ status: 403, credential: true }).failure)
    for (let i = 0; i < 3; i++) health.report(target('gpt-x'), error)
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy' })
  })

  it('is separate for each provider object, also with the same id', () => {
    const { health, open } = setup()
    open()
    const twin: Provider = { ...provider }
    expect([health.available(target()), health.available(target('m', twin))]).toEqual([false, true])
  })
})

describe('half-open, a provider', () => {
  it('is probed by one request at a time', () => {
    const { clock, health, open } = setup()
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
    const { clock, health, open } = setup()
    open()
    clock.now += 10_000
    health.begin(target())
    clock.now += 10_000
    expect(health.available(target())).toBe(true)
  })

  it('opens again immediately when the probe fails', () => {
    const { clock, health, call, open } = setup()
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
    const { clock, health, call, open } = setup()
    open()
    clock.now += 10_000
    call(error)
    expect(health.available(target())).toBe(true)
    expect(health.describe(provider).status).toBe('unhealthy')
    call()
    expect(health.describe(provider).status).toBe('healthy')
  })

  it('is not probed twice because an ordinary request ends', () => {
    const { clock, health, open } = setup()
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

describe('a rate limit', () => {
  it.each([
    [10_000, undefined],
    [7_000, 7],
    [0, 0],
    [300_000, 86_400],
  ])('lets the model rest for %i ms with a Retry-After of %s seconds', (ms, retryAfter) => {
    const { clock, health, call } = setup()
    const until = clock.now + ms
    call(failure({ status: 429, retryAfter }))
    expect(health.available(target())).toBe(true)
    expect(health.rest(target('other'))).toBeUndefined()
    expect(health.rest(target('m', { ...provider }))).toBeUndefined()
    clock.now += Math.max(0, ms - 1)
    expect(health.rest(target())).toEqual(ms > 0 ? { why: 'limited', until } : undefined)
    clock.now = until
    expect(health.rest(target())).toBeUndefined()
  })

  it.each([
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute.",
    'Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 50, Requested 29999.',
    'Requests to the operation have exceeded token rate limit of your current OpenAI S0 pricing tier.',
    'Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_paid_tier_input_token_count',
    'Too many tokens, please wait before trying again.',
  ])('threat 167: rests five seconds at most where a smaller request may pass: %s', (text) => {
    const { clock, health } = setup()
    health.report(target(), new UpstreamError(text, failure({ status: 429, retryAfter: 60 }).failure))
    expect(health.rest(target())?.until).toBe(clock.now + 5_000)
  })

  it('threat 167: lets requests pass that are far smaller than what a limit of tokens has refused', () => {
    const { health } = setup()
    const of = (prompt: number, output: number): Target => ({
      ...target(),
      need: { task: 'chat', size: () => ({ prompt, output }) },
    })
    const text = 'Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 50, Requested 30000.'
    health.report(of(10, 29_990), new UpstreamError(text, failure({ status: 429, retryAfter: 1 }).failure))
    const rests = [of(1_000, 1_999), of(1_000, 2_000), target()].map((one) => health.rest(one) !== undefined)
    expect(rests).toEqual([false, true, true])
    // A small one is refused as well: then all rest.
    health.report(of(10, 20), new UpstreamError(text, failure({ status: 429, retryAfter: 1 }).failure))
    expect(health.rest(of(10, 20))).toBeDefined()
  })

  it('ends with the answer to a request that was sent all the same, and not with that to one before', () => {
    const { health, call } = setup()
    const before = target()
    health.begin(before)
    call(failure({ status: 429, retryAfter: 60 }))
    health.report(before)
    expect(health.rest(target())?.why).toBe('limited')
    call()
    expect(health.rest(target())).toBeUndefined()
  })

  it.each([503, 529, 500])('is also a %i with a Retry-After, which counts as a failure too', (status) => {
    const { clock, health, call } = setup()
    call(failure({ status, retryAfter: 2 }))
    expect(health.describe(provider).failures).toBe(1)
    expect(health.rest(target())).toEqual({ why: 'limited', until: clock.now + 2_000 })
    expect(health.rest(target('other'))).toBeUndefined()
  })
})

describe('an open breaker', () => {
  it('lets all models rest until one request may try the provider', () => {
    const { clock, health, open } = setup()
    open()
    expect(health.rest(target('any'))).toEqual({ why: 'unhealthy', until: clock.now + 10_000 })
    clock.now += 10_000
    expect(health.rest(target('any'))).toBeUndefined()
  })
})

describe('the description of a provider', () => {
  it('has its state and the time of the next probe', () => {
    const { health, call, open } = setup()
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
