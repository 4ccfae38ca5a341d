import { once } from 'node:events'
import type { Server as HttpServer } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServerFor } from '../faults/server.js'
import { recording } from '../support/families.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'

let server: Server
let upstream: HttpServer
/** What the upstream answers with: JSON, or as a list the events of a stream. */
let given: object | object[]
/** What it answers with before that. */
let first: object[] = []
let user: string
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    request.on('end', () => {
      const answer = first.shift() ?? given
      const events = Array.isArray(answer) ? (answer as object[]) : undefined
      response.setHeader('content-type', events ? 'text/event-stream' : 'application/json')
      response.end(
        events ? events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('') : JSON.stringify(answer),
      )
    })
  })
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  server = await startServerFor(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`)
  const { data } = (await get('/v1/users')) as { data: { id: string }[] }
  user = data[0]!.id
})
afterAll(async () => {
  await server.stop()
  upstream.close().closeAllConnections()
})

const headers = () => ({ authorization: `Bearer ${server.key}` })
const get = async (path: string): Promise<unknown> =>
  (await fetch(new URL(path, server.url), { headers: headers() })).json()

const models = { openai: 'gpt-4o', anthropic: 'claude-sonnet-4-5', google: 'gemini-2.5-flash' } as const
type Family = keyof typeof models

/** Sends a request and reads its answer to the end. @returns the status, and the tokens of its usage records: [prompt, completion] */
async function spend(path: string, body: object): Promise<[status: number, ...tokens: [number, number][]]> {
  type Usage = { records: { prompt_tokens: number; completion_tokens: number }[] }
  const before = ((await get(`/v1/users/${user}/usage`)) as Usage).records.length
  const asked = body instanceof FormData ? new Response(body) : Response.json(body)
  const response = await fetch(new URL(path, server.url), {
    method: 'POST',
    headers: { ...headers(), 'content-type': asked.headers.get('content-type')! },
    body: await asked.arrayBuffer(),
  })
  await response.text()
  const { records } = (await get(`/v1/users/${user}/usage`)) as Usage
  const made = records.slice(0, records.length - before)
  return [response.status, ...made.map((one): [number, number] => [one.prompt_tokens, one.completion_tokens])]
}
const chat = (family: Family, fields: object = {}) =>
  spend('/v1/chat/completions', { model: models[family], messages: [{ role: 'user', content: 'Hi' }], ...fields })

const openai = (message: object, usage: object | undefined = { prompt_tokens: 70, completion_tokens: 30 }) => ({
  choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  usage,
})
const claude = (fields: object) => ({
  id: 'm',
  type: 'message',
  stop_reason: 'tool_use',
  usage: { input_tokens: 70, output_tokens: 30 },
  ...fields,
})
const usageMetadata = { promptTokenCount: 70, candidatesTokenCount: 30 }
const gemini = (candidate: object | undefined) => ({ candidates: candidate && [candidate], usageMetadata })
const called = (name: string | undefined, text: string) => ({
  tool_calls: [{ id: 'a', function: { name, arguments: text } }],
})

/** Whole answers that use 70 and 30 tokens, and what makes them unusable. */
const whole: [what: string, family: Family, answer: object][] = [
  ['arguments that are not JSON', 'openai', openai(called('f', '{"a":'))],
  ['a call without a name', 'openai', openai(called(undefined, '{}'))],
  ['no choices', 'openai', { choices: [], usage: { prompt_tokens: 70, completion_tokens: 30 } }],
  ['choices of another type', 'openai', { choices: [null], usage: { prompt_tokens: 70, completion_tokens: 30 } }],
  [
    'an error beside its usage',
    'openai',
    { error: { message: 'No' }, usage: { prompt_tokens: 70, completion_tokens: 30 } },
  ],
  [
    'a failure as its end',
    'openai',
    { ...openai({ content: 'a' }), choices: [{ message: {}, finish_reason: 'error' }] },
  ],
  [
    'an error in a choice',
    'openai',
    {
      ...openai({}),
      choices: [{ message: { content: 'a' }, finish_reason: 'stop', error: { code: 429, message: 'No' } }],
    },
  ],
  ['a failure as its end', 'anthropic', claude({ content: [], stop_reason: 'insufficient_system_resource' })],
  ['no content', 'anthropic', claude({ content: null })],
  ['content of another type', 'anthropic', claude({ content: [null] })],
  ['MALFORMED_FUNCTION_CALL', 'google', gemini({ finishReason: 'MALFORMED_FUNCTION_CALL', content: {} })],
  ['no candidates', 'google', gemini(undefined)],
  ['a part of another type', 'google', gemini({ finishReason: 'STOP', content: { parts: [null] } })],
]

const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})
const start = { type: 'message_start', message: { id: 'm', usage: { input_tokens: 70, output_tokens: 1 } } }
const use = {
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} },
}
const piece = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"a":' } }
const ended = { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } }
const streams: [what: string, family: Family, events: object[]][] = [
  [
    'arguments that are not JSON',
    'openai',
    [
      chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{"a":' } }] }),
      chunk({}, 'tool_calls'),
      openai({}),
    ],
  ],
  [
    'a call without a name',
    'openai',
    [
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
      chunk({}, 'tool_calls'),
      { choices: [], usage: openai({}).usage },
    ],
  ],
  [
    'a failure as its end',
    'openai',
    [chunk({ content: 'a' }), chunk({}, 'network_error'), { ...openai({}), choices: [] }],
  ],
  [
    'an error beside its usage',
    'openai',
    [chunk({ content: 'a' }), { ...openai({}), error: { code: 503, message: 'No' } }],
  ],
  ['arguments that are not JSON', 'anthropic', [start, use, piece, ended, { type: 'message_stop' }]],
  ['MALFORMED_FUNCTION_CALL', 'google', [gemini({ finishReason: 'MALFORMED_FUNCTION_CALL', content: {} })]],
  [
    'MALFORMED_FUNCTION_CALL after a thought',
    'google',
    [
      gemini({ content: { parts: [{ text: 'Hm', thought: true }] } }),
      gemini({ finishReason: 'MALFORMED_FUNCTION_CALL' }),
    ],
  ],
]

describe(`threat 41: an answer that a caller makes unusable, on ${runtime}`, () => {
  it.each(whole)('with %s is charged to the caller of %s', async (_, family, answer) => {
    given = answer
    expect(await chat(family)).toEqual([502, [70, 30]])
  })

  it.each(streams)('as a stream with %s is charged to the caller of %s', async (_, family, events) => {
    given = events
    const [, ...records] = await chat(family, { stream: true })
    expect(records).toEqual([[70, 30]])
  })

  it('is charged by an estimate where it reports no usage', async () => {
    given = { ...openai(called('f', '{"a":')), usage: undefined }
    expect(await chat('openai', { max_tokens: 500 })).toEqual([502, [expect.any(Number), 500]])
    given = [{ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }]
    expect(await chat('google', { max_tokens: 500, stream: true })).toEqual([502, [expect.any(Number), 500]])
  })

  it('is charged as a stream at least what was expected where an event is too large to be read', async () => {
    const top_logprobs = Array.from({ length: 20 }, (_, at) => ({ token: `t${at}`, logprob: -1, bytes: [1] }))
    const content = Array.from({ length: 800 }, () => ({ token: 'a', logprob: -1, bytes: [1], top_logprobs }))
    const large = { choices: [{ index: 0, delta: { content: 'a'.repeat(800) }, logprobs: { content } }] }
    given = [chunk({ role: 'assistant', content: '' }), large, chunk({}, 'stop')]
    const asked = { max_tokens: 500, stream: true, logprobs: true, top_logprobs: 20 }
    expect(await chat('openai', asked)).toEqual([200, [expect.any(Number), 500]])
    given = [chunk({ content: 'word '.repeat(800) }), large]
    const [, [, completion] = []] = await chat('openai', asked)
    expect(completion).toBe(1000)
  })

  it.each([5, true, { a: 1 }])(
    'is charged by an estimate where its text is %j, and not recorded as no number',
    async (content) => {
      given = openai({ content }, null!)
      expect(await chat('openai')).toEqual([200, [expect.any(Number), expect.any(Number)]])
      given = [chunk({ content }), chunk({ content }), chunk({}, 'stop')]
      expect(await chat('openai', { stream: true })).toEqual([200, [expect.any(Number), expect.any(Number)]])
      given = { ...claude({ content: [{ type: 'text', text: content }] }), usage: undefined }
      expect(await chat('anthropic')).toEqual([200, [expect.any(Number), expect.any(Number)]])
      const text = { type: 'text', text: content }
      given = [
        { type: 'message_start', message: { id: 'm' } },
        { type: 'content_block_start', index: 0, content_block: text },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: content } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
        { type: 'message_stop' },
      ]
      expect(await chat('anthropic', { stream: true })).toEqual([200, [expect.any(Number), expect.any(Number)]])
      given = { candidates: [{ content: { parts: [{ text: content }] }, finishReason: 'STOP' }] }
      expect(await chat('google')).toEqual([200, [expect.any(Number), expect.any(Number)]])
      given = [given]
      expect(await chat('google', { stream: true })).toEqual([200, [expect.any(Number), expect.any(Number)]])
    },
  )

  it('costs nothing where the upstream told an error, or is no API at all', async () => {
    given = { error: { message: 'No', code: 500 } }
    expect(await chat('openai')).toEqual([502])
    given = { type: 'error', error: { type: 'overloaded_error', message: 'No' } }
    expect(await chat('anthropic')).toEqual([502])
  })

  it('is charged as often as it was asked for', async () => {
    given = gemini({ finishReason: 'MALFORMED_FUNCTION_CALL' })
    expect(await chat('google', { n: 3 })).toEqual([502, [210, 90]])
    // Those that reported as reported, and the third by an estimate.
    first = [given, given]
    given = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL' }] }
    const [status, [prompt, completion] = []] = await chat('google', { n: 3, max_tokens: 500 })
    expect([status, prompt! > 140, completion]).toEqual([502, true, 560])
  })

  it('of the other endpoints is charged as well', async () => {
    given = { data: [{ index: 0, embedding: [] }], usage: { prompt_tokens: 70 } }
    expect(await spend('/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi' })).toEqual([502, [70, 0]])
    given = { embeddings: [], usageMetadata: { promptTokenCount: 70 } }
    expect(await spend('/v1/embeddings', { model: 'gemini-embedding-001', input: ['Hi'] })).toEqual([502, [70, 0]])
    given = { data: [{}], usage: { input_tokens: 70, output_tokens: 30 } }
    expect(await spend('/v1/images/generations', { model: 'gpt-image-2', prompt: 'A' })).toEqual([502, [70, 30]])
    given = gemini({ finishReason: 'NO_IMAGE' })
    expect(await spend('/v1/images/generations', { model: 'gemini-2.5-flash-image', prompt: 'A' })).toEqual([
      502,
      [70, 30],
    ])
    given = gemini({ finishReason: 'IMAGE_SAFETY' })
    expect(await spend('/v1/images/generations', { model: 'gemini-2.5-flash-image', prompt: 'A' })).toEqual([
      400,
      [70, 30],
    ])
    given = { usage: { input_tokens: 70, output_tokens: 30 } }
    expect(await spend('/v1/audio/transcriptions', recording())).toEqual([502, [70, 30]])
  })

  it('leaves its provider healthy', async () => {
    for (const [, family, answer] of [...whole, ...streams, ...whole])
      if (!('error' in answer)) {
        given = answer
        await chat(family, { stream: Array.isArray(answer) })
      }
    expect(await get('/health/providers')).toMatchObject({ status: 'ok' })
  })
})
