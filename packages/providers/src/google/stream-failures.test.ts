import { describe, expect, it } from 'vitest'
import { call, event, run, text } from '../../../../test/support/google.js'

const failure = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' }

describe('a stream that fails', () => {
  it('because of an unreadable tool call', () => {
    expect(run(event([text('Hm', { thought: true })]), event([], 'MALFORMED_FUNCTION_CALL')).error).toMatchObject({
      failure: { kind: 'malformed', code: 'MALFORMED_FUNCTION_CALL' },
    })
  })

  it('because of an error event', () => {
    for (const told of [{ error: failure }, JSON.stringify({ error: failure }, null, 2)]) {
      const expected = {
        message: 'Overloaded',
        failure: { kind: 'status', status: 503, code: 'UNAVAILABLE', caller: false },
      }
      expect(run(told).error).toMatchObject({ ...expected, failure: { ...expected.failure, accepted: false } })
      expect(run(event([text('a')], 'STOP'), told).error).toMatchObject(expected)
    }
    const { batches, error } = run(event([text('a')], 'STOP'), { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } })
    expect(batches.flat()).toHaveLength(1)
    expect(error).toMatchObject({
      message: 'The upstream answered with status 429',
      failure: { kind: 'status', status: 429, accepted: true },
    })
    expect(run({ error: 'Secret' }).error).toMatchObject({ failure: { status: 500, caller: false } })
    expect(run({ error: { code: 7 } }).error).toMatchObject({ failure: { status: 500, accepted: false } })
  })

  it('because of an end without a finish reason', () => {
    expect(run(event([text('a')])).error).toMatchObject({ failure: { kind: 'truncated' } })
    expect(run(event([call('f', { willContinue: true })])).error).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('because of an empty body', () => {
    expect(run().error).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('because of an event that is not JSON', () => {
    expect(run('{"candidates":').error).toMatchObject({ failure: { kind: 'malformed' } })
  })
})
