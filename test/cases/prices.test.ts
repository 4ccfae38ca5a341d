import { expect, it } from 'vitest'
import type { Answer, Family } from './pass.js'
import { pass, passTo, whole } from './pass.js'

const explain = { headers: { 'x-gateway-explain': 'true' } }
const fresh = 'Hi'

/** Answers of each family that tell of this usage. */
const openai = (usage: object) =>
  whole({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 5,
    model: 'gpt-4o',
    choices: [{ index: 0, message: { role: 'assistant', content: fresh, refusal: null }, finish_reason: 'stop' }],
    usage,
  })
const claude = (usage: object) =>
  whole({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: fresh }],
    stop_reason: 'end_turn',
    usage,
  })
const gemini = (usageMetadata: object) =>
  whole({
    candidates: [{ content: { role: 'model', parts: [{ text: fresh }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
    responseId: 'r1',
  })

it('charges to the nano-dollar, and nothing where the price is unknown', async () => {
  const unknown = await pass(
    'openai',
    { model: 'gpt-9-next' },
    openai({ prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }),
    explain,
  )
  expect(unknown.sent.map(({ url, body }) => ({ url, body }))).toEqual([
    {
      url: 'https://api.openai.com/v1/chat/completions',
      body: { model: 'gpt-9-next', messages: [{ role: 'user', content: 'Hi' }] },
    },
  ])
  expect(unknown.status).toBe(200)
  expect(unknown.headers.get('x-gateway-cost')).toBe('0')
  expect(unknown.text).toBe(
    '{"id":"chatcmpl-1","object":"chat.completion","created":0,"model":"gpt-4o","choices":[{"index":0,' +
      '"message":{"role":"assistant","content":"Hi","refusal":null},"finish_reason":"stop"}],' +
      '"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"cost":0,"priced":false}}',
  )
  expect(unknown.records).toMatchObject([{ cost_nano_usd: null, rates: {}, tokens: 11 }])

  const cached = { cache_creation_input_tokens: 2000, cache_read_input_tokens: 10_000 }
  const hour = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 10_000 }
  const minutes = { ephemeral_5m_input_tokens: 10_000, ephemeral_1h_input_tokens: 0 }
  const created = (cache_creation: object) => ({
    input_tokens: 0,
    output_tokens: 0,
    cache_creation_input_tokens: 10_000,
    cache_creation,
  })
  const rows: [family: Family, model: string, answer: Answer, prompt: number, cost: string, nano: number][] = [
    [
      'anthropic',
      'claude-sonnet-4-5',
      claude({ input_tokens: 12, output_tokens: 30, ...cached }),
      12_012,
      '0.010986',
      10_986_000,
    ],
    ['anthropic', 'claude-opus-4-5', claude(created(hour)), 10_000, '0.1', 100_000_000],
    ['anthropic', 'claude-opus-4-5', claude(created(minutes)), 10_000, '0.0625', 62_500_000],
    [
      'openai',
      'gpt-4o',
      openai({
        prompt_tokens: 2006,
        completion_tokens: 300,
        total_tokens: 2306,
        prompt_tokens_details: { cached_tokens: 1920 },
      }),
      2006,
      '0.005615',
      5_615_000,
    ],
    [
      'google',
      'gemini-2.5-flash',
      gemini({ promptTokenCount: 7, candidatesTokenCount: 153, thoughtsTokenCount: 45, totalTokenCount: 205 }),
      7,
      '0.0004971',
      497_100,
    ],
    [
      'google',
      'gemini-2.5-pro',
      gemini({ promptTokenCount: 250_000, candidatesTokenCount: 1000, totalTokenCount: 251_000 }),
      250_000,
      '0.64',
      640_000_000,
    ],
  ]
  for (const [family, model, answer, prompt_tokens, cost, nano] of rows) {
    const { status, headers, raw, records } = await pass(family, { model }, answer, explain)
    expect([status, headers.get('x-gateway-cost')]).toEqual([200, cost])
    const { usage } = JSON.parse(raw) as { usage: object }
    expect(usage).toMatchObject({ prompt_tokens, cost: Number(cost), priced: true })
    expect(records).toMatchObject([{ prompt_tokens, cost_nano_usd: nano }])
  }

  const audio = { headers: { 'content-type': 'audio/mpeg' }, body: 'audio' }
  const speech = await passTo(
    'openai',
    '/v1/audio/speech',
    { model: 'tts-1', input: 'a'.repeat(4096), voice: 'alloy' },
    audio,
  )
  expect(speech.records).toMatchObject([{ units: { characters: 4096 }, cost_nano_usd: 61_440_000 }])
  const form = new FormData()
  form.set('model', 'whisper-1')
  form.set('file', new File(['audio'.repeat(1_000)], 'a.mp3'))
  const heard = whole({ text: 'Hi', duration: 36.71 })
  const written = await passTo('openai', '/v1/audio/transcriptions', form, heard, explain)
  expect(written.headers.get('x-gateway-cost')).toBe('0.0037')
  expect(written.records).toMatchObject([{ units: { seconds: 37 }, cost_nano_usd: 3_700_000 }])
})
