import { describe, expect, it } from 'vitest'
import { call, decoder, event, run, text } from '../../../../test/support/google.js'

const failure = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' }

describe('a stream that fails', () => {
  it('because of an unreadable tool call', () => {
    expect(run(event([text('Hm', { thought: true })]), event([], 'MALFORMED_FUNCTION_CALL')).error).toMatchObject({
      failure: { kind: 'malformed', code: 'MALFORMED_FUNCTION_CALL' },
    })
  })

  /** A decoder that has read `events`, and then lines that are not events. */
  function withTail(tail: string, ...events: object[]) {
    const one = decoder()
    for (const data of events) one.push([{ data: JSON.stringify(data) }])
    for (const line of tail.split('\n')) one.stray!(line)
    return one
  }
  const thrown = (action: () => unknown): unknown => {
    try {
      action()
    } catch (error) {
      return error
    }
    throw new Error('Nothing was thrown')
  }

  it.each([
    ['pretty', JSON.stringify({ error: failure }, null, 2)],
    ['compact', JSON.stringify({ error: failure })],
    ['in a list', JSON.stringify([{ error: failure }])],
  ])('because of bare JSON, %s', (_, tail) => {
    const expected = (accepted: boolean) => ({
      message: 'Overloaded',
      failure: { kind: 'status', status: 503, accepted, code: 'UNAVAILABLE', caller: false, credential: false },
    })
    expect(thrown(() => withTail(tail).end())).toMatchObject(expected(false))
    expect(thrown(() => withTail(tail).push([]))).toMatchObject(expected(false))
    expect(thrown(() => withTail(tail, event([text('a')])).end())).toMatchObject(expected(true))
    expect(thrown(() => withTail(tail, event([text('a')], 'STOP')).end())).toMatchObject(expected(true))
  })

  it('because of an error event', () => {
    const { batches, error } = run(event([text('a')], 'STOP'), { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } })
    expect(batches.flat()).toHaveLength(1)
    expect(error).toMatchObject({
      message: 'The upstream answered with status 429',
      failure: { kind: 'status', status: 429, accepted: true },
    })
    expect(run({ error: 'Secret' }).error).toMatchObject({ failure: { status: 500, caller: false } })
    expect(run({ error: { code: 7 } }).error).toMatchObject({ failure: { status: 500, accepted: false } })
  })

  it('not because of other lines', () => {
    for (const tail of ['{}', 'x', 'x'.repeat(70_000) + '\n{'])
      expect(withTail(tail, event([text('a')], 'STOP')).end()).toHaveLength(1)
  })

  it('because of an error that is cut, or too long', () => {
    const long = `{"error":{"code":503,"message":"${'x'.repeat(70_000)}"}}`
    for (const tail of ['{', ' [{"error"', `${long.slice(0, 66_000)}\n${long.slice(66_000)}`])
      expect(thrown(() => withTail(tail, event([text('a')], 'STOP')).end())).toMatchObject({
        failure: { kind: 'truncated' },
      })
  })

  it('because of an end without a finish reason', () => {
    for (const tail of ['', 'x'])
      expect(thrown(() => withTail(tail, event([text('a')])).end())).toMatchObject({ failure: { kind: 'truncated' } })
    expect(run(event([call('f', { willContinue: true })])).error).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('because of an empty body', () => {
    expect(run().error).toMatchObject({ failure: { kind: 'truncated' } })
  })

  it('because of an event that is not JSON', () => {
    expect(run('{"candidates":').error).toMatchObject({ failure: { kind: 'malformed' } })
  })
})
