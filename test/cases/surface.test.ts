import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { expect, it, onTestFinished } from 'vitest'
import { startGateway } from '../faults/gateway.js'
import { given, seen } from '../faults/openai.js'
import { chunkedHead, done, piece } from '../faults/wire.js'
import { testGateway } from '../support/gateway.js'
import type { Step } from '../support/raw-upstream.js'
import { parseStream } from '../support/sse.js'
import type { Family } from './pass.js'
import { pass, stream } from './pass.js'
import type { Payload } from './surface-families.js'
import { asked, forms } from './surface-families.js'

const everyFamily: Family[] = ['openai', 'anthropic', 'google']
const plain: Payload = { text: 'Hello', schema: '{"type":"object","properties":{}}', args: '{"a":1}' }

/** An error as the client gets it. */
const errorBody = (type: string, code: string, message: string): string =>
  JSON.stringify({ error: { type, message, code } })
const invalid = (message: string): string => errorBody('invalid_request_error', 'invalid_body', message)

/** Sends `given` through a family, whole and streamed; upstream and client get it as it is, but for the given exceptions. */
async function expectThrough(
  family: Family,
  given: Payload,
  { sent = given, seen = given, streamSeen = given }: { sent?: Payload; seen?: Payload; streamSeen?: Payload } = {},
): Promise<void> {
  const form = forms[family]
  const whole = await pass(family, asked(given), form.answer(given))
  expect(whole.sent.map(({ body }) => JSON.stringify(body))).toEqual([form.sent(sent)])
  expect(whole.text).toBe(form.seen(seen))
  const streamed = await pass(family, { ...asked(given), stream: true }, form.stream(given))
  expect(streamed.text).toBe(form.streamSeen(streamSeen))
}

/** A gateway with all families, whose upstreams must not be called, and what it answers. */
async function catalogue() {
  const transport = () => Promise.reject(new Error('An upstream was called'))
  const options = { apiKey: 'x', transport }
  const { send } = await testGateway({
    router: createRouter({ providers: [openai(options), anthropic(options), google(options)] }),
  })
  return async (path: string) => {
    const response = await send('GET', path)
    return { status: response.status, text: await response.text() }
  }
}

it('lists the models of a provider, and returns one by its id in each form', async () => {
  const get = await catalogue()
  const record = (id: string): string =>
    `{"id":"${id}","object":"model","created":1795737600,"owned_by":"anthropic","provider":"anthropic",` +
    '"capabilities":["chat","tools","vision","json_schema","reasoning"]'
  const ids =
    'claude-haiku-4-5 claude-haiku-5-5 claude-sonnet-4-5 claude-sonnet-4-6 claude-sonnet-5 claude-sonnet-5-5 claude-opus-4-5 claude-opus-4-6 ' +
    'claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-fable-5 claude-fable-5-1 claude-fable-5-2'
  const records = ids.split(' ').map((id) => `${record(id)}}`)
  expect(await get('/v1/models?provider=anthropic')).toEqual({
    status: 200,
    text: `{"object":"list","data":[${records.join()}]}`,
  })
  expect((await get('/v1/models')).text).toContain(`},${records.join()},{`)

  const one = await get('/v1/models/claude-sonnet-4-5')
  expect(one.status).toBe(200)
  expect(one.text.startsWith(record('claude-sonnet-4-5'))).toBe(true)
  expect(await get('/v1/models/anthropic/claude-sonnet-4-5')).toEqual(one)
  expect(await get('/v1/models/anthropic%2Fclaude-sonnet-4-5')).toEqual(one)

  const unknown = { status: 404, text: errorBody('not_found_error', 'not_found', 'There is no model with this id') }
  for (const id of ['x', 'anthropic/x', 'anthropic%2Fx', 'google/claude-sonnet-4-5'])
    expect(await get(`/v1/models/${id}`)).toEqual(unknown)
})

it('refuses a bad body, and sends nothing', async () => {
  const { send, upstream, records } = await testGateway({ bodyLimit: 1_000 })
  const body = (fields: object): string =>
    JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], ...fields })
  /** A body of that many bytes. */
  const sized = (size: number): string => body({ user: 'x'.repeat(size - body({ user: '' }).length) })
  const noJson = errorBody('invalid_request_error', 'invalid_json', 'The request body is not valid JSON')
  for (const [text, status, error] of [
    ['{"model":"gpt-4o",', 400, noJson],
    ['Hi', 400, noJson],
    [body({ messages: [] }), 400, invalid('messages must not be empty')],
    [body({ n: 0 }), 400, invalid('n must be at least 1, not 0')],
    [body({ n: 129 }), 400, invalid('n must be at most 128, not 129')],
    [body({ temperature: 2.1 }), 400, invalid('temperature must be at most 2, not 2.1')],
    [body({ top_p: -1 }), 400, invalid('top_p must be at least 0, not -1')],
    [
      sized(1_001),
      413,
      errorBody('invalid_request_error', 'request_too_large', 'The request body is larger than 1000 bytes'),
    ],
  ] as const) {
    const response = await send('POST', '/v1/chat/completions', text)
    expect([response.status, await response.text()]).toEqual([status, error])
  }
  expect([upstream.requests, await records()]).toEqual([[], []])
  expect((await send('POST', '/v1/chat/completions', sized(1_000))).status).toBe(200)
  expect(upstream.requests).toHaveLength(1)
})

const numbers = ['max_tokens', 'temperature', 'top_p', 'n']
const moreNumbers = 'max_completion_tokens presence_penalty frequency_penalty seed top_logprobs top_k'.split(' ')

it('treats null as absent for a number, and refuses a text', async () => {
  const nulls = Object.fromEntries([...numbers, ...moreNumbers].map((field) => [field, null]))
  for (const family of everyFamily) {
    const { sent, text, headers } = await pass(family, { ...asked(plain), ...nulls }, forms[family].answer(plain))
    expect(sent.map(({ body }) => JSON.stringify(body))).toEqual([forms[family].sent(plain)])
    expect(text).toBe(forms[family].seen(plain))
    expect(headers.has('x-gateway-warnings')).toBe(false)
    for (const field of [...numbers, ...moreNumbers]) {
      const refused = await pass(family, { [field]: '1' }, forms[family].answer(plain))
      expect([refused.status, refused.sent]).toEqual([400, []])
      expect(refused.text).toBe(invalid(`${field} must be a number, not "1"`))
    }
  }
})

it('treats prototype names as data', async () => {
  const schema =
    '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"constructor":{"type":"string"}}},' +
    '"constructor":{"type":"object","properties":{"prototype":{"type":"object"}}}},"required":["__proto__","constructor"]}'
  const args = '{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}'
  for (const family of everyFamily) await expectThrough(family, { text: 'Hello', schema, args })

  // Arguments piece by piece, as Vertex AI sends them.
  const part = (call: object, finishReason?: string) => ({
    responseId: 'r1',
    candidates: [{ index: 0, content: { parts: [{ functionCall: call }] }, finishReason }],
  })
  const pieces = ['$.__proto__.polluted', '$.constructor.prototype.polluted'].map((jsonPath) =>
    part({ partialArgs: [{ jsonPath, stringValue: 'yes' }], willContinue: true }),
  )
  const events = [part({ name: 'f', willContinue: true }), ...pieces, part({}, 'STOP')]
  const { text } = await pass('google', { stream: true }, stream(...events))
  const calls = parseStream(text).flatMap((event) =>
    event.type === 'chunk' ? event.chunk.choices.flatMap(({ delta }) => delta.tool_calls ?? []) : [],
  )
  expect(calls.map((call) => call.function!.arguments).join('')).toBe(args)

  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()

  // A prototype that a body gives itself is no way around the checks of its fields.
  for (const family of everyFamily) {
    const body = {
      ...asked(plain),
      ...(JSON.parse('{"__proto__":{"n":500,"temperature":7,"stop":"X","stream":true}}') as object),
    }
    const { sent, text } = await pass(family, body, forms[family].answer(plain))
    expect(sent.map((one) => JSON.stringify(one.body))).toEqual([forms[family].sent(plain)])
    expect(text).toBe(forms[family].seen(plain))
  }
})

it('passes on lone surrogates and NUL as valid JSON', async () => {
  // Two characters to a piece of a stream: the second text is cut within its emoji.
  for (const text of ['a\ud800b\u0000c\udc00', 'a\ud83d\ude00b', '\u0000\ud83d\u0000'])
    for (const family of everyFamily) await expectThrough(family, { ...plain, text })
})

it('keeps large integers in arguments that are text; in objects, with the precision of JavaScript', async () => {
  const given = { ...plain, args: '{"n":12345678901234567890}' }
  const rounded = { ...plain, args: '{"n":12345678901234567000}' }
  await expectThrough('openai', given)
  await expectThrough('anthropic', given, { sent: rounded, seen: rounded })
  await expectThrough('google', given, { sent: rounded, seen: rounded, streamSeen: rounded })
})

it('applies backpressure to the upstream while the client does not read', { timeout: 60_000 }, async () => {
  const at = await startGateway()
  onTestFinished(() => at.close())
  const EVENTS = 1_000
  const pad = '.'.repeat(40_000)
  /** Events that the upstream has written. */
  let written = 0
  function* steps(): Generator<Step> {
    yield chunkedHead
    for (; written < EVENTS; written++) yield piece(given({ content: `${written} ${pad}` }))
    yield piece(given({}, 'stop') + done)
    yield piece()
  }
  at.upstream.script = steps()
  const sent = request(`${at.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hi' }] }))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]

  // What is between the two is in the buffers of sockets, some megabytes of 40.
  await expect.poll(() => written).toBeGreaterThan(0)
  for (let before = 0; written !== before; await setTimeout(300)) before = written
  expect(written).toBeLessThan(EVENTS / 2)

  let text = ''
  response.setEncoding('utf8')
  for await (const piece of response) {
    text += piece as string
    await setImmediate()
  }
  const first = seen({ role: 'assistant', content: `0 ${pad}` })
  const rest = Array.from({ length: EVENTS - 1 }, (_, before) => seen({ content: `${before + 1} ${pad}` }))
  // A machine that is busy may be silent for so long that comments come.
  expect(text.replace(/^:.*\n\n/gm, '') === first + rest.join('') + seen({}, 'stop') + done).toBe(true)
  expect((await at.records()).map(({ outcome }) => outcome)).toEqual(['complete'])
})
