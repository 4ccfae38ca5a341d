import { describe, expect, it } from 'vitest'
import { chat } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import { end, rawUpstream, reset } from '../support/raw-upstream.js'
import { startServer } from '../support/server.js'
import type { ErrorReply } from './replies.js'
import { expectError } from './replies.js'
import { useServer } from './server.js'
import { answer, chunkedHead, completion, done, error, errors, event, given, piece, refused, stream } from './wire.js'

/** Upstreams that fail before their first event: an HTTP error, the same one whether the caller asked for a stream or not. */
interface Fault {
  name: string
  upstream: Step[]
  reply: ErrorReply
  /** Which kind of request meets it; default both. */
  only?: 'stream' | 'whole'
}

const badGateway = { status: 502, body: errors.failed }
/** After a generation may have been accepted the clients are told not to ask again. */
const senseless = { status: 502, body: errors.senseless, shouldRetry: 'false' }
const truncated = { status: 502, body: errors.truncated, shouldRetry: 'false' }
const html = '<html><body>Not Found</body></html>'
const htmlType = ['content-type: text/html']
const eventStream = ['content-type: text/event-stream']
const big = event({ choices: [{ index: 0, delta: { content: 'x'.repeat(20 * 1024 * 1024) } }] })

const invalid = (message: string, code = 'invalid_body'): ErrorReply => ({
  status: 400,
  body: error('invalid_request_error', code, message),
})

const faults: Fault[] = [
  {
    name: 'a reset before the head',
    upstream: [reset],
    reply: { status: 502, body: errors.unreachable, shouldRetry: 'false' },
  },
  {
    name: 'an end before the head',
    upstream: [end],
    reply: { status: 502, body: errors.unreachable, shouldRetry: 'false' },
  },
  {
    name: 'a reset within the head',
    upstream: ['HTTP/1.1 200 OK\r\ncontent-ty', 20, reset],
    reply: { status: 502, body: errors.unreachable, shouldRetry: 'false' },
  },
  { name: '401', upstream: [refused(401, 'Incorrect API key provided: sk-abcd1234.')], reply: badGateway },
  { name: '402', upstream: [refused(402, 'Insufficient balance')], reply: badGateway },
  { name: '403', upstream: [refused(403, 'Your organization org-abcdef1 is blocked')], reply: badGateway },
  { name: '408', upstream: [refused(408, 'Too slow')], reply: badGateway },
  { name: '500', upstream: [refused(500, 'Secret stack trace')], reply: badGateway },
  { name: '503', upstream: [refused(503, 'Overloaded')], reply: badGateway },
  {
    name: '503 with Retry-After',
    upstream: [refused(503, 'Overloaded', ['Retry-After: 20'])],
    reply: { ...badGateway, retryAfter: '20' },
  },
  { name: '529', upstream: [refused(529, 'Overloaded')], reply: badGateway },
  {
    name: '429 with Retry-After',
    upstream: [refused(429, 'Slow down, org-abcdef1', ['Retry-After: 7'])],
    reply: { status: 429, body: errors.limited, retryAfter: '7' },
  },
  {
    name: '429 with retry-after-ms',
    upstream: [refused(429, 'Slow down', ['retry-after-ms: 1500', 'retry-after: 60'])],
    reply: { status: 429, body: errors.limited, retryAfter: '2' },
  },
  {
    name: '429 that says not when',
    upstream: [refused(429, 'Slow down')],
    reply: { status: 429, body: errors.limited, retryAfter: '1' },
  },
  {
    name: '429 with Retry-After 0',
    upstream: [refused(429, 'Slow down', ['retry-after: 0'])],
    reply: { status: 429, body: errors.limited, retryAfter: '1' },
  },
  {
    name: '400 with secrets in its message',
    upstream: [
      refused(400, 'Bad key sk-abcDEF123456 of org-a1b2c3d4e5, see https://platform.openai.com/account?u=1 for more'),
    ],
    reply: invalid('Bad key [redacted] of [redacted], see [redacted] for more'),
  },
  {
    name: '400 for a parameter',
    upstream: [refused(400, "'max_tokens' is not supported", [], 'unsupported_parameter')],
    reply: invalid("'max_tokens' is not supported", 'unsupported_parameter'),
  },
  { name: '422', upstream: [refused(422, 'Too many images')], reply: invalid('Too many images') },
  {
    name: '404 for a model',
    upstream: [refused(404, 'The model `gpt-4o-mini` does not exist', [], 'model_not_found')],
    reply: invalid('The model `gpt-4o-mini` does not exist', 'model_not_found'),
  },
  { name: '404 in HTML', upstream: [answer(404, html, htmlType)], reply: badGateway },
  { name: '502 in HTML', upstream: [answer(502, html, htmlType)], reply: badGateway },
  { name: '500 cut within its body', upstream: [refused(500, 'Secret').slice(0, -5), end], reply: badGateway },
  { name: '200 in HTML', upstream: [answer(200, html, htmlType)], reply: senseless },
  { name: '200 in HTML without a type', upstream: [answer(200, html, [])], reply: senseless, only: 'whole' },
  { name: '200 in HTML without a type', upstream: [answer(200, html, [])], reply: truncated, only: 'stream' },
  { name: '200 with invalid JSON', upstream: [answer(200, '{"choices":[')], reply: senseless },
  { name: '200 with {}', upstream: [answer(200, '{}')], reply: senseless },
  { name: '200 with null', upstream: [answer(200, 'null')], reply: senseless },
  { name: '200 with no choices', upstream: [answer(200, '{"choices":[]}')], reply: senseless },
  { name: '200 with nothing', upstream: [answer(200, '')], reply: senseless },
  {
    name: '200 cut within its declared length',
    upstream: [answer(200, completion({ content: 'Hello' })).slice(0, -20), end],
    reply: truncated,
    only: 'whole',
  },
  {
    name: '200 reset within its declared length',
    upstream: [answer(200, completion({ content: 'Hello' })).slice(0, -20), 20, reset],
    reply: truncated,
    only: 'whole',
  },
  {
    name: 'a whole answer to a request for a stream',
    upstream: [answer(200, completion({ content: 'Hello' }))],
    reply: senseless,
    only: 'stream',
  },
  { name: 'a stream without an event', upstream: stream(), reply: truncated, only: 'stream' },
  {
    name: 'an empty stream of declared length',
    upstream: [answer(200, '', eventStream)],
    reply: truncated,
    only: 'stream',
  },
  { name: 'a stream of comments', upstream: stream(': ping\n\n', ': ping\n\n'), reply: truncated, only: 'stream' },
  { name: 'a stream of [DONE] alone', upstream: stream(done), reply: truncated, only: 'stream' },
  {
    name: 'a stream cut before its first event',
    upstream: [chunkedHead, end],
    reply: truncated,
    only: 'stream',
  },
  {
    name: 'a stream cut within its first event',
    upstream: [...stream(given({ content: 'Hello' }).slice(0, -9)).slice(0, -1), 20, reset],
    reply: truncated,
    only: 'stream',
  },
  {
    name: 'a first event that is an error',
    upstream: stream(event({ error: { message: 'Secret', type: 'server_error', code: null } }), done),
    reply: badGateway,
    only: 'stream',
  },
  {
    name: 'a first event that is an error 429',
    upstream: stream(event({ error: { message: 'Slow down', code: 429 } })),
    reply: { status: 429, body: errors.limited, retryAfter: '1' },
    only: 'stream',
  },
  {
    name: 'a first event that is an error 400',
    upstream: stream(event({ error: { message: 'Bad key sk-abcDEF123456', code: 400 } })),
    reply: invalid('Bad key [redacted]'),
    only: 'stream',
  },
  { name: 'a first event that is not JSON', upstream: stream('data: {"choi\n\n'), reply: senseless, only: 'stream' },
  {
    name: 'a first event of 20 MB',
    upstream: [chunkedHead, piece(big)],
    reply: senseless,
    only: 'stream',
  },
]

const cases = faults.flatMap((fault) =>
  [false, true]
    .filter((streamed) => !fault.only || (fault.only === 'stream') === streamed)
    .map((streamed) => ({ ...fault, streamed })),
)

const at = useServer()

describe('an upstream that fails before its first event', () => {
  it.each(cases)('$name, stream $streamed', async ({ upstream: script, reply, streamed }) => {
    at.upstream.script = script
    expectError(await chat(at.server, { stream: streamed }), reply)
    expect(at.upstream.requests).toBe(1)
  })
})

describe('an upstream that redirects', () => {
  it.each([301, 302, 303, 307, 308].flatMap((status) => [false, true].map((streamed) => ({ status, streamed }))))(
    '$status, stream $streamed: is not followed',
    async ({ status, streamed }) => {
      const target = await rawUpstream()
      target.script = [answer(200, completion({ content: 'Hello' }))]
      at.upstream.script = [answer(status, '', [`location: ${target.url}/v1/chat/completions`])]
      expectError(await chat(at.server, { stream: streamed }), badGateway)
      expect([at.upstream.requests, target.requests]).toEqual([1, 0])
      await target.close()
    },
  )
})

describe('an upstream that is not there', () => {
  it.each([false, true])('stream %s', async (streamed) => {
    const gone = await rawUpstream()
    await gone.close()
    const alone = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${gone.url}/v1` })
    // No generation can have been accepted, so the clients may ask again.
    expectError(await chat(alone, { stream: streamed }), { status: 502, body: errors.unreachable })
    await alone.stop()
  })
})
