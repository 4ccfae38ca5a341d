import { describe, expect, it } from 'vitest'
import { errors as anthropicErrors } from '../anthropic/errors.js'
import { errors as googleErrors } from '../google/errors.js'
import { errors as openaiErrors } from '../openai/errors.js'
import { statusError } from './failures.js'

/** Of which no text can be made. */
const odd = { toString: 1, valueOf: 2 }

describe.each([
  ['openai', openaiErrors],
  ['anthropic', anthropicErrors],
  ['google', googleErrors],
])('an error of %s', (_, errors) => {
  it.each([
    { error: { message: 'Bad', code: odd } },
    { error: { message: 'Bad', type: odd } },
    { error: { message: 'Bad', status: odd, details: [{ '@type': odd }] } },
    { error: { message: odd, code: odd, type: odd, param: odd, reason: odd } },
  ])('that holds what is no text is told at least by its status: %j', (body) => {
    const error = statusError('mine', errors, { status: 500, body }, false)
    expect(error.failure).toMatchObject({ provider: 'mine', kind: 'status', status: 500, accepted: false })
    expect(error.message).toMatch(/Bad|status 500/)
  })
})
