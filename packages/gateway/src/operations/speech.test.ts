import type { UsageLedger, UsageRecord } from '@turnpike/core'
import { ApiError, fixedPrices, priceTable } from '@turnpike/core'
import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { familiesGateway, generated } from '../../../../test/support/families.js'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { testGateway } from '../../../../test/support/gateway.js'

const path = '/v1/audio/speech'
const request = { model: 'tts-1', input: 'Hi' }

/** Audio in these pieces; an error breaks it off, a promise is waited for. */
const spoken = (...pieces: (string | Error | Promise<unknown>)[]): FakeAnswer => ({
  status: 200,
  headers: { 'content-type': 'audio/mpeg' },
  body: (async function* () {
    for (const piece of pieces)
      if (piece instanceof Error) throw piece
      else if (piece instanceof Promise) await piece
      else yield piece
  })(),
})

const speaking = (pieces: Parameters<typeof spoken>, options: TestOptions = {}) =>
  testGateway({ upstream: () => spoken(...pieces), ...options })

const forever = new Promise<never>(() => undefined)

/** A ledger whose appends wait for `settle`. */
function heldLedger() {
  const records: UsageRecord[] = []
  let settle!: { resolve(): void; reject(error: unknown): void }
  const settled = new Promise<void>((resolve, reject) => (settle = { resolve, reject }))
  const ledger = {
    ready: async () => undefined,
    append(record: UsageRecord) {
      records.push(record)
      return settled
    },
  } as unknown as UsageLedger
  return { ledger, records, settle }
}

const text = (value: Uint8Array | undefined) => new TextDecoder().decode(value)

describe('the record of speech', () => {
  it('counts characters by code point', async () => {
    const { send, records } = await testGateway()
    await (await send('POST', path, { ...request, input: 'Hi 😀' })).arrayBuffer()
    await (await send('POST', path, { ...request, model: 'tts-1-hd' })).arrayBuffer()
    expect(await records()).toMatchObject([
      { model: 'tts-1-hd', units: { characters: 2 }, rates: { characters: 30 }, cost_nano_usd: 60_000 },
      {
        task: 'speech',
        model: 'tts-1',
        provider: 'openai',
        // For credits: a quarter of a token to read each of 7 bytes, and five thirds to speak each of 4 characters.
        prompt_tokens: 2,
        completion_tokens: 7,
        accuracy: 'reported',
        units: { characters: 4 },
        rates: { characters: 15 },
        // 4 × $15 for a million
        cost_nano_usd: 60_000,
        outcome: 'complete',
      },
    ])
  })

  it('has the tokens of a model that is billed by tokens', async () => {
    const counted = {
      promptTokenCount: 2,
      candidatesTokenCount: 25,
      totalTokenCount: 27,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
    }
    const model = 'gemini-2.5-flash-preview-tts'
    const audio = generated({ inlineData: { mimeType: 'audio/L16;rate=24000', data: 'AQD//w==' } }, counted)
    const { send, records } = await familiesGateway({ speechModels: [model], answers: { google: () => audio } })
    const response = await send('POST', path, { ...request, model, response_format: 'wav' })
    expect([response.headers.get('content-type'), (await response.arrayBuffer()).byteLength]).toEqual(['audio/wav', 48])
    expect(await records()).toMatchObject([
      {
        units: { characters: 2, input: 2, output_audio: 25 },
        rates: { input: 0.5, output: 10, output_audio: 10 },
        // 2 × $0.50 and 25 × $10 for a million
        cost_nano_usd: 251_000,
      },
    ])
  })
})

describe('speech by a model that is billed by tokens, from an upstream that reports none', () => {
  const model = 'gpt-4o-mini-tts'
  const prices = fixedPrices(priceTable({ [`openai/${model}`]: { input: 0.6, output: 12 } }))

  it('is charged what it was expected to be, with its instructions', async () => {
    const { transport } = fakeOpenAI({ override: () => spoken('audio') })
    const router = createRouter({ providers: [openai({ apiKey: 'k', transport })], prices })
    const { send, records } = await testGateway({ router, speechModels: [model] })
    const input = 'x'.repeat(300)
    await (await send('POST', path, { model, input, instructions: 'y'.repeat(500) })).arrayBuffer()
    expect(await records()).toMatchObject([
      // 800 characters are 200 tokens, and 300 of them 20 s of 25 tokens: 200 × $0.60 and 500 × $12 for a million.
      { accuracy: 'estimated', units: { characters: 300, input: 200, output_audio: 500 }, cost_nano_usd: 6_120_000 },
    ])
  })

  it('is charged what was spoken where that is more', async () => {
    const { transport } = fakeOpenAI({ override: () => spoken('x', 'x'.repeat(399_999)) })
    const router = createRouter({ providers: [openai({ apiKey: 'k', transport })], prices })
    const { send, records } = await testGateway({ router, speechModels: [model] })
    const body = { model, input: 'Count.', instructions: 'To ten thousand', speed: 0.25 }
    await (await send('POST', path, body)).arrayBuffer()
    // 128 kbit/s, where nothing tells: 25 s of 25 tokens.
    expect(await records()).toMatchObject([{ accuracy: 'estimated', units: { characters: 6, output_audio: 625 } }])
  })

  it('threat 43: is read to its end without its client where the caller has a limit, and charged what was spoken', async () => {
    let goOn!: (value?: unknown) => void
    const wait = new Promise((resolve) => (goOn = resolve))
    const { transport } = fakeOpenAI({ override: () => spoken('x', wait, 'x'.repeat(399_999)) })
    const router = createRouter({ providers: [openai({ apiKey: 'k', transport })], prices })
    const { send, records, gateway } = await testGateway({ router, speechModels: [model], onClientAbort: 'drain' })
    const reader = (
      await send('POST', path, { model, input: 'Count.', instructions: 'To ten thousand' })
    ).body!.getReader()
    await reader.read()
    const left = reader.cancel()
    goOn()
    await left
    await expect
      .poll(records)
      .toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated', units: { characters: 6, output_audio: 625 } }])
    await gateway.drain(50)
  })
})

describe('the voice', () => {
  it('defaults to the first one', async () => {
    for (const [options, voice] of [
      [{}, 'alloy'],
      [{ voices: ['nova', 'alloy'] }, 'nova'],
    ] as const) {
      const { send, sent } = await testGateway(options as TestOptions)
      for (const fields of [{}, { voice: null }]) {
        await send('POST', path, { ...request, ...fields, speed: null, response_format: null })
        expect(sent()).toEqual({ ...request, voice })
      }
    }
  })

  it.each(['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'])('can be %s', async (voice) => {
    const { send } = await testGateway()
    expect((await send('POST', path, { ...request, voice })).status).toBe(200)
  })
})

describe('speech', () => {
  it('is recorded before its end', async () => {
    const { ledger, records, settle } = heldLedger()
    const { send } = await speaking(['one', 'two'], { ledger })
    const reader = (await send('POST', path, request)).body!.getReader()
    expect([text((await reader.read()).value), text((await reader.read()).value)]).toEqual(['one', 'two'])
    expect(records).toEqual([])
    const end = reader.read()
    await expect.poll(() => records).toMatchObject([{ outcome: 'complete' }])
    expect(await Promise.race([end, Promise.resolve('held back')])).toBe('held back')
    settle.resolve()
    expect(await end).toEqual({ done: true, value: undefined })
  })

  it('breaks if it cannot be recorded', async () => {
    const { ledger, settle } = heldLedger()
    const { send, errors } = await speaking(['one'], { ledger })
    settle.reject(new ApiError(500, 'server_error', 'Full', { code: 'ledger_unavailable' }))
    const response = await send('POST', path, request)
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow('Full')
    expect(errors).toMatchObject([{ code: 'ledger_unavailable' }])
  })

  it('is streamed', async () => {
    let go!: (value: unknown) => void
    const wait = new Promise((resolve) => (go = resolve))
    const { send } = await speaking(['one', wait, 'two'])
    const reader = (await send('POST', path, request)).body!.getReader()
    expect(text((await reader.read()).value)).toBe('one')
    go(undefined)
    expect(text((await reader.read()).value)).toBe('two')
  })

  it.each([0, 1])(
    'after %i chunks: a client disconnect aborts the upstream within a second, and is recorded',
    async (count) => {
      const { send, records, signals, upstream, gateway } = await speaking(['one', forever])
      const reader = (await send('POST', path, request)).body!.getReader()
      for (let i = 0; i < count; i++) await reader.read()
      await reader.cancel()
      await expect.poll(() => signals.map(({ aborted }) => aborted)).toEqual([true])
      await expect.poll(() => upstream.active).toBe(0)
      await expect
        .poll(records)
        .toMatchObject([{ outcome: 'client_abort', units: { characters: 2 }, cost_nano_usd: 30_000 }])
      await gateway.drain(50)
    },
  )

  it('before a chunk: a client disconnect aborts the upstream, and is recorded', async () => {
    const { send, records, signals, gateway } = await speaking(['one', forever])
    const reader = (await send('POST', path, request)).body!.getReader()
    await reader.read()
    const pending = reader.read()
    await reader.cancel()
    await pending
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort' }])
    await gateway.drain(50)
  })

  it('that the upstream cuts breaks, and is recorded', async () => {
    const { send, records, errors } = await speaking(['one', new Error('ECONNRESET')])
    const response = await send('POST', path, request)
    await expect(response.arrayBuffer()).rejects.toThrow()
    expect(await records()).toMatchObject([{ outcome: 'truncated', cost_nano_usd: 30_000 }])
    expect(errors).toMatchObject([{ failure: { kind: 'truncated' } }])
  })

  it('breaks at a time-out, and is recorded', async () => {
    const { send, records, errors } = await speaking(['one', forever], { betweenEventsMs: 20 })
    const response = await send('POST', path, request)
    await expect(response.arrayBuffer()).rejects.toThrow()
    expect(await records()).toMatchObject([{ outcome: 'idle_timeout' }])
    expect(errors).toMatchObject([{ failure: { kind: 'timeout' } }])
  })

  it('breaks at a shutdown, and is recorded', async () => {
    const { send, records, gateway } = await speaking(['one', forever])
    const whole = (await send('POST', path, request)).arrayBuffer()
    whole.catch(() => undefined)
    await gateway.drain(20)
    await expect(whole).rejects.toThrow()
    expect(await records()).toMatchObject([{ outcome: 'server_shutdown' }])
  })

  it('is logged after it has ended', async () => {
    const { send, logs } = await speaking(['one'])
    const response = await send('POST', path, request)
    expect(logs).toEqual([])
    await response.arrayBuffer()
    expect(logs).toMatchObject([{ route: path, status: 200, provider: 'openai', model: 'tts-1', outcome: 'complete' }])
  })
})
