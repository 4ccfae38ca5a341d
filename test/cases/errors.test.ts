import type { Transport } from '@turnpike/providers'
import { createRouter, openai } from '@turnpike/providers'
import { expect, it } from 'vitest'
import { error, errors } from '../faults/wire.js'
import { testGateway } from '../support/gateway.js'
import { uuidv7Pattern } from '../support/patterns.js'
import type { Answer, Family, Sent } from './pass.js'
import { pass, whole } from './pass.js'

const families: Family[] = ['openai', 'anthropic', 'google']
const messages = [{ role: 'user', content: 'Hi' }]
/** What each family is sent. */
const asked: Record<Family, (stream: boolean) => object> = {
  openai: (stream) => ({
    model: 'gpt-4o',
    messages,
    ...(stream && { stream, stream_options: { include_usage: true } }),
  }),
  anthropic: (stream) => ({
    model: 'claude-sonnet-4-5',
    max_tokens: stream ? 64_000 : 8_192,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
    ...(stream && { stream }),
  }),
  google: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }),
}

/** What each family says of an error. */
const says: Record<Family, (message: string, status: number) => object> = {
  openai: (message) => ({ error: { message, type: 'a_type', param: null, code: null } }),
  anthropic: (message) => ({ type: 'error', error: { type: 'a_type', message }, request_id: 'req_1' }),
  google: (message, code) => ({ error: { code, message, status: 'A_STATUS' } }),
}

interface Expected {
  status: number
  body: string
  /** Of `retry-after`; default none. */
  retryAfter?: string
  /** Of `x-should-retry`; default none. */
  shouldRetry?: string
}

function expectError(
  { status, headers }: { status: number; headers: Headers },
  text: string,
  expected: Expected,
): void {
  const { body, retryAfter = null, shouldRetry = null } = expected
  expect(text).toBe(body)
  expect([status, headers.get('content-type')]).toEqual([expected.status, 'application/json; charset=utf-8'])
  expect([headers.get('retry-after'), headers.get('x-should-retry')]).toEqual([retryAfter, shouldRetry])
  expect(headers.get('x-request-id')).toMatch(uuidv7Pattern)
}

/** Expects an error for the client after one upstream call, streamed or not, and no usage record. */
async function expectFailure(family: Family, answer: Answer | ((sent: Sent) => Answer), expected: Expected) {
  for (const stream of [false, true]) {
    const passed = await pass(family, stream ? { stream } : {}, answer)
    expect(passed.sent.map(({ body }) => body)).toEqual([asked[family](stream)])
    expectError(passed, passed.text, expected)
    expect(passed.records).toEqual([])
  }
}

it('returns Retry-After, as each family reports it, or one second', async () => {
  const limited = (retryAfter: string): Expected => ({ status: 429, body: errors.limited, retryAfter })
  const slow = (family: Family, headers: Record<string, string> = {}) => whole(says[family]('Slow', 429), 429, headers)
  const details = [
    { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaId: 'PerMinute' }] },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
  ]
  const exhausted = { error: { code: 429, message: 'Slow', status: 'RESOURCE_EXHAUSTED', details } }
  await expectFailure('anthropic', slow('anthropic', { 'retry-after': '7' }), limited('7'))
  await expectFailure('google', whole(exhausted, 429), limited('35'))
  await expectFailure('openai', slow('openai', { 'retry-after-ms': '1500' }), limited('2'))
  for (const family of families) await expectFailure(family, slow(family), limited('1'))
})

/** A failure of the network, as undici tells it. */
const coded = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code })

it('is 502 where the upstream fails, cannot be reached, or times out', async () => {
  const unreachable = [
    coded('ECONNREFUSED'),
    coded('CERT_HAS_EXPIRED'),
    coded('DEPTH_ZERO_SELF_SIGNED_CERT'),
    coded('ERR_TLS_CERT_ALTNAME_INVALID'),
    coded('ERR_SSL_WRONG_VERSION_NUMBER'),
  ]
  for (const family of families) {
    for (const status of [529, 503, 500, 504])
      await expectFailure(family, whole(says[family]('Secret', status), status), { status: 502, body: errors.failed })
    for (const cause of unreachable)
      // As undici tells it, and as `fetch` does.
      for (const thrown of [cause, new TypeError('fetch failed', { cause })])
        await expectFailure(
          family,
          () => {
            throw thrown
          },
          { status: 502, body: errors.unreachable },
        )
  }
  for (const stream of [false, true]) {
    const sent: unknown[] = []
    const silent: Transport = ({ body, signal }) => {
      sent.push(JSON.parse(body as string))
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
    }
    const router = createRouter({ providers: [openai({ apiKey: 'sk-upstream', transport: silent })] })
    const { chat, records } = await testGateway({ router, firstEventMs: 20 })
    const response = await chat(stream ? { stream } : {})
    expect(sent).toEqual([asked.openai(stream)])
    // The generation may have been accepted.
    expectError(response, await response.text(), { status: 502, body: errors.late, shouldRetry: 'false' })
    expect(await records()).toEqual([])
  }
})

it('is 502 where the credential of the gateway is refused, without details', async () => {
  const message = 'Incorrect API key sk-abcDEF123456 or AIzaSyA1234567890 of organization org-a1b2c3d4e5'
  const failed = { status: 502, body: errors.failed }
  for (const family of families)
    for (const status of [401, 403, 402])
      await expectFailure(family, whole(says[family](message, status), status), failed)
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
  const invalid = { error: { code: 400, message, status: 'INVALID_ARGUMENT', details } }
  await expectFailure('google', whole(invalid, 400), failed)
})

it('is 400 context_length_exceeded with the message of OpenAI where the context is too long', async () => {
  const words: Record<Family, string> = {
    openai: "This model's maximum context length is 128000 tokens. However, your messages resulted in 140010 tokens.",
    anthropic: 'prompt is too long: 208310 tokens > 200000 maximum',
    google: 'The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).',
  }
  const limits: Record<Family, string> = { openai: '', anthropic: '200000', google: '1048576' }
  for (const family of families) {
    const begin = `This model's maximum context length is ${limits[family]} tokens. Please reduce the length of the messages.`
    const message = family === 'openai' ? words[family] : `${begin} The provider says: ${words[family]}`
    await expectFailure(family, whole(says[family](words[family], 400), 400), {
      status: 400,
      body: error('invalid_request_error', 'context_length_exceeded', message),
    })
  }
})

it('is 502 in JSON where a proxy before the upstream answers 502 in HTML', async () => {
  const html = '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>cloudflare</body>\r\n</html>'
  for (const family of families)
    await expectFailure(family, whole(html, 502, { 'content-type': 'text/html' }), { status: 502, body: errors.failed })
})

it('reads an error with the content type of an event stream', async () => {
  const words = 'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.'
  const body = error('invalid_request_error', 'model_not_found', words)
  for (const family of families) {
    const given = says[family](words, 404)
    for (const text of [JSON.stringify(given), `${JSON.stringify(given, null, 2)}\n`])
      await expectFailure(family, whole(text, 404, { 'content-type': 'text/event-stream' }), { status: 400, body })
  }
})
