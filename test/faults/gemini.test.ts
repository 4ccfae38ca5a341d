import { describe, expect, it } from 'vitest'
import type { Step } from '../support/raw-upstream.js'
import { end, reset } from '../support/raw-upstream.js'
import { ask, helloSeen } from './families.js'
import { candidate, errorBody, finish, gemini, given, seen, text, whole, wholeSeen } from './gemini.js'
import type { ErrorReply } from './replies.js'
import {
  expectAnswer,
  expectError,
  expectStream,
  failed,
  invalid,
  overContext,
  limited,
  senseless,
  truncated,
} from './replies.js'
import { useServer } from './server.js'
import { answer, begun, bytewise, closingHead, done, errorEvent, errors, event, piece, stream } from './wire.js'

// What only Gemini does wrong: above all, errors in bare JSON in the middle of a stream of events.

const at = useServer()
const { hello } = gemini

const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }
const debugInfo = { '@type': 'type.googleapis.com/google.rpc.DebugInfo', detail: 'Secret stack trace' }
const badKey = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }

const overloaded = errorBody(503, 'The model is overloaded: secret', { details: [debugInfo] })
const limit = errorBody(429, 'Slow down', { details: [debugInfo, retryInfo] })
const credential = errorBody(400, 'API key not valid', { details: [badKey] })
const region = errorBody(400, 'User location is not supported', { status: 'FAILED_PRECONDITION' })

const compact = (error: object): string => JSON.stringify(error)
const pretty = (error: object): string => JSON.stringify(error, null, 2)

/** The forms of an error in bare JSON. */
const forms: [string, (error: object) => string][] = [
  ['compact', compact],
  ['compact, with an end of line', (error) => `${compact(error)}\n`],
  ['pretty-printed', pretty],
  ['pretty-printed, with CRLF', (error) => `${pretty(error)}\n`.replaceAll('\n', '\r\n')],
  ['as a list', (error) => compact([error])],
  ['as a list, pretty-printed', (error) => pretty([error])],
]

describe.each(forms)('bare JSON, %s', (_, form) => {
  const before: [string, object, ErrorReply][] = [
    ['an overloaded model', overloaded, failed],
    ['a limit', limit, limited('35')],
    ['a request that is wrong', errorBody(400, 'Bad key AIzaSyA1234567890'), invalid('Bad key [redacted]')],
    ['a key that is not valid', credential, failed],
  ]
  // An event without candidates is no answer yet.
  const preludes = [[], [event(whole({}))], [event(whole({ candidates: [] }))]]

  it.each(before)('before any text: %s', async (_, error, { retryAfter, ...reply }) => {
    for (const prelude of preludes) {
      at.upstream.script = stream(...prelude, form(error))
      expectError(await ask(at.server, gemini, { stream: true }), { ...reply, ...(retryAfter && { retryAfter }) })
    }
    expect(at.upstream.requests).toBe(preludes.length)
  })

  const after: [string, string[]][] = [
    ['some text', hello.start],
    ['the finish', [...hello.start, finish]],
    ['a finish with text', [text('Hello'), given(candidate(' world', { finishReason: 'STOP' }))]],
  ]
  it.each(after)('after %s', async (_, events) => {
    const tail = form(overloaded)
    const scripts: Step[][] = [
      stream(...events, tail),
      stream([...events, tail].join('')),
      begun(events, 20, piece(tail), 20, piece()),
      [closingHead, ...bytewise(events.join('') + tail), end],
    ]
    for (const script of scripts) {
      at.upstream.script = script
      expectStream(await ask(at.server, gemini, { stream: true }), hello.seen + errorEvent(errors.failed))
    }
    expect(at.upstream.requests).toBe(scripts.length)
  })

  it('reports a rate limit after some text', async () => {
    at.upstream.script = stream(...hello.start, form(limit))
    expectStream(await ask(at.server, gemini, { stream: true }), hello.seen + errorEvent(errors.limited))
  })
})

describe('bare JSON, and then a reset', () => {
  it('before any text', async () => {
    at.upstream.script = begun([`${pretty(overloaded)}\n`], 20, reset)
    expectError(await ask(at.server, gemini, { stream: true }), failed)
  })

  it('after the finish', async () => {
    at.upstream.script = begun([...hello.start, finish, `${pretty(overloaded)}\n`], 20, reset)
    expectStream(await ask(at.server, gemini, { stream: true }), hello.seen + errorEvent(errors.failed))
  })
})

it('half an error in bare JSON does not complete a stream', async () => {
  at.upstream.script = stream(...hello.start, pretty(overloaded).slice(0, -9))
  expectStream(await ask(at.server, gemini, { stream: true }), hello.seen + errorEvent(errors.truncated))
})

const partless = { content: { parts: [null], role: 'model' }, index: 0 }

describe('an HTTP error of Gemini', () => {
  const tooLong = 'The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).'
  const broke = 'Your prepayment credits are depleted. Please go to AI Studio.'
  it.each<[string, string, ErrorReply]>([
    ['429 whose body says when', answer(429, pretty(limit)), limited('35')],
    ['429 as a list', answer(429, compact([limit])), limited('35')],
    ['400 for a key that is not valid', answer(400, pretty(credential)), failed],
    ['400 for a region', answer(400, pretty(region)), failed],
    [
      '404 that says of itself that it is a stream',
      answer(404, pretty(errorBody(404, 'models/gemini-0 is not found')), ['content-type: text/event-stream']),
      invalid('models/gemini-0 is not found', 'model_not_found'),
    ],
    [
      '400 for a prompt that is too long',
      answer(400, pretty(errorBody(400, tooLong))),
      overContext(tooLong, '1048576 tokens'),
    ],
    ['429 for an account without credit', answer(429, pretty(errorBody(429, broke))), limited('1')],
    [
      '400 that says of itself that it is HTML',
      answer(400, pretty(errorBody(400, 'Too many images')), ['content-type: text/html']),
      invalid('Too many images'),
    ],
    ['200 with no candidates', answer(200, compact(whole({ candidates: [] }))), senseless],
    ['200 with a candidate that is none', answer(200, compact(whole({ candidates: [null] }))), senseless],
    ['200 with a text for candidates', answer(200, compact(whole({ candidates: 'Hello' }))), senseless],
    ['200 with a part that is none', answer(200, compact(whole({ candidates: [partless] }))), senseless],
  ])('%s', async (_, script, reply) => {
    at.upstream.script = [script]
    for (const streamed of [false, true]) expectError(await ask(at.server, gemini, { stream: streamed }), reply)
    expect(at.upstream.requests).toBe(2)
  })
})

const unreadable = candidate([], { finishReason: 'MALFORMED_FUNCTION_CALL' })

describe('an unreadable call of Gemini', () => {
  it('is a failure where there is nothing else', async () => {
    at.upstream.script = [answer(200, compact(whole({ candidates: [unreadable] })))]
    expectError(await ask(at.server, gemini), senseless)
    at.upstream.script = stream(given(unreadable))
    expectError(await ask(at.server, gemini, { stream: true }), senseless)
  })

  it('ends a text', async () => {
    at.upstream.script = stream(...hello.start, given(unreadable))
    expectStream(await ask(at.server, gemini, { stream: true }), helloSeen(gemini))
  })
})

describe('a stream of Gemini', () => {
  it.each<[string, string[]]>([
    ['events without candidates', [event(whole({})), event(whole({ candidates: [] }))]],
    ['usage alone', [event({ usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } })]],
  ])('with only %s is incomplete', async (_, events) => {
    at.upstream.script = stream(...events)
    expectError(await ask(at.server, gemini, { stream: true }), truncated)
  })

  it.each<[string, string[], string]>([
    ['begins without candidates', [event(whole({})), event(whole({ candidates: [] })), ...hello.start, finish], 'stop'],
    ['goes on without candidates', [...hello.start, event(whole({})), finish, event(whole({}))], 'stop'],
    ['ends by its length', [...hello.start, given({ finishReason: 'MAX_TOKENS', index: 0 })], 'length'],
    ['ends by a filter', [...hello.start, given({ finishReason: 'SAFETY', index: 0 })], 'content_filter'],
    ['ends for a reason of tomorrow', [...hello.start, given({ finishReason: 'TOMORROW', index: 0 })], 'stop'],
  ])('that %s is complete', async (_, events, reason) => {
    at.upstream.script = stream(...events)
    expectStream(await ask(at.server, gemini, { stream: true }), hello.seen + seen({}, reason) + done)
  })
})

describe('a malformed event of Gemini', () => {
  it.each([
    ['with a candidate that is none', { candidates: [null] }],
    ['with a text for candidates', { candidates: 'Hello' }],
    ['with a part that is none', { candidates: [partless] }],
  ])('%s', async (_, fields) => {
    at.upstream.script = stream(event(whole(fields)))
    expectError(await ask(at.server, gemini, { stream: true }), senseless)
    at.upstream.script = stream(...hello.start, event(whole(fields)))
    expectStream(await ask(at.server, gemini, { stream: true }), hello.seen + errorEvent(errors.senseless))
  })
})

describe('a prompt that Gemini blocks is not an error', () => {
  const usageMetadata = { promptTokenCount: 9, totalTokenCount: 9 }
  it.each(['SAFETY', 'PROHIBITED_CONTENT', 'OTHER', 'REASON_OF_TOMORROW'])('%s', async (blockReason) => {
    const body = whole({ promptFeedback: { blockReason }, usageMetadata })
    at.upstream.script = [answer(200, compact(body))]
    const message = { content: null, refusal: blockReason }
    expectAnswer(await ask(at.server, gemini), wholeSeen(message, 'content_filter', 9, 0))

    at.upstream.script = stream(event(body))
    expectStream(
      await ask(at.server, gemini, { stream: true }),
      seen({ role: 'assistant', content: '', refusal: blockReason }) + seen({}, 'content_filter') + done,
    )
    expect(at.upstream.requests).toBe(2)
  })

  it('but a failure after it is', async () => {
    at.upstream.script = stream(event(whole({ promptFeedback: { blockReason: 'SAFETY' } })), compact(overloaded))
    const refusal = seen({ role: 'assistant', content: '', refusal: 'SAFETY' })
    expectStream(await ask(at.server, gemini, { stream: true }), refusal + errorEvent(errors.failed))
  })

  it('nor is an answer whose tokens were all used for thoughts', async () => {
    const usageMetadata = { promptTokenCount: 9, thoughtsTokenCount: 19, totalTokenCount: 28 }
    const cut = { content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }
    at.upstream.script = stream(event(whole({ candidates: [cut], usageMetadata })))
    expectStream(
      await ask(at.server, gemini, { stream: true }),
      seen({ role: 'assistant', content: '' }) + seen({}, 'length') + done,
    )
  })
})
