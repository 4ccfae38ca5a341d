import type { KV, UsageRecord } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import { chat, openChat } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import { end } from '../support/raw-upstream.js'
import type { LocalGateway } from './gateway.js'
import { startGateway } from './gateway.js'
import { completion, given, hello, helloSeen, refused, seen, usageGiven } from './openai.js'
import { expectAnswer, expectError, expectStream } from './replies.js'
import { answer, begun, done, errorEvent, errors, event, piece, stream } from './wire.js'

let at: LocalGateway
afterEach(() => at.close())

const whole = stream(...hello.start, hello.finish, usageGiven, done)
const record = (fields: Partial<UsageRecord>) =>
  expect.objectContaining({
    request_id: expect.stringMatching(uuidv7Pattern) as unknown as string,
    model: 'gpt-4o-mini',
    provider: 'openai',
    ...fields,
  }) as unknown as UsageRecord
/** What the upstream reports, and what is guessed of "Hi" and "Hello world" without a report. */
const reported = { prompt_tokens: 9, completion_tokens: 2, tokens: 11, accuracy: 'reported' } as const
const estimated = { prompt_tokens: 1, completion_tokens: 3, tokens: 4, accuracy: 'estimated' } as const

describe('the usage ledger', () => {
  beforeEach(async () => {
    at = await startGateway()
  })

  it.each<[string, boolean, Step[], Partial<UsageRecord>]>([
    [
      'a whole answer',
      false,
      [answer(200, completion({ content: 'Hello world' }))],
      { outcome: 'complete', ...reported },
    ],
    ['a whole stream', true, whole, { outcome: 'complete', ...reported }],
    [
      'a stream with its usage told twice',
      true,
      stream(
        ...hello.start,
        given({}, 'stop', { usage: { prompt_tokens: 9, completion_tokens: 2 } }),
        usageGiven,
        done,
      ),
      { outcome: 'complete', ...reported },
    ],
    ['a stream without usage', true, stream(...hello.start, hello.finish, done), { outcome: 'complete', ...estimated }],
    ['a stream that is cut', true, begun(hello.start, 20, end), { outcome: 'truncated', ...estimated }],
    [
      'a stream that is cut after its usage',
      true,
      begun([...hello.start, hello.finish, usageGiven], 20, end),
      { outcome: 'truncated', ...reported, accuracy: 'partial' },
    ],
    [
      'a stream with an error event',
      true,
      begun(hello.start, 20, piece(event({ error: { message: 'Secret' } })), piece()),
      { outcome: 'upstream_error', ...estimated },
    ],
  ])('has one record of %s', async (_, streamed, script, fields) => {
    at.upstream.script = script
    const { requestId } = await chat(at, { stream: streamed })
    expect(await at.records()).toEqual([record({ ...fields, request_id: requestId! })])
  })

  it.each<[string, boolean, Step[]]>([
    ['a refusal', false, [refused(500, 'Secret')]],
    ['a refusal', true, [refused(429, 'Slow down')]],
    ['a first event that is an error', true, stream(event({ error: { message: 'Secret' } }))],
    ['a stream without an event', true, stream()],
  ])('has no record of %s, stream %s', async (_, streamed, script) => {
    at.upstream.script = script
    expect((await chat(at, { stream: streamed })).status).toBeGreaterThanOrEqual(429)
    expect(await at.records()).toEqual([])
  })

  it('has a record of a cancelled stream, and the upstream is aborted as well', async () => {
    at.upstream.script = begun(hello.start)
    const call = await openChat(at, { stream: true })
    await call.seen(hello.seen)
    call.abandon()
    await expect.poll(() => at.upstream.open).toBe(0)
    await expect.poll(at.records).toEqual([record({ outcome: 'client_abort', ...estimated })])
  })

  it('is written before the client receives the end of its stream', async () => {
    at.upstream.script = whole
    const call = await openChat(at, { stream: true })
    await call.seen(done)
    expect(await at.records()).toHaveLength(1)
    await call.reply
  })
})

describe.each<[string, (key: string) => boolean]>([
  ['all of the ledger', (key) => key.startsWith('usage')],
  ['the records alone', (key) => key === 'usage'],
])('a ledger that cannot be written: %s', (_, concerns) => {
  let broken: boolean
  const wrap = (kv: KV): KV => ({
    ...kv,
    commit: async (commit) => {
      if (broken && commit.set?.some(({ key }) => concerns(key[0]!))) throw new StorageError('The disk is full', 'none')
      return kv.commit(commit)
    },
  })
  const health = async (): Promise<[number, unknown]> => {
    const response = await fetch(`${at.url}/health`)
    return [response.status, ((await response.json()) as { status: string }).status]
  }

  beforeEach(async () => {
    broken = true
    at = await startGateway({ wrap })
  })

  const modes: { streamed: boolean; script: Step[] }[] = [
    { streamed: false, script: [answer(200, completion({ content: 'Hello' }))] },
    { streamed: true, script: whole },
  ]
  it.each(modes)('stream $streamed: an error, then refusals, then recovery', async ({ streamed, script }) => {
    at.upstream.script = script
    expect(await health()).toEqual([200, 'ok'])

    const first = await chat(at, { stream: streamed })
    if (streamed) expectStream(first, hello.seen + seen({}, 'stop') + errorEvent(errors.unrecorded))
    else expectError(first, { status: 500, body: errors.unrecorded, shouldRetry: 'false' })
    expect(at.upstream.requests).toBe(1)

    expect(await health()).toEqual([503, 'unavailable'])
    expectError(await chat(at, { stream: streamed }), { status: 500, body: errors.unrecorded, retryAfter: '2' })
    expect(at.upstream.requests).toBe(1)

    broken = false
    expect(await health()).toEqual([200, 'ok'])
    const last = await chat(at, { stream: streamed })
    if (streamed) expectStream(last, helloSeen)
    else expectAnswer(last, completion({ content: 'Hello' }))
    expect(at.upstream.requests).toBe(2)
    expect(await at.records()).toEqual([record({ outcome: 'complete', ...reported, request_id: last.requestId! })])
  })

  it('recovers without a health check', async () => {
    at.upstream.script = whole
    await chat(at, { stream: true })
    broken = false
    expectStream(await chat(at, { stream: true }), helloSeen)
    expect(at.upstream.requests).toBe(2)
  })
})
