import { localExchange } from '@turnpike/http'
import { describe, expect, it, vi } from 'vitest'
import { chunk, completion, COST, errorOf, streamed, withKey } from '../../../../test/support/gateway.js'
import { end, ending, guardedBy, hide, streaming, usage, wanted } from '../../../../test/support/guards.js'
import { joinText, parseStream } from '../../../../test/support/sse.js'
import type { Answered, Guard } from './guards.js'
import { refuse } from './guards.js'

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
    const slow: Guard = {
      name: 'slow',
      text: (text) => new Promise((resolve) => setTimeout(() => resolve(text), 1_500)),
    }
    const { chat, signals } = await streaming([slow], [chunk('Hello'), ...end], {
      betweenEventsMs: 1_000,
      heartbeatMs: 10,
    })
    const text = await (await chat(wanted)).text()
    expect(text).toContain(': ping')
    expect(ending(text)).toEqual({ end: 'done', finished: true, text: 'Hello' })
    expect(signals[0]!.aborted).toBe(false)
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
