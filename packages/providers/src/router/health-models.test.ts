import type { CallKind, Target, UpstreamFailure } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { failure, provider, target, testHealth } from '../../../../test/support/health.js'
import { Health } from './health.js'

describe('a model that is refused or fails', () => {
  it.each([
    ['a 403 with the id of the model', 'm-7b is not for you', { status: 403 }],
    ['a 403 with the code of OpenAI', 'No access', { status: 403, code: 'model_not_found' }],
    ['a 403 of Claude', 'Your API key does not have permission to use the specified resource', { status: 403 }],
    ['a 404 that is no fault of the caller', 'No such model', { status: 404, credential: false }],
    ['a 401 of LiteLLM with the id of the model', 'Key not allowed to access model. Tried m-7b', { status: 401 }],
    ['a 501 of llama.cpp', 'This server does not support embeddings', { status: 501, credential: false }],
    ['a 405', 'Method not allowed', { status: 405, credential: false }],
  ])('does not count %s, after which the model rests', (_, message, fields) => {
    const { clock, health } = testHealth()
    const error = new UpstreamError(message, { ...failure({ credential: true, ...fields }).failure })
    for (let i = 0; i < 5; i++) health.report(target('m-7b'), error)
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
    expect([health.rest(target('m-7b'))?.why, health.rest(target('other'))]).toEqual(['limited', undefined])
    clock.now += 10_000
    expect(health.rest(target('m-7b'))).toBeUndefined()
  })

  it('threat 193: does not count errors of a model while others answer, as of one that is dead or overloaded', () => {
    const { clock, health, call } = testHealth()
    call()
    clock.now += 9_999
    for (let i = 0; i < 3; i++) health.report(target('preview'), failure({ status: 503 }))
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
    for (let i = 0; i < 3; i++) call(failure({ status: 503 }))
    expect(health.describe(provider)).toMatchObject({ status: 'unhealthy' })
  })

  it.each<Partial<UpstreamFailure>>([
    { status: 503 },
    { status: 500 },
    { status: 401, credential: true },
    { kind: 'timeout', status: undefined, accepted: true },
    { kind: 'truncated', status: undefined, accepted: true },
  ])('lets a model rest that fails with %o while others of its provider answer', (fields) => {
    const { clock, health, call } = testHealth()
    const fail = (): void => health.report(target('preview'), failure(fields))
    const rest = (): string | undefined => health.rest(target('preview'))?.why
    health.report(target('preview'))
    clock.now += 10_000
    call()
    for (let i = 0; i < 2; i++) fail()
    expect(rest()).toBeUndefined()
    fail()
    expect([rest(), health.rest(target())]).toEqual(['limited', undefined])
    expect(health.describe(provider)).toMatchObject({ status: 'healthy', failures: 0 })
    clock.now += 10_000
    call()
    expect(rest()).toBeUndefined()
    health.report(target('preview'))
    clock.now += 10_000
    call()
    for (let i = 0; i < 2; i++) fail()
    expect(rest()).toBeUndefined()
  })

  it('lets no model rest for time-outs while it answers others', () => {
    const { clock, health } = testHealth()
    health.report(target())
    clock.now += 9_999
    for (let i = 0; i < 5; i++) health.report(target(), failure({ kind: 'timeout', status: undefined, accepted: true }))
    expect(health.rest(target())).toBeUndefined()
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
      const { health } = testHealth()
      ask(health, 'embeddings', refused)
      expect([rests(health, 'embeddings'), rests(health, 'chat')]).toEqual([true, false])
      expect(health.limits(provider)).toHaveLength(1)
    })

    it('does not rest for an hour after its last answer', () => {
      const { clock, health } = testHealth()
      ask(health, 'chat')
      clock.now += 3_599_999
      ask(health, 'chat', refused)
      expect(rests(health, 'chat')).toBe(false)
      clock.now += 1
      ask(health, 'chat', refused)
      expect(rests(health, 'chat')).toBe(true)
    })

    it('does not rest for five seconds after it has, so that others may get an answer', () => {
      const { clock, health } = testHealth()
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
})

describe('a rate limit', () => {
  it.each([
    [10_000, undefined],
    [7_000, 7],
    [0, 0],
    [300_000, 86_400],
  ])('lets the model rest for %i ms with a Retry-After of %s seconds', (ms, retryAfter) => {
    const { clock, health, call } = testHealth()
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
    const { clock, health } = testHealth()
    health.report(target(), new UpstreamError(text, failure({ status: 429, retryAfter: 60 }).failure))
    expect(health.rest(target())?.until).toBe(clock.now + 5_000)
  })

  it('threat 167: lets requests pass that are far smaller than what a limit of tokens has refused', () => {
    const { health } = testHealth()
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
    const { health, call } = testHealth()
    const before = target()
    health.begin(before)
    call(failure({ status: 429, retryAfter: 60 }))
    health.report(before)
    expect(health.rest(target())?.why).toBe('limited')
    call()
    expect(health.rest(target())).toBeUndefined()
  })

  it.each([503, 529, 500])('is also a %i with a Retry-After, which counts as a failure too', (status) => {
    const { clock, health, call } = testHealth()
    call(failure({ status, retryAfter: 2 }))
    expect(health.describe(provider).failures).toBe(1)
    expect(health.rest(target())).toEqual({ why: 'limited', until: clock.now + 2_000 })
    expect(health.rest(target('other'))).toBeUndefined()
  })
})
