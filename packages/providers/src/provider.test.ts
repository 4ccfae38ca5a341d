// Longer than 250 lines: each kind of answer whole and streamed, by the same set-up.
import type { ChatChunk, ChatCompletionRequest, ChatStream } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { anthropic } from './anthropic/index.js'
import { openai } from './openai/index.js'
import { toChunks } from './provider.js'
import type { Transport, TransportRequest } from './upstream/transport.js'

const request: ChatCompletionRequest = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }
const utf8 = new TextEncoder()
const json = { 'content-type': 'application/json' }
const sse = { 'content-type': 'text/event-stream' }
const chunk = (content: string, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`

interface Answer {
  status?: number
  headers?: Record<string, string>
  body?: (string | Error)[]
}

/** A provider whose upstream returns `answer` or fails with it, and the requests that it received. */
function setUp(answer: Answer | Error, limits = {}) {
  const sent: TransportRequest[] = []
  const state = { left: false }
  const transport: Transport = async (call) => {
    sent.push(call)
    if (answer instanceof Error) throw answer
    const { status = 200, headers = json as Record<string, string>, body = [] } = answer
    return {
      status,
      header: (name) => headers[name],
      body: (async function* () {
        try {
          for (const piece of body)
            if (piece instanceof Error) throw piece
            else yield utf8.encode(piece)
        } finally {
          state.left = true
        }
      })(),
    }
  }
  const controller = new AbortController()
  const provider = openai({ apiKey: 'sk-test', baseURL: 'https://up.example/v1//', transport, limits })
  const complete = (fields = {}) => provider.chat.complete({ ...request, ...fields }, controller)
  const stream = () => provider.chat.stream({ ...request, stream: true }, controller)
  return { provider, sent, state, controller, complete, stream }
}

const failure = (fields: object) => ({ name: 'UpstreamError', failure: { provider: 'openai', ...fields } })

describe('a call', () => {
  it('has the base URL and the credential of the gateway, and nothing else of the caller', async () => {
    const { sent, complete, controller } = setUp({ body: ['{"choices":[{"message":{"content":"Hello"}}]}'] })
    expect(await complete({ provider: 'openai', system: 'Be brief' })).toMatchObject({
      choices: [{ message: { content: 'Hello' } }],
    })
    expect(sent).toEqual([
      {
        url: 'https://up.example/v1/chat/completions',
        method: 'POST',
        headers: {
          authorization: 'Bearer sk-test',
          'user-agent': 'turnpike',
          'content-type': 'application/json',
          accept: 'application/json',
          'accept-encoding': 'identity',
        },
        body: '{"model":"gpt-4o","messages":[{"role":"system","content":"Be brief"},{"role":"user","content":"Hi"}]}',
        signal: controller.signal,
      },
    ])
  })

  it('for a stream accepts events', async () => {
    const { sent, stream } = setUp({ headers: sse, body: [chunk('a', 'stop')] })
    await stream()
    expect(sent[0]!.headers['accept']).toBe('text/event-stream')
    expect(JSON.parse(sent[0]!.body as string)).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })

  it('belongs to a provider with id, models and owns', async () => {
    const provider = openai({ apiKey: 'x' })
    expect(provider.id).toBe('openai')
    expect(provider.owns!('gpt-99')).toBe(true)
    expect((await provider.models({ signal: new AbortController().signal })).length).toBeGreaterThan(0)
    expect(openai({ apiKey: 'x', id: 'mine' }).id).toBe('mine')
  })
})

describe.each(['complete', 'stream'] as const)('%s', (way) => {
  it.each<[status: number, error: object, expected: object]>([
    [400, { message: 'Too long', code: 'context_length_exceeded' }, { caller: true, code: 'context_length_exceeded' }],
    [401, { message: 'Bad key' }, { credential: true, caller: false }],
    [404, { message: 'No model', code: 'model_not_found' }, { caller: true, code: 'model_not_found' }],
    [429, { message: 'Slow down' }, { retryAfter: 3, caller: false }],
    [503, { message: 'Down' }, { caller: false, credential: false }],
  ])('with status %i fails, not accepted', async (status, error, expected) => {
    const answer = { status, headers: { ...json, 'retry-after': '3' }, body: [JSON.stringify({ error })] }
    await expect(setUp(answer)[way]()).rejects.toMatchObject({
      message: (error as { message: string }).message,
      ...failure({ kind: 'status', status, accepted: false, ...expected }),
    })
  })

  it.each<[what: string, answer: Answer]>([
    ['no body', { status: 502 }],
    ['a redirect', { status: 502, headers: { location: 'https://other' } }],
    ['a body that breaks', { status: 502, body: ['{"err', new Error('ECONNRESET')] }],
    ['an endless body', { status: 502, body: Array(70).fill('x'.repeat(1_024)) as string[] }],
  ])('has a generic message for %s', async (_, answer) => {
    await expect(setUp(answer)[way]()).rejects.toMatchObject({ message: 'The upstream answered with status 502' })
  })

  it('has the text of an HTML page', async () => {
    const answer = { status: 413, headers: { 'content-type': 'text/html' }, body: ['<title>413 Too Large</title>'] }
    await expect(setUp(answer)[way]()).rejects.toMatchObject({ message: '413 Too Large', ...failure({ caller: true }) })
  })

  it('reads an error with the content type of an event stream', async () => {
    const answer = { status: 400, headers: sse, body: ['{"error":{"message":"Bad"}}'] }
    await expect(setUp(answer)[way]()).rejects.toMatchObject({ message: 'Bad', ...failure({ status: 400 }) })
  })

  it('fails at a redirect', async () => {
    await expect(setUp({ status: 302 })[way]()).rejects.toMatchObject(failure({ kind: 'status', status: 302 }))
  })

  it('reports whether a failed connection can have carried the request', async () => {
    const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' })
    await expect(setUp(refused)[way]()).rejects.toMatchObject(
      failure({ kind: 'unavailable', accepted: false, cause: refused }),
    )
    await expect(setUp(new Error('reset'))[way]()).rejects.toMatchObject(
      failure({ kind: 'unavailable', accepted: true }),
    )
  })

  it('fails with the reason of its signal', async () => {
    const reason = new Error('the client left')
    const { controller, ...calls } = setUp(new Error('aborted'))
    controller.abort(reason)
    await expect(calls[way]()).rejects.toBe(reason)
  })
})

it('refuses n if the family returns one answer per call, before it calls', async () => {
  const transport: Transport = () => Promise.reject(new Error('called'))
  const { chat } = anthropic({ apiKey: 'x', transport })
  await expect(chat!.complete({ ...request, n: 2 }, new AbortController())).rejects.toMatchObject({
    status: 400,
    message: 'anthropic supports one choice per request',
  })
})

describe('a whole answer', () => {
  it.each<[what: string, body: (string | Error)[], kind: string]>([
    ['is not JSON', ['<html>'], 'malformed'],
    ['is no object', ['"text"'], 'malformed'],
    ['is null', ['null'], 'malformed'],
    ['is empty', [], 'malformed'],
    ['has no choices', ['{}'], 'malformed'],
    ['has no choice that is one', ['{"choices":[null]}'], 'malformed'],
    ['breaks off', ['{"choices":', new Error('ECONNRESET')], 'truncated'],
  ])('that %s is an accepted failure', async (_, body, kind) => {
    await expect(setUp({ body }).complete()).rejects.toMatchObject(failure({ kind, accepted: true }))
  })

  it.each(['null', '7', '["m"]'])('with a usage is charged, whatever its model is: %s', async (model) => {
    const body = [`{"model":${model},"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`]
    await expect(setUp({ body }).complete()).rejects.toMatchObject(
      failure({
        kind: 'malformed',
        accepted: true,
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
      }),
    )
  })

  it('with status 200 and an error has the status of the error', async () => {
    const body = ['{"error":{"message":"Slow down","code":429}}']
    await expect(setUp({ body }).complete()).rejects.toMatchObject({
      message: 'Slow down',
      ...failure({ kind: 'status', status: 429, accepted: false }),
    })
  })

  it.each(['zstd', 'gzip, zstd'])('that the transport could not decode is refused by the name of %s', async (name) => {
    const body = ['{}']
    const { complete } = setUp({ headers: { 'content-encoding': name }, body })
    await expect(complete()).rejects.toMatchObject({
      message: `The content encoding of the answer is not supported: ${name}`,
      ...failure({ kind: 'malformed', accepted: true, encoding: name }),
    })
    const refused = setUp({ status: 429, headers: { 'content-encoding': name, 'retry-after': '7' }, body })
    await expect(refused.complete()).rejects.toMatchObject(failure({ kind: 'status', status: 429, retryAfter: 7 }))
  })

  it('that says that it is not encoded is read', async () => {
    const body = ['{"choices":[{"message":{"content":"Hi"}}]}']
    for (const name of ['identity', 'Identity'])
      expect(await setUp({ headers: { 'content-encoding': name }, body }).complete()).toMatchObject({
        choices: [{ message: { content: 'Hi' } }],
      })
  })

  it('treats null as absent', async () => {
    const { chat } = anthropic({ apiKey: 'x' })
    const nulls = { tool_choice: null, max_completion_tokens: null, safety_identifier: null, user: 'u', made_up: null }
    expect(chat!.preview({ ...request, ...nulls, max_tokens: 5 })).toEqual([])
  })

  it('has a size limit', async () => {
    const body = ['{"choices":[{"message":{"content":"', 'x'.repeat(100), '"}}]}']
    const { state, complete } = setUp({ body }, { answer: 100 })
    await expect(complete()).rejects.toMatchObject({ message: 'The answer is larger than 100 bytes' })
    expect(state.left).toBe(true)
    await setUp({ body }, { answer: 140 }).complete()
  })

  it('that is aborted fails with the reason of the signal', async () => {
    const reason = new Error('the client left')
    const { controller, complete } = setUp({ body: ['{', new Error('aborted')] })
    const answer = complete()
    controller.abort(reason)
    await expect(answer).rejects.toBe(reason)
  })
})

describe('a streamed answer', () => {
  const read = async (stream: ChatStream): Promise<string> => {
    let text = ''
    for await (const { choices } of toChunks(stream)) text += choices[0]?.delta.content ?? ''
    return text
  }

  it('has all chunks, including the first', async () => {
    const { stream } = setUp({
      headers: sse,
      body: [': hi\n\n', chunk('a'), chunk('b') + chunk('c'), chunk('', 'stop')],
    })
    expect(await read(await stream())).toBe('abc')
  })

  it('is cancelled when its reader stops', async () => {
    const { stream, state } = setUp({ headers: sse, body: [chunk('a'), chunk('b'), chunk('c', 'stop')] })
    for await (const _ of toChunks(await stream())) break
    await new Promise(setImmediate)
    expect(state.left).toBe(true)
  })

  it.each<[what: string, answer: Answer, kind: string]>([
    ['is JSON without choices', { body: ['{"choices":[]}'] }, 'malformed'],
    ['is empty', { headers: sse }, 'truncated'],
    ['is only comments', { headers: sse, body: [': ping\n\n'] }, 'truncated'],
    ['is only [DONE]', { headers: sse, body: ['data: [DONE]\n\n'] }, 'truncated'],
    ['begins with an event that is none', { headers: sse, body: ['data: {"choices":[null]}\n\n'] }, 'malformed'],
    ['begins with nonsense', { headers: sse, body: ['data: <html>\n\n'] }, 'malformed'],
    ['breaks before its first event', { headers: sse, body: ['data: {', new Error('x')] }, 'truncated'],
  ])('that %s is refused before it begins', async (_, answer, kind) => {
    await expect(setUp(answer).stream()).rejects.toMatchObject(failure({ kind, accepted: true }))
  })

  it('that begins with an error event is refused', async () => {
    const answer = { headers: sse, body: ['data: {"error":{"message":"Overloaded","code":503}}\n\n'] }
    await expect(setUp(answer).stream()).rejects.toMatchObject({
      message: 'Overloaded',
      ...failure({ kind: 'status', status: 503, accepted: false }),
    })
  })

  it('that breaks throws after its last chunk', async () => {
    const { stream } = setUp({ headers: sse, body: [chunk('a'), chunk('b')] })
    const got: ChatChunk[] = []
    const all = async () => {
      for await (const chunk of toChunks(await stream())) got.push(chunk)
    }
    await expect(all()).rejects.toMatchObject(failure({ kind: 'truncated', accepted: true }))
    expect(got).toHaveLength(2)
  })

  it('is complete after its end event, even if the connection breaks', async () => {
    const { stream } = setUp({ headers: sse, body: [chunk('a', 'stop'), 'data: [DONE]', new Error('ECONNRESET')] })
    expect(await read(await stream())).toBe('a')
  })

  it('has a size limit per event', async () => {
    const large = chunk('x'.repeat(500), 'stop')
    const body = [chunk('a'), large.slice(0, 250), large.slice(250, 500), large.slice(500)]
    const { stream } = setUp({ headers: sse, body }, { event: 300 })
    await expect(read(await stream())).rejects.toMatchObject(failure({ kind: 'malformed' }))
  })

  it('requires no content type', async () => {
    const { stream } = setUp({ headers: {}, body: [chunk('a', 'stop')] })
    expect(await read(await stream())).toBe('a')
  })
})
