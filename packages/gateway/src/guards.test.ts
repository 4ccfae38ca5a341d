import { ApiError } from '@turnpike/core'
import { localExchange } from '@turnpike/http'
import { createRouter, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it, vi } from 'vitest'
import type { TestOptions } from '../../../test/support/gateway.js'
import {
  answer,
  chunk,
  completion,
  COST,
  errorOf,
  OWNER,
  streamed,
  testGateway,
  withKey,
} from '../../../test/support/gateway.js'
import { joinText, parseStream } from '../../../test/support/sse.js'
import type { Answered, Asked, Guard } from './guards.js'
import { checkGuards, refuse } from './guards.js'
import { mapTexts } from './guarded-text.js'
import { createGateway } from './gateway.js'

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const end = [chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]']
const wanted = { stream: true, stream_options: { include_usage: true } }
const hide = (text: string) => text.replaceAll('secret', '******')

/** A gateway with guards; the upstream answers with {@link completion}, or streams the pieces. */
const guardedBy = (guards: Guard[], options: TestOptions = {}) =>
  testGateway({ upstream: () => completion(), ...options, guards })
const streaming = (guards: Guard[], pieces: Parameters<typeof streamed>, options: TestOptions = {}) =>
  guardedBy(guards, { upstream: () => streamed(...pieces), ...options })

/** What ends a stream: `done`, or the code of the error; whether a choice has finished, and its text. */
function ending(text: string) {
  const events = parseStream(text)
  const last = events.at(-1)!
  const finished = events.some(
    (event) => event.type === 'chunk' && event.chunk.choices.some(({ finish_reason }) => finish_reason),
  )
  return { end: last.type === 'error' ? last.error.code : last.type, finished, text: joinText(events) }
}

describe('a guard of requests', () => {
  it('sees the request, who asks and the tags, and no key', async () => {
    const seen: Asked[] = []
    const tags = { 'x-session-id': OWNER, 'x-project-id': 'none' }
    const { chat, key, keyId } = await guardedBy([{ name: 'see', request: (asked) => void seen.push({ ...asked }) }])
    const response = await chat({ user: 'u' }, { headers: tags })
    expect(response.status).toBe(200)
    const [{ signal, ...asked }] = seen as [Asked]
    expect(asked).toEqual({
      task: 'chat',
      request: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], user: 'u' },
      request_id: response.headers.get('x-request-id'),
      user_id: OWNER,
      key_id: keyId,
      session_id: OWNER,
      conversation_id: '',
      task_id: '',
      project_id: '',
    })
    expect(signal.aborted).toBe(false)
    expect(JSON.stringify(asked)).not.toContain(key)
  })

  it.each([
    ['content_filter', 400, 'invalid_request_error'],
    ['forbidden', 403, 'permission_error'],
  ] as const)('refuses by %s, before any upstream, for nothing', async (code, status, type) => {
    const { chat, upstream, records, logs, errors } = await guardedBy([
      {
        name: 'no',
        request: () => {
          throw refuse('Against the rules', code)
        },
      },
    ])
    for (const fields of [{}, { stream: true }]) {
      const response = await chat(fields)
      expect([response.status, await errorOf(response)]).toEqual([status, { type, code, message: 'Against the rules' }])
    }
    expect([upstream.requests, await records(), errors]).toEqual([[], [], []])
    expect(logs[0]).toMatchObject({ guard: 'no', error_code: code })
  })

  it('keeps the status of another ApiError; anything else is a 500 that tells nothing, before any upstream', async () => {
    const late = new ApiError(503, 'server_error', 'Later', { code: 'overloaded', retryAfter: 7 })
    const bug = new Error('postgres://user:pass@host')
    for (const [error, status] of [
      [late, 503],
      [bug, 500],
    ] as const) {
      const { chat, upstream, errors } = await guardedBy([
        {
          name: 'no',
          request: async () => {
            throw error
          },
        },
      ])
      const response = await chat()
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, status === 503 ? '7' : null])
      expect(await response.text()).not.toContain('postgres')
      expect(upstream.requests).toEqual([])
      if (error === bug) expect(errors[0]).toMatchObject({ cause: { message: 'The guard no failed', cause: bug } })
    }
  })

  it('changes the request: it is what is held, priced and sent, whether it is returned or changed in place', async () => {
    const long = 'word '.repeat(4_000)
    const lengthen: Guard[] = [
      {
        name: 'return',
        request: ({ task, request }) =>
          task === 'chat' ? { request: { ...request, messages: [{ role: 'user', content: long }] } } : undefined,
      },
      {
        name: 'place',
        request: (asked) =>
          void (asked.task === 'chat' && (asked.request.messages = [{ role: 'user', content: long }])),
      },
    ]
    for (const guard of lengthen) {
      // 20,000 characters are 5,000 tokens, and cost $0.0125.
      const { ask, upstream } = await withKey({ budget: { usd: 0.01 } }, { guards: [guard] })
      const refused = await ask({ max_tokens: 2 })
      expect([refused.status, upstream.requests]).toEqual([403, []])
      const { chat, sent } = await guardedBy([guard])
      expect((await chat()).status).toBe(200)
      expect(sent()!['messages']).toEqual([{ role: 'user', content: long }])
    }
  })

  it('is held to the form of requests', async () => {
    const spoil = (asked: Asked) => void Object.assign(asked.request, { messages: [{ role: 'user', content: 7 }] })
    const { chat, upstream } = await guardedBy([{ name: 'spoil', request: spoil }])
    const response = await chat()
    expect(response.status).toBe(400)
    expect(((await errorOf(response)) as { message: string }).message).toMatch(
      /^messages\.0\.content .*\(as the guard spoil left it\)$/,
    )
    expect(upstream.requests).toEqual([])
  })

  it('does not lift the limits of a key', async () => {
    const dear = ({ request }: Asked) =>
      void Object.assign(request, { model: 'gpt-4o', base_url: 'https://evil.example' })
    const { ask, upstream } = await withKey({ models: ['gpt-4o-mini'] }, { guards: [{ name: 'dear', request: dear }] })
    expect((await ask({ model: 'gpt-4o-mini' })).status).toBe(403)
    const open = await withKey({ budget: { usd: 1 } }, { guards: [{ name: 'dear', request: dear }] })
    const response = await open.ask({ max_tokens: 5 })
    expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([200, 'dropped=base_url'])
    expect(upstream.requests).toEqual([])
  })

  it('stands before those behind it, and is asked before the last word', async () => {
    const order: string[] = []
    const made = (name: string): Guard => ({
      name,
      request: async () => void order.push(`${name} request`),
      text: (text) => (order.push(`${name} ${text}`), `${text}${name}`),
      answer: ({ task, answer }) =>
        void order.push(`${name} answer ${task === 'chat' ? answer.choices[0]!.message.content : ''}`),
    })
    const { chat } = await guardedBy([made('a'), made('b')])
    const { choices } = (await (await chat()).json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]!.message.content).toBe('Helloba')
    expect(order).toEqual(['a request', 'b request', 'b Hello', 'b answer Hellob', 'a Hellob', 'a answer Helloba'])
  })

  it('is given its time, and is stopped when the client leaves', async () => {
    const signals: AbortSignal[] = []
    const slow: Guard = {
      name: 'slow',
      request: ({ signal }) => (signals.push(signal), new Promise<undefined>(() => undefined)),
    }
    const { chat, upstream, errors } = await guardedBy([slow], { guardMs: 20 })
    expect((await chat()).status).toBe(500)
    expect(errors[0]).toMatchObject({ cause: { cause: { message: 'It took longer than 20 ms' } } })
    expect(signals[0]!.aborted).toBe(true)

    const { gateway, key, upstream: other } = await guardedBy([slow])
    const client = new AbortController()
    const reply = gateway.handle(
      localExchange({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
        signal: client.signal,
      }),
    )
    await vi.waitFor(() => expect(signals).toHaveLength(2))
    client.abort()
    await reply
    expect(signals[1]!.aborted).toBe(true)
    expect([upstream.requests, other.requests]).toEqual([[], []])
  })
})

describe('a guard of answers', () => {
  const cover: Guard = { name: 'cover', text: hide }

  it('changes texts of whole answers: content, thoughts, refusals and arguments', async () => {
    const message = {
      role: 'assistant',
      content: 'a secret',
      reasoning_content: 'the secret',
      tool_calls: [{ id: 'secret', type: 'function', function: { name: 'secret', arguments: '{"a":"secret"}' } }],
    }
    const choices = [0, 1].map((index) => ({ index, message, finish_reason: 'tool_calls' }))
    const { chat, records } = await guardedBy([cover], { upstream: () => completion({ choices }) })
    const body = (await (await chat({ n: 2 })).json()) as { choices: { message: object }[] }
    expect(body.choices.map((choice) => choice.message)).toEqual(
      [0, 1].map(() => ({
        role: 'assistant',
        content: 'a ******',
        reasoning_content: 'the ******',
        tool_calls: [{ id: 'secret', type: 'function', function: { name: 'secret', arguments: '{"a":"******"}' } }],
      })),
    )
    expect(await records()).toMatchObject([{ cost_nano_usd: COST, outcome: 'complete' }])
  })

  it('finds in a stream what is split over chunks, of each choice and each call', async () => {
    const part = (index: number, delta: object, finish_reason: string | null = null) => ({
      ...chunk(''),
      choices: [{ index, delta, finish_reason }],
    })
    const call = (text: string) => ({ tool_calls: [{ index: 0, function: { arguments: text } }] })
    const pieces = [
      part(0, { role: 'assistant', content: '' }),
      part(0, { content: 'my sec' }),
      part(1, { role: 'assistant', content: 'ret ' }),
      part(1, { reasoning_content: 'se' }),
      part(0, { content: 'ret is' }),
      part(1, { reasoning_content: 'cret' }),
      part(0, { tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }] }),
      part(0, call('{"a":"sec')),
      part(0, call('ret"}')),
      part(1, {}, 'stop'),
      part(0, {}, 'tool_calls'),
    ]
    const { chat, records } = await streaming([cover], [...pieces, ...end.slice(1)])
    const text = await (await chat({ ...wanted, n: 2 })).text()
    expect(text).not.toMatch(/sec/)
    const events = parseStream(text)
    const deltas = (index: number) =>
      events
        .flatMap((event) => (event.type === 'chunk' ? event.chunk.choices : []))
        .filter((choice) => choice.index === index)
    expect([joinText(events, 0), joinText(events, 1)]).toEqual(['my ****** is', 'ret '])
    const first = deltas(0)
    expect(
      first
        .flatMap(({ delta }) => delta.tool_calls ?? [])
        .map((one) => one.function?.arguments)
        .join(''),
    ).toBe('{"a":"******"}')
    expect(
      deltas(1)
        .map(({ delta }) => delta['reasoning_content'] ?? '')
        .join(''),
    ).toBe('******')
    expect([first[0]!.delta, first.at(-1)!.finish_reason, deltas(1).at(-1)!.finish_reason]).toEqual([
      { role: 'assistant', content: '' },
      'tool_calls',
      'stop',
    ])
    // Usage, and the end, come last.
    expect(events.slice(-2)).toMatchObject([{ chunk: { choices: [], usage } }, { type: 'done' }])
    expect(await records()).toMatchObject([{ cost_nano_usd: COST, outcome: 'complete', accuracy: 'reported' }])
  })

  it('has a stream as it came where it changes nothing', async () => {
    const pieces = [...'Streams come through unchanged.'].map((character) => chunk(character))
    const { chat } = await streaming(
      [{ name: 'see', text: async () => undefined, answer: async () => undefined, lookBack: 5 }],
      [...pieces, ...end],
    )
    const { chat: plain } = await streaming([], [...pieces, ...end])
    expect(await (await chat(wanted)).text()).toBe(await (await plain(wanted)).text())
  })

  it('does not let what it has not seen pass by logprobs', async () => {
    const { chat, sent } = await guardedBy([cover])
    const response = await chat({ logprobs: true, top_logprobs: 2 })
    expect(response.headers.get('x-gateway-warnings')).toBe('dropped=logprobs')
    expect(Object.keys(sent()!)).toEqual(['model', 'messages'])
  })

  it('is told of whole answers, of streams too, and holds back their end', async () => {
    const seen: Answered[] = []
    let goOn = (): void => undefined
    const told: Guard = {
      name: 'tell',
      answer: (answered) => {
        seen.push(answered)
        return answered.task === 'chat' && answered.request.stream
          ? new Promise<void>((resolve) => (goOn = resolve))
          : undefined
      },
    }
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
    const { chat } = await streaming(
      [told],
      [
        chunk('Hel'),
        chunk('lo'),
        {
          ...chunk(''),
          choices: [
            {
              index: 0,
              delta: { tool_calls: [{ index: 0, ...call, function: { name: 'f', arguments: '{"a"' } }] },
              finish_reason: null,
            },
          ],
        },
        {
          ...chunk(''),
          choices: [
            { index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }, finish_reason: null },
          ],
        },
        chunk('', 'tool_calls'),
        ...end.slice(1),
      ],
    )
    const response = await chat(wanted)
    let text = ''
    const decoder = new TextDecoder()
    const read = (async () => {
      for await (const piece of response.body!) text += decoder.decode(piece)
    })()
    await vi.waitFor(() => expect(seen).toHaveLength(1))
    expect(text).toContain(':1}')
    expect(text).not.toContain('"finish_reason":"')
    goOn()
    await read
    expect(ending(text)).toEqual({ end: 'done', finished: true, text: 'Hello' })
    expect(seen[0]).toMatchObject({ task: 'chat', request: wanted })
    expect((seen[0] as Answered & { task: 'chat' }).answer).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 5,
      model: 'gpt-4o-2024',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hello', tool_calls: [call] }, finish_reason: 'tool_calls' },
      ],
      usage,
    })
  })

  it.each([
    [
      'text',
      {
        text: () => {
          throw refuse('No')
        },
      },
    ],
    [
      'answer',
      {
        answer: async () => {
          throw refuse('No')
        },
      },
    ],
  ])('refuses a whole answer by %s, which is billed', async (_, functions) => {
    const { chat, records, upstream, logs } = await guardedBy([{ name: 'no', ...functions }])
    const response = await chat({}, { headers: { 'x-gateway-explain': 'true' } })
    expect([response.status, await errorOf(response)]).toEqual([
      400,
      { type: 'invalid_request_error', code: 'content_filter', message: 'No' },
    ])
    // The clients of OpenAI would try a 5xx again, and pay again.
    expect([response.headers.get('x-should-retry'), response.headers.get('x-gateway-cost')]).toEqual([
      'false',
      '0.0000525',
    ])
    expect(upstream.requests).toHaveLength(1)
    expect(await records()).toMatchObject([{ cost_nano_usd: COST }])
    expect(logs[0]).toMatchObject({ guard: 'no', status: 400 })
  })

  it('fails closed: an answer that it could not judge is not sent, nor asked for again', async () => {
    const { chat, records } = await guardedBy([
      {
        name: 'no',
        text: () => {
          throw new Error('secret')
        },
      },
    ])
    const response = await chat()
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([500, 'false'])
    expect(await response.text()).not.toContain('secret')
    expect(await records()).toMatchObject([{ cost_nano_usd: COST }])
  })

  it('ends a stream that it refuses with an error and never with a finish, and what was used is charged', async () => {
    const stop = (text: string): undefined => {
      if (text.includes('secret')) throw refuse('No')
    }
    const words = Array.from({ length: 30 }, () => chunk(' word'))
    const cases: [Guard, object[], string][] = [
      [{ name: 'no', text: stop, lookBack: 10 }, [...words, chunk(' sec'), chunk('ret'), ...words], ' word'.repeat(28)],
      [{ name: 'no', text: stop, lookBack: Infinity }, [...words, chunk(' secret')], ''],
      [
        {
          name: 'no',
          answer: () => {
            throw refuse('No')
          },
        },
        words,
        ' word'.repeat(30),
      ],
    ]
    for (const [guard, pieces, sent] of cases) {
      const { chat, records, logs, gateway, signals } = await streaming([guard], [...pieces, ...end])
      const { end: code, finished, text } = ending(await (await chat(wanted)).text())
      expect([code, finished, text]).toEqual(['content_filter', false, sent])
      const [record, ...others] = await records()
      expect([record!.outcome, others]).toEqual(['refused', []])
      expect(record!.cost_nano_usd).toBeGreaterThan(0)
      expect(signals[0]!.aborted).toBe(true)
      expect(logs[0]).toMatchObject({ guard: 'no', error_code: 'content_filter', outcome: 'refused' })
      // It is no failure of the provider.
      expect((await gateway.fetch(new Request('https://gw.example/health'))).status).toBe(200)
    }
  })

  it('reads a refused stream to its end under a budget, so that what it thought is charged', async () => {
    const refuseAll: Guard = {
      name: 'no',
      text: () => {
        throw refuse('No')
      },
      lookBack: 1,
    }
    const pieces = [chunk('a'), chunk('b'), chunk('c'), chunk('d'), chunk('e'), ...end]
    const { ask, records, holds } = await withKey(
      { budget: { usd: 1 } },
      { upstream: () => streamed(...pieces), guards: [refuseAll] },
    )
    expect(ending(await (await ask({ ...wanted, max_tokens: 9 })).text())).toEqual({
      end: 'content_filter',
      finished: false,
      text: '',
    })
    expect(await records()).toMatchObject([{ outcome: 'refused', accuracy: 'reported', cost_nano_usd: COST }])
    expect(await holds()).toEqual([])
  })

  it('is charged what the upstream answered, whatever it makes of it', async () => {
    const { chat, records } = await streaming(
      [{ name: 'none', text: () => '' }],
      [...'Hello there'].map((c) => chunk(c)).concat(chunk('', 'stop')),
    )
    expect(ending(await (await chat(wanted)).text())).toEqual({ end: 'done', finished: true, text: '' })
    // 11 bytes are 3 tokens.
    expect(await records()).toMatchObject([{ accuracy: 'estimated', completion_tokens: 3 }])
  })

  it('is not taken for a slow upstream', async () => {
    const slow: Guard = { name: 'slow', text: (text) => new Promise((resolve) => setTimeout(() => resolve(text), 60)) }
    const { chat } = await streaming([slow], [chunk('Hello'), ...end], { betweenEventsMs: 30, heartbeatMs: 10 })
    const text = await (await chat(wanted)).text()
    expect(text).toContain(': ping')
    expect(ending(text)).toEqual({ end: 'done', finished: true, text: 'Hello' })
  })

  it('is stopped when the client leaves, and the stream is charged as one that was left', async () => {
    const signals: AbortSignal[] = []
    const slow: Guard = {
      name: 'slow',
      lookBack: 1,
      text: (_, { signal }) => (signals.push(signal), new Promise<undefined>(() => undefined)),
    }
    const { gateway, key, records } = await streaming([slow], [chunk('a'), chunk('b'), chunk('c'), ...end])
    const client = new AbortController()
    const reply = await gateway.handle(
      localExchange({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
        signal: client.signal,
      }),
    )
    const body = (reply!.body as AsyncIterable<string>)[Symbol.asyncIterator]()
    void body.next()
    await vi.waitFor(() => expect(signals).toHaveLength(1))
    client.abort()
    await body.return!()
    expect(signals[0]!.aborted).toBe(true)
    expect(await records()).toMatchObject([{ outcome: 'client_abort' }])
    await gateway.drain(0)
  })

  it('waits with a shutdown', async () => {
    let goOn = (): void => undefined
    const slow: Guard = { name: 'slow', answer: () => new Promise<void>((resolve) => (goOn = resolve)) }
    const { chat, gateway, records } = await guardedBy([slow])
    const response = chat()
    await vi.waitFor(async () => expect(await records()).toHaveLength(1))
    let isDrained = false
    const drained = gateway.drain().then(() => (isDrained = true))
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(isDrained).toBe(false)
    goOn()
    expect((await response).status).toBe(200)
    await drained
  })
})

describe("an answer in place of the upstream's", () => {
  const cached = {
    ...JSON.parse(completion().body as string),
    choices: [{ index: 0, message: { role: 'assistant', content: 'a secret' }, finish_reason: 'stop' }],
  } as Answered['answer']
  const cache: Guard = {
    name: 'cache',
    request: () => ({ answer: cached }),
    text: () => {
      throw new Error('not for itself')
    },
  }

  it('costs nothing, is named, and is good for streams', async () => {
    const { chat, upstream, records, logs } = await guardedBy([cache])
    const explain = { headers: { 'x-gateway-explain': 'true' } }
    const whole = await chat({}, explain)
    expect(await whole.json()).toEqual(cached)
    const stream = await chat(wanted, explain)
    const events = parseStream(await stream.text())
    expect([joinText(events), events.map((event) => event.type)]).toEqual([
      'a secret',
      ['chunk', 'chunk', 'chunk', 'done'],
    ])
    expect(events[2]).toMatchObject({ chunk: { choices: [], usage } })
    for (const { headers } of [whole, stream])
      expect([headers.get('x-gateway-answered-by'), headers.get('x-gateway-cost')]).toEqual(['cache', '0'])
    expect([upstream.requests, await records()]).toEqual([[], []])
    expect(logs[0]).toMatchObject({ guard: 'cache', task: 'chat', requested_model: 'gpt-4o' })
  })

  it('passes the guards before it, as a whole and as a stream, and is itself not changed', async () => {
    const { chat } = await guardedBy([{ name: 'cover', text: hide }, cache])
    expect(joinText(parseStream(await (await chat(wanted)).text()))).toBe('a ******')
    expect(await (await chat()).json()).toMatchObject({ choices: [{ message: { content: 'a ******' } }] })
    expect(JSON.stringify(cached)).toContain('a secret')
  })

  it('threat 76: is only for callers who may use the model', async () => {
    const { ask, upstream } = await withKey({ models: ['gpt-4o-mini'] }, { guards: [cache] })
    const refused = await ask({ model: 'gpt-4o' })
    expect([refused.status, refused.headers.get('x-gateway-answered-by')]).toEqual([403, null])
    expect((await ask({ model: 'gpt-4o-mini' })).status).toBe(200)
    expect((await ask({ model: 'no-such-model' })).status).toBe(400)
    expect(upstream.requests).toEqual([])
  })

  it('is a 500 where it has not the form of one', async () => {
    const { chat, errors } = await guardedBy([{ name: 'cache', request: () => ({ answer: { text: 'a' } }) }])
    expect((await chat()).status).toBe(500)
    expect(errors[0]).toMatchObject({ cause: { message: 'The guard cache failed' } })
  })
})

describe('the other endpoints', () => {
  const seen: Answered[] = []
  const all: Guard = {
    name: 'all',
    request: ({ task, request }) => {
      if (task === 'embeddings' || task === 'speech')
        return { request: { ...request, input: 'changed' } as typeof request }
      if (task === 'images') return { request: { ...request, prompt: 'changed' } }
      if (task === 'transcription') return { request: { ...request, prompt: 'changed' } }
      return undefined
    },
    text: hide,
    answer: (answered) => void seen.push({ ...answered }),
  }
  const form = (fields: object = {}) => {
    const form = new FormData()
    form.append('file', new Blob(['RIFF']), 'a.wav')
    for (const [name, value] of Object.entries({ model: 'whisper-1', ...fields })) form.append(name, value as string)
    return form
  }
  const requests: [string, string, object | FormData][] = [
    ['embeddings', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'given' }],
    ['images', '/v1/images/generations', { model: 'gpt-image-2', prompt: 'given' }],
    ['speech', '/v1/audio/speech', { model: 'tts-1', input: 'given' }],
    ['transcription', '/v1/audio/transcriptions', form()],
  ]

  it.each(requests)(
    '%s: its requests are seen, changed and refused, and its answers seen',
    async (task, path, body) => {
      seen.length = 0
      const { send, upstream, records } = await testGateway({ guards: [all] })
      const response = await send('POST', path, body)
      expect(response.status).toBe(200)
      const sent = await response.arrayBuffer()
      expect(Buffer.from(upstream.requests.at(-1)!.bytes).toString()).toContain('changed')
      expect(seen).toMatchObject([{ task }])
      const [answered] = seen as [Answered]
      if (answered.task === 'speech') expect(Buffer.from(answered.answer.audio).equals(Buffer.from(sent))).toBe(true)
      else expect(answered.answer).toEqual(JSON.parse(Buffer.from(sent).toString()))
      expect(await records()).toHaveLength(1)

      for (const functions of [
        {
          request: () => {
            throw refuse('No')
          },
        },
        {
          answer: () => {
            throw refuse('No')
          },
        },
      ]) {
        const other = await testGateway({ guards: [{ name: 'no', ...functions }] })
        const refused = await other.send('POST', path, body)
        if (task === 'speech' && 'answer' in functions) await expect(refused.arrayBuffer()).rejects.toThrow()
        else expect(await errorOf(refused)).toMatchObject({ code: 'content_filter' })
        expect([other.upstream.requests.length, (await other.records()).length]).toEqual(
          'answer' in functions ? [1, 1] : [0, 0],
        )
      }

      // An answer that was seen stands in place of the next.
      const { answer: kept } = answered
      const again = await testGateway({ guards: [{ name: 'cache', request: () => ({ answer: kept }) }] })
      const given = await again.send('POST', path, body)
      expect(Buffer.from(await given.arrayBuffer()).equals(Buffer.from(sent))).toBe(true)
      expect([given.headers.get('x-gateway-answered-by'), again.upstream.requests, await again.records()]).toEqual([
        'cache',
        [],
        [],
      ])
    },
  )

  it('changes transcripts in every format', async () => {
    const upstream = () => answer({ text: 'a secret', duration: 1, segments: [{ start: 0, end: 1, text: 'a secret' }] })
    const { send } = await testGateway({ guards: [all], upstream })
    const path = '/v1/audio/transcriptions'
    expect(await (await send('POST', path, form())).json()).toMatchObject({ text: 'a ******' })
    const subtitles = await (await send('POST', path, form({ response_format: 'srt' }))).text()
    expect(subtitles).toBe('1\n00:00:00,000 --> 00:00:01,000\na ******\n\n')
  })
})

describe('guards', () => {
  it('hold for signed-in users without a key', async () => {
    const seen: Asked[] = []
    const { gateway } = await guardedBy([
      { name: 'see', request: (asked) => void seen.push(asked), text: () => 'changed' },
    ])
    const { handle } = gateway.as({ authenticate: () => ({ userId: OWNER, via: 'custom' }) })
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
    const reply = await handle(localExchange({ method: 'POST', path: '/v1/chat/completions', body }))
    expect(seen[0]).toMatchObject({ user_id: OWNER, key_id: '' })
    expect(reply!.body).toContain('changed')
  })

  it('hold for answers that are made of several calls', async () => {
    const { transport } = fakeAnthropic()
    const { anthropic } = await import('@turnpike/providers')
    const router = createRouter({ providers: [anthropic({ apiKey: 'k', transport })] })
    const { chat } = await guardedBy(
      [{ name: 'cover', text: (text) => text.replaceAll(/[A-Za-z]/g, 'x'), answer: () => undefined }],
      { router },
    )
    const text = await (await chat({ model: 'claude-sonnet-4-5', n: 3, stream: true })).text()
    const events = parseStream(text)
    for (const index of [0, 1, 2]) expect(joinText(events, index)).toMatch(/^[x\W]{10,}$/)
    expect(ending(text)).toMatchObject({ end: 'done', finished: true })
  })

  it('that are wrong are errors at construction', async () => {
    const wrong: [unknown, RegExp][] = [
      [{ text: hide }, /guards\[0\]\.name must be/],
      [{ name: 'a b', text: hide }, /guards\[0\]\.name must be/],
      [{ name: 'a' }, /guards\[0\] needs/],
      [{ name: 'a', text: 'b' }, /guards\[0\]\.text must be a function/],
      [{ name: 'a', text: hide, lookback: 3 }, /guards\[0\]\.lookback is not known/],
      [{ name: 'a', text: hide, lookBack: 0 }, /guards\[0\]\.lookBack must be/],
    ]
    for (const [guard, message] of wrong) expect(() => checkGuards([guard as Guard])).toThrow(message)
    const { transport } = fakeOpenAI()
    const router = createRouter({ providers: [openai({ apiKey: 'k', transport })] })
    expect(() => createGateway({ router, kv: undefined as never, guards: [{} as Guard] })).toThrow(TypeError)
  })
})

it('mapTexts redacts prompts', async () => {
  const redact: Guard = {
    name: 'redact',
    request: ({ task, request }) =>
      task === 'chat' ? { request: { ...request, messages: mapTexts(request.messages, hide) } } : undefined,
  }
  const { chat, sent } = await guardedBy([redact])
  await chat({ messages: [{ role: 'user', content: [{ type: 'text', text: 'my secret' }] }] })
  expect(sent()!['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'my ******' }] }])
})
