import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { refusal } from '../support/faults.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import type { FamiliesStack } from './families-stack.js'
import { startFamilies } from './families-stack.js'
import { connect, endpointCalls, libraries } from './openai-endpoints.js'

let stack: FamiliesStack
beforeAll(async () => {
  stack = await startFamilies()
})
afterEach(() => {
  stack.fault = undefined
  stack.upstreams.openai.requests.length = 0
})
afterAll(() => stack.stop())

interface Wanted {
  status: number
  type: string
  code: string
  message: string
  /** Requests that the upstream has seen. */
  upstream: number
  retryAfter?: string
}

describe.each(libraries)(`$name against ${runtime}`, ({ library }) => {
  const { BadRequestError, AuthenticationError, RateLimitError, InternalServerError } = library
  type ErrorClass = new (...values: never[]) => Error

  async function expectError(failing: Promise<unknown>, Class: ErrorClass, wanted: Wanted): Promise<void> {
    const error = await rejection(failing)
    expect(error).toBeInstanceOf(Class)
    const { status, type, code, message, headers } = error as InstanceType<typeof library.APIError>
    const header = (name: string): string | undefined => new Headers(headers).get(name) ?? undefined
    const { upstream, retryAfter, ...told } = wanted
    expect({ status, type, code, message: message.replace(`${status} `, '') }).toEqual(told)
    expect(header('x-request-id')).toMatch(uuidv7Pattern)
    expect(header('retry-after')).toBe(retryAfter)
    expect(stack.upstreams.openai.requests).toHaveLength(upstream)
  }

  describe.each(endpointCalls(library))('$endpoint', ({ path, call, refused, message }) => {
    it('400: a request that the gateway refuses', () =>
      expectError(refused(connect(library, stack)), BadRequestError, {
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_body',
        message,
        upstream: 0,
      }))

    it('400: a request that the upstream refuses', async () => {
      stack.fault = () => refusal(400, 'Not with sk-proj-0123456789')
      await expectError(call(connect(library, stack)), BadRequestError, {
        status: 400,
        type: 'invalid_request_error',
        code: 'invalid_body',
        message: 'Not with [redacted]',
        upstream: 1,
      })
      expect(stack.upstreams.openai.requests[0]!.path).toMatch(path)
    })

    it('401: an unknown key', () =>
      expectError(call(connect(library, { ...stack, key: 'gw-unknown-key-0123456789' })), AuthenticationError, {
        status: 401,
        type: 'authentication_error',
        code: 'invalid_api_key',
        message: 'A valid gateway key is needed: Authorization: Bearer gw-…',
        upstream: 0,
      }))

    it('429: a rate limit of the upstream', async () => {
      stack.fault = () => refusal(429, 'Slow down', { headers: { 'retry-after': '7' } })
      await expectError(call(connect(library, stack)), RateLimitError, {
        status: 429,
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        message: 'The upstream provider is rate limiting; try again later',
        upstream: 1,
        retryAfter: '7',
      })
    })

    it('502: an upstream that fails', async () => {
      stack.fault = () => refusal(500, 'Secret stack trace')
      await expectError(call(connect(library, stack)), InternalServerError, {
        status: 502,
        type: 'upstream_error',
        code: 'upstream_error',
        message: 'The upstream provider failed',
        upstream: 1,
      })
    })
  })
})
