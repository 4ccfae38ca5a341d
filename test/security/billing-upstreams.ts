import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { replied } from '../endpoints/endpoints.js'

export type Family = 'openai' | 'anthropic' | 'google'

/** A model of each family, and its prices in dollars for a million tokens. */
export const families: Record<Family, { model: string; input: number; output: number }> = {
  openai: { model: 'gpt-4o', input: 2.5, output: 10 },
  anthropic: { model: 'claude-sonnet-4-5', input: 3, output: 15 },
  google: { model: 'gemini-2.5-flash', input: 0.3, output: 2.5 },
}

export const familyOf = ({ path }: FakeRequest): Family =>
  path.includes('messages')
    ? 'anthropic'
    : path.includes('generateContent') || path.includes('streamGenerate')
      ? 'google'
      : 'openai'

/** Tokens that a vendor finds in a request: a token for three bytes, wherever the text is. */
export function tokensOf(value: unknown): number {
  if (typeof value === 'string') return Math.ceil(Buffer.byteLength(value) / 3)
  if (typeof value !== 'object' || value === null) return 0
  const names = Array.isArray(value) ? 0 : tokensOf(Object.keys(value).join(''))
  return names + Object.values(value).reduce((sum: number, inner) => sum + tokensOf(inner), 0)
}

/** What a vendor bills for a request, in dollars. */
export const priceOf = (family: Family, prompt: number, output: number): number =>
  (prompt * families[family].input + output * families[family].output) / 1e6

const messageOf = (text: string) => ({ role: 'assistant', content: text })

/** A whole answer of a family. */
export function wholeAnswer(family: Family, text: string, prompt: number, output: number): object {
  if (family === 'openai')
    return {
      id: 'chatcmpl-1',
      created: 5,
      model: families.openai.model,
      choices: [{ index: 0, message: messageOf(text), finish_reason: 'stop' }],
      usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
    }
  if (family === 'anthropic')
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: prompt, output_tokens: output },
    }
  return {
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: output },
  }
}

/** The events of a stream of a family before its text has ended, and those of its end, which report the rest. */
function eventsOf(family: Family, text: string, prompt: number, output: number): [first: object[], last: object[]] {
  if (family === 'openai') {
    const chunk = (choices: object[], more = {}) => ({
      id: 'chatcmpl-1',
      created: 5,
      model: 'gpt-4o',
      choices,
      ...more,
    })
    const usage = { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output }
    return [
      [chunk([{ index: 0, delta: messageOf(text), finish_reason: null }])],
      [chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]), chunk([], { usage })],
    ]
  }
  if (family === 'anthropic') {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [] }
    return [
      [
        { type: 'message_start', message: { ...message, usage: { input_tokens: prompt, output_tokens: 1 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      ],
      [
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } },
        { type: 'message_stop' },
      ],
    ]
  }
  const content = { role: 'model', parts: [{ text }] }
  const counts = { promptTokenCount: prompt, candidatesTokenCount: 1 }
  return [
    [{ candidates: [{ content }], usageMetadata: counts }],
    [
      {
        candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
        usageMetadata: { ...counts, candidatesTokenCount: output },
      },
    ],
  ]
}

/** A streamed answer of a family, whose end waits for `gate`. */
export function streamedAnswer(
  family: Family,
  text: string,
  [prompt, output]: [number, number],
  gate: Promise<unknown>,
): FakeAnswer {
  const [first, last] = eventsOf(family, text, prompt, output)
  const written = (all: object[]) => all.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
  const body = (async function* () {
    yield written(first)
    await gate
    yield written(last)
  })()
  return { ...replied(200, '', 'text/event-stream'), body }
}

/** An answer in JSON that waits for `gate`. */
export const heldAnswer = (body: object, gate: Promise<unknown>): FakeAnswer => ({
  ...replied(200, ''),
  body: (async function* () {
    await gate
    yield JSON.stringify(body)
  })(),
})
