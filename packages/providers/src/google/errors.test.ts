import { describe, expect, it } from 'vitest'
import { errors } from './errors.js'

const answer = (status: number, word: string, details?: object[], header: Record<string, string> = {}) => ({
  status,
  header: (name: string) => header[name],
  body: { error: { code: status, message: `It is ${word}`, status: word, ...(details && { details }) } } as unknown,
})

describe('errors', () => {
  it.each([
    [400, 'INVALID_ARGUMENT', true, false],
    [400, 'FAILED_PRECONDITION', false, true],
    [401, 'UNAUTHENTICATED', false, true],
    [403, 'PERMISSION_DENIED', false, true],
    [404, 'NOT_FOUND', true, false],
    [409, 'ABORTED', false, false],
    [429, 'RESOURCE_EXHAUSTED', false, false],
    [499, 'CANCELLED', false, false],
    [500, 'INTERNAL', false, false],
    [503, 'UNAVAILABLE', false, false],
    [504, 'DEADLINE_EXCEEDED', false, false],
  ])('%i %s', (status, word, caller, credential) => {
    expect(errors(answer(status, word))).toEqual({
      message: `It is ${word}`,
      caller,
      credential,
      code: word,
      retryAfter: undefined,
    })
  })

  it('treats a file of another account as the fault of the caller', () => {
    const message = 'You do not have permission to access the File abc or it may not exist.'
    const body = { error: { code: 403, message, status: 'PERMISSION_DENIED' } }
    expect(errors({ ...answer(403, ''), body })).toMatchObject({ message, caller: true, credential: false })
  })

  it('treats an invalid key as the fault of the gateway', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
    expect(errors(answer(400, 'INVALID_ARGUMENT', details))).toMatchObject({ caller: false, credential: true })
  })

  it.each([
    ['34.4s', 35],
    ['7s', 7],
    ['0s', 0],
    ['soon', 3],
    [undefined, 3],
  ])('has a retry delay of %s', (retryDelay, seconds) => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay },
    ]
    expect(errors(answer(429, 'RESOURCE_EXHAUSTED', details, { 'retry-after': '3' })).retryAfter).toBe(seconds)
  })

  it('reads an error in a list', () => {
    const one = answer(400, 'INVALID_ARGUMENT')
    expect(errors({ ...one, body: [one.body] })).toEqual(errors(one))
  })

  it.each([undefined, null, '', [], [null], {}, { error: { details: { x: 'x' }, message: '' } }])(
    'finds no message in %j',
    (body) => {
      expect(errors({ status: 404, header: () => undefined, body })).toEqual({
        message: undefined,
        caller: false,
        credential: false,
        code: undefined,
        retryAfter: undefined,
      })
    },
  )
})
