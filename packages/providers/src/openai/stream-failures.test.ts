import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Read } from '../../../../test/support/decode.js'
import { head, chunk, finish, usage, decodeReads } from '../../../../test/support/decode.js'
import { streamDecoder } from './stream.js'

const run = async (...reads: Read[]) => decodeReads(streamDecoder('openai', 'asked-for'), reads)

describe('a stream that fails', () => {
  const failure = async (...reads: Read[]) => {
    const { error, batches } = await run(...reads)
    expect(UpstreamError.is(error)).toBe(true)
    return { batches, message: (error as UpstreamError).message, ...(error as UpstreamError).failure }
  }

  it.each<[what: string, reads: Read[]]>([
    ['ends without a finish', [[chunk({ content: 'a' })]]],
    ['says [DONE] without a finish', [[chunk({ content: 'a' })], ['[DONE]']]],
    [
      'leaves one of two choices open',
      [[chunk({ content: 'a' }), { ...head, choices: [{ index: 1, delta: { content: 'b' } }] }, finish()]],
    ],
    ['is empty', []],
    ['is only [DONE]', [['[DONE]']]],
    ['has only usage', [[{ ...head, choices: [], usage }], ['[DONE]']]],
  ])('is truncated where it %s', async (_, reads) => {
    expect(await failure(...reads)).toMatchObject({ provider: 'openai', kind: 'truncated', accepted: true })
  })

  it('is malformed where an event is not JSON', async () => {
    expect(await failure([chunk({ content: 'a' })], ['{"id":'])).toMatchObject({ kind: 'malformed', accepted: true })
  })

  it.each<[error: unknown, status: number, message: string]>([
    [{ message: 'Overloaded', type: 'server_error', code: null }, 500, 'Overloaded'],
    [{ message: 'Slow', code: 429 }, 429, 'Slow'],
    [{ message: 'Bad', code: '400' }, 400, 'Bad'],
    [{ message: 'Down', status: 503 }, 503, 'Down'],
    ['Broken', 500, 'Broken'],
    [{}, 500, 'The upstream answered with status 500'],
  ])('with the event %j has its status and message', async (error, status, message) => {
    const before = await failure([{ error }])
    expect(before).toMatchObject({ kind: 'status', status, message, accepted: false, batches: [] })
    const after = await failure([chunk({ content: 'a' })], [{ error }])
    expect(after).toMatchObject({ kind: 'status', status, message, accepted: true })
    expect(after.batches).toHaveLength(1)
  })

  it('returns what came before the error in the same read', async () => {
    const { batches } = await failure([chunk({ content: 'a' })], [chunk({ content: 'b' }), { error: { message: 'x' } }])
    expect(batches).toEqual([[chunk({ role: 'assistant', content: 'a' })], [chunk({ content: 'b' })]])
  })
})
