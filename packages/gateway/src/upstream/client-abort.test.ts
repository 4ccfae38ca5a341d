import { fixedPrices, priceTable } from '@turnpike/core'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, chunk, completion, streamed, testGateway, withKey } from '../../../../test/support/gateway.js'

describe('a client that disconnects', () => {
  const later = () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    return { gate, open: () => open() }
  }

  const silent = () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: streamed(new Promise(() => undefined)).body,
  })

  it('before a whole answer: an estimate of what was sent is recorded', async () => {
    const client = new AbortController()
    const { chat, records, logs, signals } = await testGateway({ upstream: silent })
    const asked = chat({}, { signal: client.signal })
    await expect.poll(() => signals.length).toBe(1)
    client.abort()
    await asked
    expect(await records()).toMatchObject([
      { outcome: 'client_abort', accuracy: 'estimated', prompt_tokens: 1, completion_tokens: 0, units: { input: 1 } },
    ])
    // Nobody failed.
    expect(logs).toMatchObject([{ status: 499, outcome: 'client_abort' }])
    expect(logs[0]).not.toHaveProperty('error_type')
  })

  it('before a whole answer under a budget, which is cancelled: the most that it may cost is recorded', async () => {
    const client = new AbortController()
    const { chat, init, records, signals } = await withKey(
      { budget: { usd: 1 } },
      { onClientAbort: 'cancel', upstream: silent },
    )
    const asked = chat({ max_tokens: 70 }, { ...init, signal: client.signal })
    await expect.poll(() => signals.length).toBe(1)
    client.abort()
    await asked
    expect(await records()).toMatchObject([
      { outcome: 'client_abort', accuracy: 'estimated', units: { input: 39, output: 70 }, tokens: 109 },
    ])
  })

  it.each([
    ['with drain', {}, { onClientAbort: 'drain' }],
    ['under a budget', { budget: { usd: 1 } }, {}],
  ] as const)('before a whole answer, %s: it is awaited, and recorded', async (_, limits, option) => {
    const { gate, open } = later()
    const client = new AbortController()
    const { chat, init, records, signals } = await withKey(limits, {
      ...option,
      abandonedMs: 1,
      upstream: () => ({
        ...completion(),
        body: (async function* () {
          await gate
          yield completion().body as string
        })(),
      }),
    })
    const asked = chat({}, { ...init, signal: client.signal })
    await expect.poll(() => signals.length).toBe(1)
    client.abort()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([signals[0]!.aborted, await records()]).toEqual([false, []])
    open()
    await asked
    expect(await records()).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', tokens: 12 }])
  })

  it('before its upstream refuses, under a budget: nothing is recorded, and the budget is whole', async () => {
    const { gate, open } = later()
    const client = new AbortController()
    const { ask, init, chat, records, signals } = await withKey(
      { budget: { usd: 0.01 } },
      {
        upstream: () => ({
          status: 400,
          headers: { 'content-type': 'application/json' },
          body: (async function* () {
            await gate
            yield '{"error":{"message":"The prompt is no good","type":"invalid_request_error"}}'
          })(),
        }),
      },
    )
    // One of them takes most of the budget while it runs.
    const asked = chat({ max_tokens: 900 }, { ...init, signal: client.signal })
    await expect.poll(() => signals.length).toBe(1)
    client.abort()
    open()
    await asked
    expect(await records()).toEqual([])
    expect((await ask({ max_tokens: 900 })).status).toBe(400)
  })

  it('before its upstream was called: nothing is sent, and nothing recorded', async () => {
    const client = new AbortController()
    const { chat, records, signals, gateway } = await testGateway({ holds: true })
    const { hold } = gateway.ledger
    gateway.ledger.hold = (...given) => (client.abort(), hold(...given))
    await chat({}, { signal: client.signal })
    expect([signals, await records()]).toEqual([[], []])
  })

  it('from a stream under a budget: the report of the upstream is recorded', async () => {
    const { gate, open } = later()
    const usage = { prompt_tokens: 9, completion_tokens: 70, total_tokens: 79 }
    const { ask, records, signals, gateway } = await withKey(
      { budget: { usd: 1 } },
      {
        upstream: () =>
          streamed(chunk('Hello'), gate, chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]'),
      },
    )
    const reader = (await ask({ stream: true })).body!.getReader()
    await reader.read()
    const left = reader.cancel()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([signals[0]!.aborted, await records()]).toEqual([false, []])
    open()
    await left
    await gateway.drain()
    expect(await records()).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', tokens: 79 }])
  })

  it('from a stream with drain: the report of the upstream is recorded', async () => {
    const { gate, open } = later()
    const tokens = { prompt_tokens: 9, completion_tokens: 70 }
    const usage = { ...tokens, total_tokens: 79 }
    const { chat, records, signals, gateway } = await testGateway({
      onClientAbort: 'drain',
      upstream: () =>
        streamed(chunk('Hello'), gate, chunk(' world', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]'),
    })
    const reader = (await chat({ stream: true })).body!.getReader()
    await reader.read()
    const left = reader.cancel()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([signals[0]!.aborted, await records()]).toEqual([false, []])
    open()
    await left
    await gateway.drain()
    expect(await records()).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', ...tokens }])
  })

  it('threat 208: from a stream before its first event, under a budget: it is awaited, and costs what it reports', async () => {
    const { gate, open } = later()
    const client = new AbortController()
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const { chat, init, records, signals } = await withKey(
      { budget: { usd: 1 } },
      {
        abandonedMs: 500,
        upstream: () => streamed(gate, chunk('Hello', 'stop'), chunk('', null, { choices: [], usage }), '[DONE]'),
      },
    )
    const asked = chat({ stream: true }, { ...init, signal: client.signal })
    await expect.poll(() => signals.length).toBe(1)
    client.abort()
    await new Promise((resolve) => setTimeout(resolve, 700))
    expect([signals[0]!.aborted, await records()]).toEqual([false, []])
    open()
    await asked
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', tokens: 12 }])
  })

  it('threat 208: so is the next provider, where the first one failed', async () => {
    const { gate, open } = later()
    const client = new AbortController()
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const first = fakeOpenAI({ override: () => (client.abort(), answer({}, 503)) })
    const second = fakeOpenAI({
      override: () => streamed(gate, chunk('Hello', 'stop'), chunk('', null, { choices: [], usage }), '[DONE]'),
    })
    const router = createRouter({
      providers: [first, second].map(({ transport }, i) => openai({ id: `p${i}`, apiKey: 'sk', transport })),
      groups: { any: ['p0/gpt-4o', 'p1/gpt-4o'] },
      prices: fixedPrices(priceTable({ 'p0/gpt-4o': { input: 1, output: 1 }, 'p1/gpt-4o': { input: 1, output: 1 } })),
    })
    const { chat, init, records } = await withKey({ budget: { usd: 1 } }, { abandonedMs: 200, router })
    const asked = chat({ model: 'any', stream: true }, { ...init, signal: client.signal })
    await expect.poll(() => second.requests.length).toBe(1)
    await new Promise((resolve) => setTimeout(resolve, 400))
    expect(await records()).toEqual([])
    open()
    await asked
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', tokens: 12 }])
  })

  it('from a stream with drain: the wait is limited', async () => {
    const { chat, records, signals } = await testGateway({
      onClientAbort: 'drain',
      abandonedMs: 30,
      upstream: () => streamed(chunk('Hello'), new Promise(() => undefined)),
    })
    const client = new AbortController()
    const reader = (await chat({ stream: true }, { signal: client.signal })).body!.getReader()
    await reader.read()
    client.abort()
    await reader.cancel().catch(() => undefined)
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated', completion_tokens: 2 }])
    expect(signals[0]!.aborted).toBe(true)
  })
})
