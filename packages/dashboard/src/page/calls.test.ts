import { describe, expect, it } from 'vitest'
import { callsOf } from './calls.js'
import { resultOf } from './outcomes.js'

const served = { provider: 'openai', model: 'gpt-4o', status: 200, duration_ms: 900 }

describe('calls of providers', () => {
  it('are those that failed, and the one that answered', () => {
    expect(
      callsOf({
        ...served,
        failed_calls: 'google/gemini-2.5-pro: rate_limited 429, bedrock/us.model-v1:0: timeout',
        calls_ms: '2-120, 121-600, 850',
      }),
    ).toEqual([
      { name: 'google/gemini-2.5-pro', failure: { kind: 'rate_limited', status: '429' }, start: 2, end: 120 },
      { name: 'bedrock/us.model-v1:0', failure: { kind: 'timeout' }, start: 121, end: 600 },
      { name: 'openai/gpt-4o', start: 850, end: 900 },
    ])
  })
  it('have no times where none were told, and none answered a request that failed', () => {
    expect(callsOf({ ...served, status: 502, failed_calls: 'openai/gpt-4o: status 500' })).toEqual([
      { name: 'openai/gpt-4o', failure: { kind: 'status', status: '500' } },
    ])
    expect(callsOf(served)).toEqual([{ name: 'openai/gpt-4o', start: 0, end: 900 }])
    expect(callsOf({ status: 401, duration_ms: 1 })).toEqual([])
  })
})

it('tells refused requests from those that failed and those that were left', () => {
  expect(resultOf({ status: 200 })).toBe('ok')
  expect(resultOf({ status: 200, outcome: 'complete' })).toBe('ok')
  expect(resultOf({ status: 404 })).toBe('refused')
  expect(resultOf({ status: 502, outcome: 'upstream_error' })).toBe('failed')
  expect(resultOf({ status: 200, outcome: 'truncated' })).toBe('failed')
  expect(resultOf({ status: 200, outcome: 'client_abort' })).toBe('left')
})
