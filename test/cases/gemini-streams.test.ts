import { expect, it } from 'vitest'
import type { Answer } from './pass.js'
import { chunks, pass, stream, whole } from './pass.js'

const asked = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }
const head = { id: 'chatcmpl-r1', created: 0, model: 'gemini-2.5-flash', object: 'chat.completion.chunk' }

const event = (parts: object[], finishReason?: string, usageMetadata?: object) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  usageMetadata,
  responseId: 'r1',
})

const delta = (given: object) => ({ index: 0, delta: given, finish_reason: null })
const said = (content: string) => delta({ role: 'assistant', content })
const finish = (finish_reason: string) => ({ index: 0, delta: {}, finish_reason })
const begun = (name: string, index = 0) => ({
  tool_calls: [{ index, id: 'call_new', type: 'function', function: { name, arguments: '' } }],
})
const continued = (text: string, index = 0) => ({ tool_calls: [{ index, function: { arguments: text } }] })

const error = (type: string, message: string, code: string): string =>
  `{"error":{"type":"${type}","message":"${message}","code":"${code}"}}`
const truncated = error(
  'upstream_error',
  'The upstream provider ended its answer before it was whole',
  'upstream_truncated',
)

/** Expects an answer of Gemini to reach a client that asked for a stream as these bytes. */
async function expectStream(given: Answer, text: string, { status = 200, request = {} } = {}) {
  const passed = await pass('google', { stream: true, ...request }, given)
  expect(passed.sent.map(({ body }) => body)).toEqual([asked])
  expect(passed.status).toBe(status)
  expect(passed.text).toBe(text)
  return passed
}

it('uses the last usage', async () => {
  const last = { promptTokenCount: 13, candidatesTokenCount: 2, totalTokenCount: 15 }
  const usage = {
    prompt_tokens: 13,
    completion_tokens: 2,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
  const text = chunks(
    head,
    ...[said('Hel'), delta({ content: 'lo' }), finish('stop')].map((choice) =>
      JSON.stringify({ ...head, choices: [choice], usage: null }),
    ),
    JSON.stringify({ ...head, choices: [], usage }),
    '[DONE]',
  )
  for (const first of [undefined, { promptTokenCount: 16, totalTokenCount: 16 }]) {
    const { records } = await expectStream(
      stream(event([{ text: 'Hel' }], undefined, first), event([{ text: 'lo' }], 'STOP', last)),
      text,
      { request: { stream_options: { include_usage: true } } },
    )
    expect(records).toMatchObject([{ prompt_tokens: 13, completion_tokens: 2, outcome: 'complete' }])
  }
})

it('sends no text for an empty text with a signature, and finishes once', async () => {
  const signature = event([{ text: '', thoughtSignature: 'sig' }], 'STOP')
  const signed = delta({
    extra_content: { google: { thought_signature: 'sig' } },
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'sig', format: 'google-gemini-v1', index: 0 }],
  })
  const text = chunks(head, said('Hello'), signed, finish('stop'), '[DONE]')
  await expectStream(stream(event([{ text: 'Hello' }]), signature), text)
  await expectStream(stream(event([{ text: 'Hello' }], 'STOP'), signature), text)
})

it('numbers calls over the whole stream', async () => {
  const { raw } = await expectStream(
    stream(
      event([{ functionCall: { name: 'a', args: { x: 1 } } }]),
      event([{ functionCall: { name: 'b', args: { y: 2 } } }], 'STOP'),
    ),
    chunks(
      head,
      delta({ role: 'assistant', content: null, ...begun('a') }),
      delta(continued('{"x":1}')),
      delta(begun('b', 1)),
      delta(continued('{"y":2}', 1)),
      finish('tool_calls'),
      '[DONE]',
    ),
  )
  const ids = raw.match(/call_\w{24}(?=")/g)
  expect(ids).toHaveLength(2)
  expect(new Set(ids).size).toBe(2)
})

it('returns text and then the call of the same event', async () => {
  await expectStream(
    stream(event([{ text: 'Wait.' }, { functionCall: { name: 'a', args: { x: 1 } } }], 'STOP')),
    chunks(head, said('Wait.'), delta(begun('a')), delta(continued('{"x":1}')), finish('tool_calls'), '[DONE]'),
  )
})

it('detects a bare JSON error at any position', async () => {
  const overloaded = { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' }
  const exhausted = {
    code: 429,
    message: 'Quota exceeded',
    status: 'RESOURCE_EXHAUSTED',
    details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' }],
  }
  const told: [given: object, status: number, retryAfter: string | null, text: string][] = [
    [overloaded, 502, null, error('upstream_error', 'The upstream provider failed', 'upstream_error')],
    [
      exhausted,
      429,
      '35',
      error('rate_limit_error', 'The upstream provider is rate limiting; try again later', 'rate_limit_exceeded'),
    ],
  ]
  for (const [given, status, retryAfter, text] of told)
    for (const indent of [0, 2]) {
      const tail = JSON.stringify({ error: given }, null, indent)
      const { headers } = await expectStream(stream(tail), text, { status })
      expect(headers.get('retry-after')).toBe(retryAfter)
      await expectStream(stream(event([{ text: 'Hel' }]), tail), chunks(head, said('Hel'), text))
      await expectStream(stream(event([{ text: 'Hello' }], 'STOP'), tail), chunks(head, said('Hello'), text))
    }
})

it('ends with an error without a finish reason', async () => {
  const { records } = await expectStream(stream(event([{ text: 'Hel' }])), chunks(head, said('Hel'), truncated))
  expect(records).toMatchObject([{ outcome: 'truncated' }])
  await expectStream(
    stream(event([{ functionCall: { name: 'a', args: { x: 1 } } }])),
    chunks(head, delta({ role: 'assistant', content: null, ...begun('a') }), delta(continued('{"x":1}')), truncated),
  )
})

it('treats an empty body as a failure', async () => {
  const { headers, records } = await expectStream(stream(), truncated, { status: 502 })
  expect(headers.get('x-should-retry')).toBe('false')
  expect(records).toEqual([])

  const once = await pass('google', {}, whole(''))
  expect(once.sent.map(({ body }) => body)).toEqual([asked])
  expect(once.status).toBe(502)
  expect(once.text).toBe(
    error('upstream_error', 'The upstream provider sent an answer that makes no sense', 'upstream_error'),
  )
})

it('is complete with nothing but thoughts', async () => {
  await expectStream(
    stream(event([{ text: 'Hm.', thought: true }]), event([], 'STOP')),
    chunks(head, delta({ role: 'assistant', content: '', reasoning_content: 'Hm.' }), finish('stop'), '[DONE]'),
  )
})

it('joins arguments that arrive in parts', async () => {
  const piece = (jsonPath: string, value: object) =>
    event([{ functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true } }])
  await expectStream(
    stream(
      event([{ functionCall: { name: 'a', willContinue: true } }]),
      piece('$.city', { stringValue: 'Bo', willContinue: true }),
      piece('$.city', { stringValue: 'nn "am" Rhein' }),
      piece('$.days[0].n', { numberValue: 2 }),
      piece('$.exact', { boolValue: false }),
      piece('$.unit', { nullValue: 'NULL_VALUE' }),
      event([{ functionCall: {} }]),
      event([{ text: '' }], 'STOP'),
    ),
    chunks(
      head,
      delta({ role: 'assistant', content: null, ...begun('a') }),
      delta(continued('{"city":"Bonn \\"am\\" Rhein","days":[{"n":2}],"exact":false,"unit":null}')),
      finish('tool_calls'),
      '[DONE]',
    ),
  )
})

it('ends with content_filter where nothing but feedback on the prompt came, also without a reason', async () => {
  const feedback = (promptFeedback: object) => ({ promptFeedback, responseId: 'r1' })
  const refused = (refusal: string) =>
    chunks(head, delta({ role: 'assistant', content: '', refusal }), finish('content_filter'), '[DONE]')
  await expectStream(stream(feedback({ blockReason: 'SAFETY' })), refused('SAFETY'))
  await expectStream(stream(feedback({})), refused('BLOCK_REASON_UNSPECIFIED'))
  await expectStream(stream(feedback({ safetyRatings: [] }), { candidates: [] }), refused('BLOCK_REASON_UNSPECIFIED'))
  // What begins so may still be answered.
  await expectStream(
    stream(feedback({ safetyRatings: [] }), event([{ text: 'Hello' }], 'STOP')),
    chunks(head, said('Hello'), finish('stop'), '[DONE]'),
  )
})
