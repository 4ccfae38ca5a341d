import { afterAll, beforeAll, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'
import { kinds } from './kinds.js'
import { openaiClient } from './openai-client.js'

let stack: Stack
beforeAll(async () => {
  stack = await startStack({ BOOTSTRAP_GATEWAY_RATE_LIMIT: '1' })
  // Takes the one request of this minute.
  await openaiClient.connect({ url: stack.url, key: stack.key }).ask({ text: 'Hello' }, { stream: false })
})
afterAll(() => stack.stop())

it.each(kinds.flatMap((kind) => [false, true].map((stream) => ({ ...kind, stream }))))(
  `429 of the key reaches $name with stream $stream against ${runtime}`,
  async ({ connect, errorClass, describe: tell, stream }) => {
    const error = await rejection(connect({ url: stack.url, key: stack.key }).ask({ text: 'Hello' }, { stream }))
    expect(error).toBeInstanceOf(errorClass(429))
    const { header, ...failure } = tell(error)
    expect(failure).toEqual({
      status: 429,
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: 'This key is limited to 1 requests per minute',
      requestId: expect.stringMatching(uuidv7Pattern) as string,
    })
    const seconds = header('retry-after')
    expect(seconds).toMatch(/^\d+$/)
    expect(Number(seconds)).toBeGreaterThan(30)
    expect(Number(seconds)).toBeLessThanOrEqual(60)
    expect(stack.upstream.requests).toHaveLength(1)
  },
)
