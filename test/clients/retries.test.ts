import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { refusal, streaming } from '../support/faults.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'
import { openai4Client, openaiClient } from './openai-client.js'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterEach(() => {
  stack.fault = undefined
})
afterAll(() => stack.stop())

const answer = (body: string) => ({ status: 200, headers: { 'content-type': 'application/json' }, body })

describe.each(sample([openaiClient, openai4Client]))(`$name against ${runtime}`, ({ connect, describe: tell }) => {
  // What was accepted may have been billed: the gateway says `x-should-retry: false`, and the client obeys.
  it.each([
    { title: 'an answer that is not JSON', stream: false, fault: () => answer('<html>') },
    { title: 'an answer without choices', stream: false, fault: () => answer('{"id":"1","choices":[]}') },
    { title: 'a stream that is not one', stream: true, fault: () => answer('{}') },
    { title: 'a stream that ends before its first event', stream: true, fault: () => streaming() },
  ])('does not retry after $title', async ({ stream, fault }) => {
    const before = stack.upstream.requests.length
    stack.fault = fault
    const client = connect({ url: stack.url, key: stack.key, maxRetries: 2 })
    const { status, header } = tell(await rejection(client.ask({ text: 'Hello' }, { stream })))
    expect(status).toBe(502)
    expect(header('x-should-retry')).toBe('false')
    expect(stack.upstream.requests.length - before).toBe(1)
  })

  it.each([
    { title: 'an error of the upstream', status: 502, fault: () => refusal(500, 'Oops') },
    {
      title: 'a rate limit of the upstream',
      status: 429,
      fault: () => refusal(429, 'Slow down', { headers: { 'retry-after': '1' } }),
    },
  ])('retries after $title', async ({ status, fault }) => {
    const before = stack.upstream.requests.length
    stack.fault = fault
    const client = connect({ url: stack.url, key: stack.key, maxRetries: 1 })
    const failure = tell(await rejection(client.ask({ text: 'Hello' }, { stream: false })))
    expect(failure.status).toBe(status)
    expect(failure.header('x-should-retry')).toBeUndefined()
    expect(stack.upstream.requests.length - before).toBe(2)
  })
})
