import type { FakeAnswer } from '@turnpike/providers/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { refusal } from '../support/faults.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'
import type { Ask } from './client.js'
import { kinds } from './kinds.js'

interface Scenario {
  title: string
  ask?: Partial<Ask>
  /** Default: the right one. */
  key?: string
  /** What the upstream answers instead of the fake. */
  fault?: FakeAnswer
  status: number
  type: string
  code: string
  message: string
  headers?: Record<string, string>
  /** Requests that the upstream must have seen. */
  upstream: 0 | 1
}

const badKey = {
  status: 401,
  type: 'authentication_error',
  code: 'invalid_api_key',
  message: 'A valid gateway key is needed: Authorization: Bearer gw-…',
  headers: { 'www-authenticate': 'Bearer' },
  upstream: 0,
} as const
const upstreamFailed = {
  status: 502,
  type: 'upstream_error',
  code: 'upstream_error',
  message: 'The upstream provider failed',
  upstream: 1,
} as const
const limited = {
  status: 429,
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
  message: 'The upstream provider is rate limiting; try again later',
  upstream: 1,
} as const
const badRequest = { status: 400, type: 'invalid_request_error', code: 'invalid_body' } as const

const scenarios: Scenario[] = [
  {
    title: 'a temperature out of range',
    ask: { temperature: 3 },
    ...badRequest,
    message: 'temperature must be at most 2, not 3',
    upstream: 0,
  },
  {
    title: 'an unknown model',
    ask: { model: 'no-such-model' },
    ...badRequest,
    code: 'model_not_found',
    message: 'No configured provider has the model "no-such-model"',
    upstream: 0,
  },
  {
    title: 'an error of the upstream, without its secrets',
    fault: refusal(400, 'Too long for org-0123456789 with sk-proj-0123456789'),
    ...badRequest,
    message: 'Too long for [redacted] with [redacted]',
    upstream: 1,
  },
  {
    title: 'a parameter that the model lacks',
    fault: refusal(400, "Unsupported parameter: 'top_k'", { code: 'unsupported_parameter' }),
    ...badRequest,
    code: 'unsupported_parameter',
    message: "Unsupported parameter: 'top_k'",
    upstream: 1,
  },
  {
    title: 'a model that the upstream does not have',
    ask: { model: 'gpt-99' },
    fault: refusal(404, 'The model `gpt-99` does not exist', { code: 'model_not_found' }),
    ...badRequest,
    code: 'model_not_found',
    message: 'The model `gpt-99` does not exist',
    upstream: 1,
  },
  { title: 'an unknown key', key: 'gw-unknown-key-0123456789', ...badKey },
  { title: 'a key of another kind', key: 'sk-0123456789', ...badKey },
  {
    title: 'a rate limit of the upstream',
    fault: refusal(429, 'Slow down, org-0123456789', { headers: { 'retry-after': '7' } }),
    ...limited,
    headers: { 'retry-after': '7' },
  },
  {
    title: 'a rate limit of the upstream in milliseconds',
    fault: refusal(429, 'Slow down', { headers: { 'retry-after-ms': '2100', 'retry-after': '9' } }),
    ...limited,
    headers: { 'retry-after': '3' },
  },
  {
    title: 'a rate limit of the upstream that names no time',
    fault: refusal(429, 'Slow down'),
    ...limited,
    headers: { 'retry-after': '1' },
  },
  { title: 'an error of the upstream', fault: refusal(500, 'Secret stack trace'), ...upstreamFailed },
  { title: 'an upstream that is overloaded', fault: refusal(503, 'Come back'), ...upstreamFailed },
  {
    title: "an upstream that refuses the gateway's own key",
    fault: refusal(401, 'Incorrect API key provided: sk-upstr*6789'),
    ...upstreamFailed,
  },
  {
    title: 'an HTML page of a proxy in front of the upstream',
    fault: { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Welcome</html>' },
    ...upstreamFailed,
    message: 'The upstream provider sent an answer that makes no sense',
    headers: { 'x-should-retry': 'false' },
  },
]

let stack: Stack
beforeAll(async () => {
  // With a second provider: a single one is asked for any model.
  stack = await startStack({ ANTHROPIC_API_KEY: 'sk-ant-none' })
})
afterEach(() => {
  stack.fault = undefined
})
afterAll(() => stack.stop())

describe.each(kinds)(`$name against ${runtime}`, ({ connect, errorClass, describe: tell }) => {
  describe.each([
    { mode: 'whole', stream: false },
    { mode: 'streamed', stream: true },
  ])('$mode', ({ stream }) => {
    it.each(scenarios)('$status for $title', async ({ ask, fault, headers = {}, upstream, ...wanted }) => {
      const { status, type, code, message } = wanted
      stack.fault = fault && (() => fault)
      const before = stack.upstream.requests.length
      const client = connect({ url: stack.url, key: wanted.key ?? stack.key })
      const error = await rejection(client.ask({ text: 'Hello', ...ask }, { stream }))
      expect(error).toBeInstanceOf(errorClass(status))
      const { header, ...failure } = tell(error)
      expect(failure).toEqual({
        status,
        type,
        code,
        message,
        requestId: expect.stringMatching(uuidv7Pattern) as string,
      })
      for (const name of ['retry-after', 'www-authenticate', 'x-should-retry'])
        expect(header(name), name).toBe(headers[name])
      expect(stack.upstream.requests.length - before).toBe(upstream)
    })
  })
})
