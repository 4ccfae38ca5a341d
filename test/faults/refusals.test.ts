import { describe, expect, it } from 'vitest'
import type { Step } from '../support/raw-upstream.js'
import { end, rawUpstream, reset } from '../support/raw-upstream.js'
import type { Family } from './families.js'
import { ask, families, helloStream } from './families.js'
import type { ErrorReply } from './replies.js'
import { expectError, failed, invalid, limited, senseless, truncated, unreachable } from './replies.js'
import { startServerFor, useServer } from './server.js'
import { answer, chunkedHead, errors, event, piece, stream } from './wire.js'

/** Upstreams that fail before their first event: an HTTP error, the same one whether the caller asked for a stream or not. */
interface Fault {
  name: string
  upstream: Step[]
  reply: ErrorReply
  /** Which kind of request meets it; default both. */
  only?: 'stream' | 'whole'
}

const html = '<html><body>Not Found</body></html>'
const htmlType = ['content-type: text/html']
const json = 'content-type: application/json'
const eventStream = ['content-type: text/event-stream']
const big = event({ text: 'x'.repeat(20 * 1024 * 1024) })

/** What the gateway is told of the family's own errors. */
function refusals(family: Family): Fault[] {
  const refused = (status: number, message: string, ...headers: string[]): Step[] => [
    answer(status, family.refusal(status, message), [json, ...headers]),
  ]
  return [
    { name: '401', upstream: refused(401, 'Incorrect API key provided: sk-abcd1234.'), reply: failed },
    { name: '402', upstream: refused(402, 'Insufficient balance'), reply: failed },
    { name: '403', upstream: refused(403, 'Your organization org-abcdef1 is blocked'), reply: failed },
    { name: '408', upstream: refused(408, 'Too slow'), reply: failed },
    { name: '500', upstream: refused(500, 'Secret stack trace'), reply: failed },
    { name: '503', upstream: refused(503, 'Overloaded'), reply: failed },
    {
      name: '503 with Retry-After',
      upstream: refused(503, 'Overloaded', 'Retry-After: 20'),
      reply: { ...failed, retryAfter: '20' },
    },
    { name: '504', upstream: refused(504, 'Too slow'), reply: failed },
    { name: '529', upstream: refused(529, 'Overloaded'), reply: failed },
    {
      name: '429 with Retry-After',
      upstream: refused(429, 'Slow down, org-abcdef1', 'Retry-After: 7'),
      reply: limited('7'),
    },
    { name: '429 that says not when', upstream: refused(429, 'Slow down'), reply: limited('1') },
    { name: '429 with Retry-After 0', upstream: refused(429, 'Slow down', 'retry-after: 0'), reply: limited('1') },
    { name: '429 in HTML', upstream: [answer(429, html, [...htmlType, 'retry-after: 7'])], reply: limited('7') },
    {
      name: '400 with secrets in its message',
      upstream: refused(
        400,
        'Bad key sk-abcDEF123456 of org-a1b2c3d4e5, see https://platform.openai.com/account?u=1 for more',
      ),
      reply: invalid('Bad key [redacted] of [redacted], see [redacted] for more'),
    },
    {
      name: '400 with the content type of an event stream',
      upstream: [answer(400, family.refusal(400, 'Too many images'), eventStream)],
      reply: invalid('Too many images'),
    },
    { name: '413', upstream: refused(413, 'Too many bytes'), reply: invalid('Too many bytes') },
    { name: '422', upstream: refused(422, 'Too many images'), reply: invalid('Too many images') },
    {
      name: '404 for a model',
      upstream: refused(404, 'There is no model gpt-0'),
      reply: invalid('There is no model gpt-0', 'model_not_found'),
    },
    { name: '404 in HTML', upstream: [answer(404, html, htmlType)], reply: failed },
    { name: '502 in HTML', upstream: [answer(502, html, htmlType)], reply: failed },
    {
      name: '500 cut within its body',
      upstream: [answer(500, family.refusal(500, 'Secret')).slice(0, -5), end],
      reply: failed,
    },
  ]
}

/** Connections that break, and answers that make no sense or are not whole. */
function breaks(family: Family): Fault[] {
  const whole = answer(200, family.answer('Hello'))
  const begun = helloStream(family).join('')
  return [
    { name: 'a reset before the head', upstream: [reset], reply: unreachable },
    { name: 'an end before the head', upstream: [end], reply: unreachable },
    { name: 'a reset within the head', upstream: ['HTTP/1.1 200 OK\r\ncontent-ty', 20, reset], reply: unreachable },
    { name: '200 in HTML', upstream: [answer(200, html, htmlType)], reply: senseless },
    { name: '200 in HTML without a type', upstream: [answer(200, html, [])], reply: senseless, only: 'whole' },
    { name: '200 in HTML without a type', upstream: [answer(200, html, [])], reply: truncated, only: 'stream' },
    { name: '200 with invalid JSON', upstream: [answer(200, family.answer('Hello').slice(0, -9))], reply: senseless },
    { name: '200 with {}', upstream: [answer(200, '{}')], reply: senseless },
    { name: '200 with null', upstream: [answer(200, 'null')], reply: senseless },
    { name: '200 with nothing', upstream: [answer(200, '')], reply: senseless },
    {
      name: '200 cut within its declared length',
      upstream: [whole.slice(0, -20), end],
      reply: truncated,
      only: 'whole',
    },
    {
      name: '200 reset within its declared length',
      upstream: [whole.slice(0, -20), 20, reset],
      reply: truncated,
      only: 'whole',
    },
    { name: 'a stream without an event', upstream: stream(), reply: truncated, only: 'stream' },
    {
      name: 'an empty stream of declared length',
      upstream: [answer(200, '', eventStream)],
      reply: truncated,
      only: 'stream',
    },
    { name: 'a stream of comments', upstream: stream(': ping\n\n', ': ping\n\n'), reply: truncated, only: 'stream' },
    { name: 'a stream of {}', upstream: stream(event({})), reply: truncated, only: 'stream' },
    { name: 'a stream cut before its first event', upstream: [chunkedHead, end], reply: truncated, only: 'stream' },
    {
      name: 'a stream cut within its first event',
      upstream: [chunkedHead, piece(begun.slice(0, begun.indexOf('\n\n') - 9)), 20, reset],
      reply: truncated,
      only: 'stream',
    },
    {
      name: 'a first event that is an error',
      upstream: stream(family.error(500, 'Secret'), ...family.hello.done),
      reply: failed,
      only: 'stream',
    },
    {
      name: 'a first event that is an error, and then a reset',
      upstream: [chunkedHead, piece(family.error(529, 'Overloaded')), 20, reset],
      reply: failed,
      only: 'stream',
    },
    {
      name: 'a first event that is an error 429',
      upstream: stream(family.error(429, 'Slow down')),
      reply: limited('1'),
      only: 'stream',
    },
    {
      name: 'a first event that is an error 400',
      upstream: stream(family.error(400, 'Bad key sk-abcDEF123456')),
      reply: invalid('Bad key [redacted]'),
      only: 'stream',
    },
    { name: 'a first event that is not JSON', upstream: stream('data: {"choi\n\n'), reply: senseless, only: 'stream' },
    { name: 'a first event of 20 MB', upstream: [chunkedHead, piece(big)], reply: senseless, only: 'stream' },
  ]
}

const at = useServer()
const modes = [{ streamed: false }, { streamed: true }]

describe.each(families)('an upstream of $name that fails before its first event', (family) => {
  const cases = [...refusals(family), ...breaks(family)].flatMap((fault) =>
    modes
      .filter(({ streamed }) => !fault.only || (fault.only === 'stream') === streamed)
      .map((mode) => ({ ...fault, ...mode })),
  )

  it.each(cases)('$name, stream $streamed', async ({ upstream: script, reply, streamed }) => {
    at.upstream.script = script
    expectError(await ask(at.server, family, { stream: streamed }), reply)
    expect(at.upstream.requests).toBe(1)
  })
})

describe.each(families)('an upstream of $name that answers in the other form', (family) => {
  it('is streamed from one JSON', async () => {
    at.upstream.script = [answer(200, family.answer('Hello'))]
    const { status, body } = await ask(at.server, family, { stream: true })
    expect([status, body.includes('"content":"Hello"'), body.trimEnd().endsWith('data: [DONE]')]).toEqual([
      200,
      true,
      true,
    ])
  })

  it('is joined from its events', async () => {
    at.upstream.script = stream(...helloStream(family))
    const { status, body } = await ask(at.server, family, { stream: false })
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      {
        object: 'chat.completion',
        choices: [{ message: { role: 'assistant', content: 'Hello world' }, finish_reason: 'stop' }],
      },
    ])
  })
})

describe.each(families)('an upstream of $name that redirects', (family) => {
  it.each([301, 302, 303, 307, 308].flatMap((status) => modes.map((mode) => ({ status, ...mode }))))(
    '$status, stream $streamed: is not followed',
    async ({ status, streamed }) => {
      const target = await rawUpstream()
      target.script = [answer(200, family.answer('Hello'))]
      at.upstream.script = [answer(status, '', [`location: ${target.url}/elsewhere`])]
      expectError(await ask(at.server, family, { stream: streamed }), failed)
      expect([at.upstream.requests, target.requests]).toEqual([1, 0])
      await target.close()
    },
  )
})

describe('an upstream that cannot be reached', () => {
  it.each(families.flatMap((family) => modes.map((mode) => ({ family, name: family.name, ...mode }))))(
    '$name, stream $streamed',
    async ({ family, streamed }) => {
      const gone = await rawUpstream()
      await gone.close()
      const alone = await startServerFor(gone.url)
      // No generation can have been accepted, so the clients may ask again.
      expectError(await ask(alone, family, { stream: streamed }), { status: 502, body: errors.unreachable })
      await alone.stop()
    },
  )
})
