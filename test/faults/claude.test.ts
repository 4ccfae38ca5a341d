import { describe, expect, it } from 'vitest'
import type { Step } from '../support/raw-upstream.js'
import { end } from '../support/raw-upstream.js'
import {
  block,
  claude,
  delta,
  ending,
  errorBody,
  given,
  messageStop,
  ping,
  seen,
  start,
  startSeen,
  stop,
  text,
  whole,
  wholeSeen,
} from './claude.js'
import { ask, helloSeen, helloStream } from './families.js'
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
import { answer, chunkedHead, done, error, errorEvent, errors, piece, stream } from './wire.js'

// What only Claude does wrong.

const at = useServer()
const { hello } = claude
const events = helloStream(claude)
const failure = (type: string, message = 'Secret'): string => given('error', errorBody(type, message))

describe('a stream of Claude that fails before its first event', () => {
  it.each<[string, ErrorReply]>([
    ['overloaded_error', failed],
    ['api_error', failed],
    ['timeout_error', failed],
    ['authentication_error', failed],
    ['billing_error', failed],
    ['permission_error', failed],
    ['an_error_of_tomorrow', failed],
    ['rate_limit_error', limited('1')],
    ['invalid_request_error', invalid('Bad key [redacted]')],
    ['request_too_large', invalid('Bad key [redacted]')],
    ['not_found_error', invalid('Bad key [redacted]', 'model_not_found')],
  ])('with %s, first of all or after pings', async (type, reply) => {
    const event = failure(type, 'Bad key sk-ant-abcDEF123456')
    for (const script of [stream(event), stream(ping, ping, event), stream(ping + event)]) {
      at.upstream.script = script
      expectError(await ask(at.server, claude, { stream: true }), reply)
    }
    expect(at.upstream.requests).toBe(3)
  })

  it.each<[string, Step[], ErrorReply]>([
    ['pings alone', stream(ping, ping, ping), truncated],
    ['pings and then an end without the last chunk', [chunkedHead, piece(ping), 20, end], truncated],
    ['an error that says nothing', stream(given('error')), failed],
    ['an error whose words are null', stream(given('error', { error: null })), failed],
  ])('with %s', async (_, script, reply) => {
    at.upstream.script = script
    expectError(await ask(at.server, claude, { stream: true }), reply)
    expect(at.upstream.requests).toBe(1)
  })
})

describe('an HTTP error of Claude', () => {
  const tooLong = 'prompt is too long: 212441 tokens > 200000 maximum'
  const tooLongTogether = 'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000'
  const broke = 'Your credit balance is too low to access the Anthropic API. Please purchase credits.'
  const overspent = 'You have reached your specified API usage limits. You will regain access on 2026-04-01.'
  it.each<[string, string, ErrorReply]>([
    [
      '400 for a prompt that is too long',
      answer(400, JSON.stringify(errorBody('invalid_request_error', tooLong))),
      overContext(tooLong, '200000 tokens'),
    ],
    [
      '400 for a prompt and an answer that are too long together',
      answer(400, JSON.stringify(errorBody('invalid_request_error', tooLongTogether))),
      overContext(tooLongTogether, '200000 tokens'),
    ],
    [
      '400 for an account without credit',
      answer(400, JSON.stringify(errorBody('invalid_request_error', broke))),
      failed,
    ],
    [
      '400 for an account at its limit',
      answer(400, JSON.stringify(errorBody('invalid_request_error', overspent))),
      failed,
    ],
    [
      '413 in HTML, from the edge',
      answer(413, '<html>', ['content-type: text/html']),
      invalid('The upstream answered with status 413'),
    ],
  ])('%s', async (_, script, reply) => {
    at.upstream.script = [script]
    for (const streamed of [false, true]) expectError(await ask(at.server, claude, { stream: streamed }), reply)
    expect(at.upstream.requests).toBe(2)
  })
})

const toolStart = block(0, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} })
const toolSeen = seen({
  tool_calls: [{ index: 0, id: 'toolu_1', type: 'function', function: { name: 'weather', arguments: '' } }],
})
const json = (partial_json: string): string => delta(0, { type: 'input_json_delta', partial_json })
const jsonSeen = (text: string): string => seen({ tool_calls: [{ index: 0, function: { arguments: text } }] })
const refusal = { stop_details: { type: 'refusal', category: null, explanation: 'That I cannot do.' } }

describe('a complete stream of Claude', () => {
  it.each<{ name: string; upstream: string[]; seen?: string }>([
    { name: 'padded with spaces', upstream: events.map((line) => line.replace('}\n', '      }  \n')) },
    { name: 'pings before, between and after', upstream: [ping, ...events.flatMap((line) => [line, ping])] },
    { name: 'no event lines', upstream: events.map((line) => line.replace(/^event.*\n/, '')) },
    {
      name: 'event lines that say something else',
      upstream: events.map((line) => line.replace(/^event.*/, 'event: ping')),
    },
    { name: 'message_start twice', upstream: [hello.start[0]!, ...events] },
    {
      name: 'message_start again between two texts',
      upstream: events.flatMap((line, i) => (i === 3 ? [line, hello.start[0]!] : [line])),
    },
    {
      name: 'text within message_start',
      upstream: [start({ content: [{ type: 'text', text: 'Hello' }] }), text(' world'), ...hello.finish, messageStop],
    },
    {
      name: 'text at the start of its block',
      upstream: [start(), block(0, { type: 'text', text: 'Hello' }), text(' world'), ...hello.finish, messageStop],
    },
    {
      name: 'a message_delta without a reason before the one with it',
      upstream: [...hello.start, stop(0), ending(null), ending('end_turn'), messageStop],
    },
    {
      name: 'deltas, blocks and events of other kinds',
      upstream: [
        ...hello.start,
        delta(0, { type: 'citations_delta', citation: { type: 'char_location', cited_text: 'x' } }),
        delta(0, { type: 'signature_delta', signature: 'c2ln' }),
        delta(0, { type: 'delta_of_tomorrow', text_of_tomorrow: 'x' }),
        stop(0),
        block(1, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
        delta(1, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
        stop(1),
        block(2, { type: 'block_of_tomorrow' }),
        stop(2),
        given('event_of_tomorrow', { index: 0 }),
        ending('end_turn'),
        messageStop,
      ],
    },
    {
      name: 'a call that is never closed, cut off by the length',
      upstream: [start(), toolStart, json(''), json('{"city":'), ending('max_tokens'), messageStop],
      seen: startSeen + toolSeen + jsonSeen('{"city":') + seen({}, 'length') + done,
    },
    {
      name: 'a refusal of everything',
      upstream: [start(), ending('refusal', refusal), messageStop],
      seen: startSeen + seen({ refusal: 'That I cannot do.' }) + seen({}, 'content_filter') + done,
    },
    {
      name: 'a refusal after some text',
      upstream: [...hello.start, stop(0), ending('refusal'), messageStop],
      seen: hello.seen + seen({}, 'content_filter') + done,
    },
  ])('$name', async ({ upstream, seen: wanted = helloSeen(claude) }) => {
    at.upstream.script = stream(...upstream)
    expectStream(await ask(at.server, claude, { stream: true }), wanted)
    expect(at.upstream.requests).toBe(1)
  })
})

describe('an immediate refusal of Claude', () => {
  it.each([
    ['in words', refusal, { content: null, refusal: 'That I cannot do.' }],
    ['without words', {}, { content: '', refusal: null }],
  ])('%s', async (_, more, message) => {
    at.upstream.script = [answer(200, whole([], { stop_reason: 'refusal', ...more }))]
    expectAnswer(await ask(at.server, claude), wholeSeen(message, 'content_filter'))
  })
})

describe('a stream of Claude that breaks', () => {
  it.each<[string, string[], string]>([
    ['by overloaded_error', [...hello.start, failure('overloaded_error')], hello.seen + errorEvent(errors.failed)],
    [
      'by overloaded_error as all that follows message_start',
      [start() + failure('overloaded_error')],
      startSeen + errorEvent(errors.failed),
    ],
    ['by rate_limit_error', [...hello.start, failure('rate_limit_error')], hello.seen + errorEvent(errors.limited)],
    [
      'by invalid_request_error',
      [...hello.start, failure('invalid_request_error', 'Bad key sk-ant-abcDEF123456')],
      hello.seen + errorEvent(error('invalid_request_error', 'invalid_body', 'Bad key [redacted]')),
    ],
    ['by an error that says nothing', [...hello.start, given('error')], hello.seen + errorEvent(errors.failed)],
    [
      'by overloaded_error after the reason to stop',
      [...hello.start, ...hello.finish, failure('overloaded_error'), messageStop],
      hello.seen + errorEvent(errors.failed),
    ],
    ['after message_start', [start()], startSeen + errorEvent(errors.truncated)],
    ['after pings', [...hello.start, ping, ping], hello.seen + errorEvent(errors.truncated)],
    [
      'without a reason to stop',
      [...hello.start, stop(0), ending(null), messageStop],
      hello.seen + errorEvent(errors.truncated),
    ],
    [
      'by the start of another message',
      [...hello.start, start({ id: 'msg_other' }), text('!'), ...hello.finish, messageStop],
      hello.seen + errorEvent(errors.senseless),
    ],
    [
      'by another message after the reason to stop',
      [...hello.start, ...hello.finish, start({ id: 'msg_other' }), messageStop],
      hello.seen + errorEvent(errors.senseless),
    ],
    [
      'within a call that is never closed',
      [start(), toolStart, json('{"city":'), ending('tool_use'), messageStop],
      startSeen + toolSeen + jsonSeen('{"city":') + errorEvent(errors.senseless),
    ],
  ])('%s', async (_, upstream, wanted) => {
    at.upstream.script = stream(...upstream)
    expectStream(await ask(at.server, claude, { stream: true }), wanted)
    expect(at.upstream.requests).toBe(1)
  })
})

describe('a malformed answer of Claude', () => {
  it.each([
    ['without content', whole([], { content: undefined })],
    ['with content that is a text', whole([], { content: 'Hello' })],
    ['with a block that is none', whole([], { content: [null] })],
  ])('%s', async (_, body) => {
    at.upstream.script = [answer(200, body)]
    expectError(await ask(at.server, claude), senseless)
  })
})
