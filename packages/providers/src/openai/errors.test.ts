import { describe, expect, it } from 'vitest'
import { retryAfter } from '../upstream/retry-after.js'
import { errors } from './errors.js'

const headers = (values: Record<string, string>) => (name: string) => values[name]

describe('retryAfter', () => {
  const now = Date.parse('2026-01-02T00:00:00Z')
  it.each<[text: string | undefined, seconds: number | undefined]>([
    [undefined, undefined],
    ['7', 7],
    ['0', 0],
    ['1.2', 2],
    [' 3 ', 3],
    ['Fri, 02 Jan 2026 00:00:30 GMT', 30],
    ['Thu, 01 Jan 2026 23:59:59 GMT', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['9999999999999999', 86_400],
    ['Fri, 02 Jan 2126 00:00:30 GMT', 86_400],
  ])('of %j is %s', (text, seconds) => expect(retryAfter(text, now)).toBe(seconds))
})

describe('an error answer of OpenAI', () => {
  const meaning = (status: number, body: unknown = undefined) => errors({ status, header: headers({}), body })

  it('has message, code and delay', () => {
    const body = { error: { message: 'Slow down', type: 'tokens', param: null, code: 'rate_limit_exceeded' } }
    expect(errors({ status: 429, header: headers({ 'retry-after': '2' }), body })).toEqual({
      message: 'Slow down',
      caller: false,
      credential: false,
      code: 'rate_limit_exceeded',
      retryAfter: 2,
    })
  })

  it('of vLLM, without an error object, has a message too, so that a 404 is the fault of its caller', () => {
    const body = { object: 'error', message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 }
    expect(meaning(404, body)).toMatchObject({ message: body.message, caller: true, credential: false })
    expect(meaning(404, { detail: 'Not Found' })).toMatchObject({ message: 'Not Found', caller: false })
  })

  it.each<[values: Record<string, string>, seconds: number | undefined]>([
    [{}, undefined],
    [{ 'retry-after': '9' }, 9],
    [{ 'retry-after-ms': '1500', 'retry-after': '9' }, 2],
    [{ 'retry-after-ms': '1e300' }, 86_400],
    [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9],
  ])('has the delay of %j', (values, seconds) => {
    expect(errors({ status: 429, header: headers(values), body: undefined }).retryAfter).toBe(seconds)
  })

  it.each<[body: unknown, message: string | undefined]>([
    [{ error: 'No such model' }, 'No such model'],
    [{ error: { message: '' } }, undefined],
    [{ error: { message: 5 } }, undefined],
    [{ error: null }, undefined],
    [{}, undefined],
    [null, undefined],
    ['<title>502</title>', '502'],
    [undefined, undefined],
    [[], undefined],
  ])('with %j has the message %s', (body, message) => expect(meaning(500, body).message).toBe(message))

  it.each([400, 409, 413, 422])('with %i is the fault of the caller', (status) =>
    expect(meaning(status)).toMatchObject({ caller: true, credential: false }),
  )
  it.each([401, 402, 403])('with %i is the fault of the credential', (status) =>
    expect(meaning(status)).toMatchObject({ caller: false, credential: true }),
  )
  it.each([
    [
      'xAI',
      { code: 'permission denied', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO' },
      true,
    ],
    [
      'OpenRouter',
      { error: { code: 403, message: 'x requires moderation on OpenAI. Your input was flagged for "violence"' } },
      true,
    ],
    ['an account', { error: { message: 'Your account was flagged' } }, false],
    ['logprobs', { error: { message: 'You are not allowed to request logprobs from this model.' } }, true],
    ['a model', { error: { message: 'You are not allowed to use this model.' } }, false],
  ])('with 403 of a filter, or of a field, is the fault of the caller: %s', (_, body, caller) =>
    expect(meaning(403, body)).toMatchObject({ caller, credential: !caller }),
  )

  it('of xAI for what is against its guidelines is billed', () => {
    const error = 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO'
    expect(meaning(403, { error })).toMatchObject({ unreported: true, feeNanoUsd: 50_000_000 })
    expect(meaning(403, { error: 'No' })).not.toHaveProperty('unreported')
  })

  it.each([301, 408, 429, 500, 502, 503, 529])('with %i is the fault of neither', (status) =>
    expect(meaning(status)).toMatchObject({ caller: false, credential: false }),
  )
  it('with 404 or 410 is the fault of the caller only in the form of OpenAI', () => {
    expect(meaning(404, { error: { message: 'No model', code: 'model_not_found' } })).toMatchObject({
      caller: true,
      code: 'model_not_found',
    })
    expect(meaning(410, { title: 'Gone', detail: "The model 'x' is no longer available." })).toMatchObject({
      caller: true,
    })
    expect(meaning(410, '<html>')).toMatchObject({ caller: false })
    expect(meaning(404, '<html>')).toMatchObject({ caller: false })
    expect(meaning(404)).toMatchObject({ caller: false })
  })
})
