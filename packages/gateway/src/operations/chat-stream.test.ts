import type { UsageLedger, UsageRecord } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { answer, chunk, errorOf, OWNER, streamed, testGateway } from '../../../../test/support/gateway.js'
import { joinText, parseStream } from '../../../../test/support/sse.js'
import { watchTimers } from '../../../../test/support/timers.js'

const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
const usageChunk = { ...chunk(''), choices: [], usage }
const wanted = { stream: true, stream_options: { include_usage: true } }

/** A gateway whose upstream streams these pieces. */
const streaming = (pieces: Parameters<typeof streamed>, options: TestOptions = {}) =>
  testGateway({ upstream: () => streamed(...pieces), ...options })

/** A promise that is settled from outside. */
function gate() {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { open, passed }
}

/** Stops the clock, past its beginning. @returns what expects that no timer is left */
function frozen(): () => Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
  vi.advanceTimersByTime(1_000)
  return watchTimers()
}

afterEach(() => vi.useRealTimers())

describe('a streamed completion', () => {
  it('has exactly the bytes of OpenAI, without usage by default', async () => {
    const { chat } = await streaming([chunk('Hel'), chunk('lo'), chunk('', 'stop'), usageChunk, '[DONE]'])
    const response = await chat({ stream: true })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(isUuid(response.headers.get('x-request-id')!)).toBe(true)
    const head = '"id":"chatcmpl-1","created":5,"model":"gpt-4o-2024","object":"chat.completion.chunk"'
    const event = (delta: string, finish: string) =>
      `data: {${head},"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`
    expect(await response.text()).toBe(
      event('{"role":"assistant","content":"Hel"}', 'null') +
        event('{"content":"lo"}', 'null') +
        event('{"content":""}', 'null') +
        event('{}', '"stop"') +
        'data: [DONE]\n\n',
    )
  })

  it('has usage null, and the usage at the end, with include_usage', async () => {
    const { chat, sent } = await streaming([chunk('Hello'), chunk('', 'stop'), usageChunk, '[DONE]'])
    const events = parseStream(await (await chat(wanted)).text())
    expect(events.map((event) => (event.type === 'chunk' ? event.chunk.usage : event.type))).toEqual([
      null,
      null,
      null,
      usage,
      'done',
    ])
    expect(events.at(-2)).toMatchObject({ chunk: { id: 'chatcmpl-1', choices: [] } })
    expect(sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })

  it('has an estimated usage where the upstream reports none', async () => {
    const { chat, records } = await streaming([chunk('Hello'), chunk('', 'stop'), '[DONE]'])
    const events = parseStream(await (await chat(wanted)).text())
    const estimated = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
    expect(events.at(-2)).toMatchObject({ chunk: { id: 'chatcmpl-1', choices: [], usage: estimated } })
    expect(await records()).toMatchObject([{ prompt_tokens: 1, completion_tokens: 2, accuracy: 'estimated' }])
    expect(await (await chat({ stream: true })).text()).not.toContain('usage')
  })

  it('is recorded, as reported', async () => {
    const { chat, records, logs } = await streaming([chunk('Hello', 'stop'), usageChunk, '[DONE]'])
    const session = '01900000-0000-7000-8000-0000000000ff'
    const response = await chat({ stream: true }, { headers: { 'x-session-id': session } })
    await response.text()
    expect(await records()).toMatchObject([
      {
        request_id: response.headers.get('x-request-id'),
        user_id: OWNER,
        session_id: session,
        tokens: 12,
        accuracy: 'reported',
        outcome: 'complete',
      },
    ])
    expect(logs).toMatchObject([{ stream: true, outcome: 'complete', status: 200, prompt_tokens: 9 }])
  })

  it('is complete without [DONE] of the upstream, with events split across reads', async () => {
    const { chat } = await testGateway()
    const events = parseStream(await (await chat({ ...wanted, n: 2 })).text())
    for (const choice of [0, 1]) expect(joinText(events, choice)).toBe('This is a simulated answer. You said: Hi')
    expect(events.at(-1)).toEqual({ type: 'done' })
    const silent = await streaming([chunk('Hello', 'stop')])
    expect(parseStream(await (await silent.chat({ stream: true })).text()).at(-1)).toEqual({ type: 'done' })
  })

  it('sends nothing before the first event, and its head before the second', async () => {
    const [first, second] = [gate(), gate()]
    const { chat, upstream } = await streaming([first.passed, chunk('a'), second.passed, chunk('b', 'stop')])
    let answered = false
    const pending = chat({ stream: true }).then((response) => ((answered = true), response))
    while (upstream.active === 0) await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(answered).toBe(false)
    first.open()
    const response = await pending
    expect(isUuid(response.headers.get('x-request-id')!)).toBe(true)
    second.open()
    expect(parseStream(await response.text()).at(-1)).toEqual({ type: 'done' })
  })

  it.each([
    ['a text', { content: 'Hello' }],
    ['a thought', { reasoning_content: 'They greet' }],
    ['a call', { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }] }],
  ])('has its first token with %s, and not with a role alone', async (_, delta) => {
    const [role, said] = [gate(), gate()]
    const first = {
      ...chunk(''),
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
    }
    const next = { ...chunk(''), choices: [{ index: 0, delta, finish_reason: 'stop' }] }
    const { chat, records } = await streaming([role.passed, first, said.passed, next, '[DONE]'])
    vi.useFakeTimers({ toFake: ['performance'] })
    const pending = chat({ stream: true })
    role.open()
    const response = await pending
    vi.advanceTimersByTime(1_200)
    said.open()
    await response.text()
    vi.useRealTimers()
    expect(await records()).toMatchObject([{ first_token_ms: 1_200 }])
  })

  it('that says nothing has none', async () => {
    const { chat, records } = await streaming([chunk('', 'stop'), '[DONE]'])
    await (await chat({ stream: true })).text()
    expect(await records()).toMatchObject([{ first_token_ms: null }])
  })

  it('sends [DONE] after its record is stored', async () => {
    const stored = gate()
    const records: UsageRecord[] = []
    const append = async (record: UsageRecord) => {
      records.push(record)
      await stored.passed
    }
    const ledger = { ready: async () => undefined, append } as unknown as UsageLedger
    const { chat } = await streaming([chunk('Hello', 'stop'), '[DONE]'], { ledger })
    const response = await chat({ stream: true })
    let text = ''
    const reading = (async () => {
      for await (const piece of response.body!) text += new TextDecoder().decode(piece as Uint8Array)
    })()
    while (records.length === 0) await new Promise(setImmediate)
    await new Promise(setImmediate)
    expect(text).toContain('Hello')
    expect(text).not.toContain('[DONE]')
    stored.open()
    await reading
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  it('sends a heartbeat while the upstream is silent', async () => {
    frozen()
    const more = gate()
    const { chat } = await streaming([chunk('a'), more.passed, chunk('b', 'stop')], { heartbeatMs: 1_000 })
    const response = await chat({ stream: true })
    const reader = response.body!.getReader()
    const read = async () => new TextDecoder().decode((await reader.read()).value)
    expect(await read()).toContain('"a"')
    const silent = read()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await silent).toBe(': ping\n\n')
    more.open()
    expect(await read()).toContain('"b"')
    await reader.cancel()
  })
})

describe('a stream that fails', () => {
  const error = { error: { message: 'Overloaded, see https://internal.example', code: 503 } }

  it.each<[what: string, pieces: Parameters<typeof streamed>, code: string, message: string, outcome: string]>([
    ['an error event', [chunk('Hello'), error], 'upstream_error', 'The upstream provider failed', 'upstream_error'],
    [
      'an end without a finish',
      [chunk('Hello'), '[DONE]'],
      'upstream_truncated',
      'The upstream provider ended its answer before it was whole',
      'truncated',
    ],
    [
      'a connection that breaks',
      [chunk('Hello'), new Error('ECONNRESET')],
      'upstream_truncated',
      'The upstream provider ended its answer before it was whole',
      'truncated',
    ],
    [
      'nonsense',
      [chunk('Hello'), '<html>'],
      'upstream_error',
      'The upstream provider sent an answer that makes no sense',
      'upstream_error',
    ],
  ])('by %s ends with an error event, no [DONE], and a record', async (_, pieces, code, message, outcome) => {
    const { chat, records, errors, upstream } = await streaming(pieces)
    const response = await chat(wanted)
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(
      text.endsWith(`\n\ndata: {"error":{"type":"upstream_error","message":"${message}","code":"${code}"}}\n\n`),
    ).toBe(true)
    const events = parseStream(text)
    expect(joinText(events)).toBe('Hello')
    expect(events.at(-1)).toEqual({ type: 'error', error: { type: 'upstream_error', message, code } })
    expect(await records()).toMatchObject([{ prompt_tokens: 1, completion_tokens: 2, accuracy: 'estimated', outcome }])
    expect(errors).toHaveLength(1)
    expect(upstream.active).toBe(0)
  })

  it('records what the upstream reported so far as partial', async () => {
    const { chat, records } = await streaming([chunk('Hello', null, { usage }), new Error('ECONNRESET')])
    await (await chat({ stream: true })).text()
    expect(await records()).toMatchObject([{ tokens: 12, accuracy: 'partial', outcome: 'truncated' }])
  })

  it('before its first event is an HTTP error', async () => {
    const { chat, records } = await streaming([error])
    const response = await chat({ stream: true })
    expect([response.status, response.headers.get('content-type')]).toEqual([502, 'application/json; charset=utf-8'])
    expect(await errorOf(response)).toMatchObject({ code: 'upstream_error' })
    expect(await records()).toEqual([])
    const whole = await testGateway({ upstream: () => answer({ choices: [] }) })
    expect((await whole.chat({ stream: true })).status).toBe(502)
  })

  it('because its record cannot be stored ends with an error event', async () => {
    const full = new ApiError(500, 'server_error', 'Full', { code: 'ledger_unavailable' })
    const ledger = { ready: async () => undefined, append: () => Promise.reject(full) } as unknown as UsageLedger
    const { chat } = await streaming([chunk('Hello', 'stop'), '[DONE]'], { ledger })
    const events = parseStream(await (await chat({ stream: true })).text())
    expect(events.at(-1)).toEqual({
      type: 'error',
      error: { type: 'server_error', message: 'Full', code: 'ledger_unavailable' },
    })
  })

  it('because of a time-out ends with an error event', async () => {
    const expectNoTimers = frozen()
    const { chat, records, upstream } = await streaming([chunk('Hello'), new Promise(() => undefined)], {
      betweenEventsMs: 5_000,
    })
    const text = (await chat({ stream: true })).text()
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    await vi.advanceTimersByTimeAsync(5_101)
    const message = 'The upstream provider did not answer in time'
    expect(parseStream(await text).at(-1)).toEqual({
      type: 'error',
      error: { type: 'upstream_error', message, code: 'upstream_timeout' },
    })
    expect(await records()).toMatchObject([{ completion_tokens: 2, outcome: 'idle_timeout' }])
    expect(upstream.active).toBe(0)
    await vi.advanceTimersByTimeAsync(200)
    await expectNoTimers()
  })
})
