import type { ChatCompletionRequest, Target, Units } from '@turnpike/core'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { describe, expect, it } from 'vitest'
import { requestTokens } from '../../../../test/support/request-tokens.js'
import { needOf } from './chat-need.js'

const unused = () => Promise.reject(new Error('No call is made'))
const options = { apiKey: 'k', transport: unused }
const models = [{ id: 'gemini/gemini-2.5-flash', contextWindow: 1_048_576 }, 'openai/gpt-4o']
const litellm = openai({ ...options, id: 'litellm', baseURL: 'https://litellm.example/v1', models })
const router = createRouter({ providers: [openai(options), anthropic(options), google(options), litellm] })

const hi = { role: 'user' as const, content: 'Hi' }
/** The most that a request is billed, and its text alone. */
async function most(model: string, fields: object = {}): Promise<Units & { text: number }> {
  const request = { model, messages: [hi], ...fields } as ChatCompletionRequest
  const need = needOf(request)
  const { targets } = await router.candidates(need)
  return { ...need.most(targets[0] as Target), text: requestTokens(request, 2) }
}

describe('the most that a chat may be billed', () => {
  it.each<[model: string, fields: object, output: number]>([
    ['gpt-4o', {}, 16_384],
    ['gpt-4o', { max_tokens: 7 }, 7],
    ['gpt-4o', { max_tokens: 7, max_completion_tokens: 9, n: 3 }, 27],
    ['gpt-5', { max_tokens: 7 }, 7],
    ['gpt-unheard-of', {}, 128_000],
    ['claude-sonnet-4-5', {}, 8_192],
    ['claude-sonnet-4-5', { stream: true }, 64_000],
    ['claude-sonnet-4-5', { max_tokens: 100, reasoning_effort: 'high' }, 16_484],
    ['claude-sonnet-4-5', { max_tokens: 100, reasoning_effort: 'max', n: 2 }, 65_736],
    ['claude-sonnet-4-5', { max_tokens: 1e6 }, 64_000],
    ['claude-opus-4-8', { max_tokens: 100, reasoning_effort: 'high' }, 100],
    ['gemini-2.5-flash', {}, 65_536],
    ['gemini-2.5-flash', { max_tokens: 100, reasoning_effort: 'high', n: 2 }, 200],
  ])('of %s with %j has the output that the upstream may make', async (model, fields, output) =>
    expect((await most(model, fields)).output).toBe(output),
  )

  it('has the prompt once for each call', async () => {
    const { input, text } = await most('claude-sonnet-4-5', { n: 4 })
    expect(input).toBe(4 * text)
    const one = await most('gpt-4o', { n: 4 })
    expect(one.input).toBe(one.text)
  })

  it('has the dearest class of tokens that may apply', async () => {
    const cached = {
      messages: [{ ...hi, content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }],
    }
    const { text, ...units } = await most('claude-sonnet-4-5', { ...cached, max_tokens: 5 })
    expect(units).toEqual({ cache_write_1h: text, output: 5 })
    const tool = { type: 'function', function: { name: 'f' }, cache_control: { type: 'ephemeral' } }
    expect(await most('claude-sonnet-4-5', { tools: [tool] })).toHaveProperty('cache_write_1h')
    expect(await most('gpt-4o', cached)).toHaveProperty('input')
    // Written to the cache unasked.
    expect(await most('gpt-6.1-sol')).toHaveProperty('cache_write')
    expect(await most('gpt-5.5')).toHaveProperty('input')
    expect(await most('gemini-2.5-flash-image', { max_tokens: 5 })).toMatchObject({ output_image: 5 })
  })

  it.each<[what: string, model: string, part: object, expected: Units]>([
    [
      'a picture',
      'gpt-4o',
      { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(9_000)}` } },
      { input: 6_000 },
    ],
    [
      'a small picture that counts as large',
      'gpt-4o-mini',
      { type: 'image_url', image_url: { url: 'https://a.example/a.png' } },
      { input: 48_000 },
    ],
    [
      'a document as a picture',
      'claude-sonnet-4-5',
      { type: 'image_url', image_url: { url: 'data:application/pdf;base64,AA==' } },
      { input: 200_000 },
    ],
    [
      'a text as a document',
      'claude-sonnet-4-5',
      { type: 'file', file: { file_data: 'data:text/plain;base64,AA==' } },
      { input: 200_000 },
    ],
    [
      'a recording',
      'gemini-2.5-flash',
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'mp3' } },
      { input_audio: 1_048_576 },
    ],
    ...[
      { type: 'file', file: { file_data: 'data:audio/mpeg;base64,AA==' } },
      { type: 'image_url', image_url: { url: 'DATA:Audio/mpeg;base64,AA==' } },
      { type: 'document_url', document_url: { url: 'data:audio/wav;base64,AA==' } },
      { type: 'file', file: { file_id: 'files/recording' } },
      { type: 'image_url', image_url: { url: 'https://generativelanguage.googleapis.com/v1beta/files/x' } },
    ].map((part): [string, string, object, Record<string, number>] => [
      `a recording in a part of another type: ${JSON.stringify(part)}`,
      'gemini-2.5-flash',
      part,
      { input_audio: 1_048_576 },
    ]),
    [
      'a picture that a gateway sends to a model which sees no more',
      'litellm/openai/gpt-4o',
      { type: 'image_url', image_url: { url: 'https://a.example/a.mp4' } },
      { input: 6_000 },
    ],
    [
      'what a gateway sends to a model that watches videos',
      'litellm/gemini/gemini-2.5-flash',
      { type: 'image_url', image_url: { url: 'https://a.example/a' } },
      { input: 1_048_576 },
    ],
  ])('has what %s may have', async (_, model, part, expected) => {
    const units: Record<string, number> = { ...(await most(model, { messages: [{ ...hi, content: [part] }] })) }
    for (const [name, tokens] of Object.entries(expected)) {
      expect(units[name]).toBeGreaterThanOrEqual(tokens)
      expect(units[name]).toBeLessThan(tokens + 100)
    }
  })
})

it('threat 205: documents that OpenRouter reads for a model have no price, those that the model reads have that of its tokens', async () => {
  const models = [
    'meta-llama/llama-3.3-70b-instruct',
    'anthropic/claude-sonnet-4.5',
    'google/gemini-2.5-flash',
    'openai/gpt-5',
  ]
  const at = createRouter({
    providers: [
      openai({ ...options, id: 'openrouter', baseURL: 'https://openrouter.ai/api/v1', models }),
      openai({ ...options, id: 'other', baseURL: 'https://other.example/v1', models }),
    ],
  })
  const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' } }
  const told: unknown[] = []
  for (const model of [...models.map((model) => `openrouter/${model}`), `other/${models[0]}`])
    for (const content of [[file], 'Hi']) {
      const need = needOf({ model, messages: [{ role: 'user', content }] } as unknown as ChatCompletionRequest)
      told.push(need.unpriced?.((await at.candidates(need)).targets[0] as Target))
    }
  expect(told).toEqual(['reading documents for this model', ...Array(9).fill(undefined)])
})

it.each(['image', 'IMAGE', 'ımage', 'audio', 'Audıo'])(
  'pictures and sound that are asked for as %s have a price, or are refused',
  async (word) => {
    const request = {
      model: 'gemini-2.5-flash',
      messages: [hi],
      modalities: [word],
    } as unknown as ChatCompletionRequest
    const need = needOf(request)
    const { targets } = await router.candidates(need)
    expect(need.unpriced?.(targets[0] as Target)).toMatch(/^(images|audio) with this model$/)
  },
)
