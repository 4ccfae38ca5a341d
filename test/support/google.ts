import type { ChatCompletionRequest } from '@turnpike/core'
import { googleChat } from '@turnpike/providers'
import { expect } from 'vitest'
import { decodeReads } from './decode.js'

const { request: toRequest, stream } = googleChat('google')

export const user = { role: 'user' as const, content: 'Hi' }

/** Notes and path of a request, and the body as it is sent. */
export function ask(fields: Record<string, unknown> = {}, model = 'gemini-2.5-flash') {
  const request = { model, messages: [user], ...fields } as ChatCompletionRequest
  const before = structuredClone(request)
  const { path, body, notes } = toRequest(request)
  expect(request).toEqual(before)
  return { path, notes, body: JSON.parse(JSON.stringify(body)) as Record<string, unknown> }
}

export const refusal = (fields: Record<string, unknown>, model?: string): unknown => {
  try {
    ask(fields, model)
  } catch (error) {
    return error
  }
  throw new Error('Nothing was thrown')
}

export const contentsOf = (messages: object[], model?: string) => ask({ messages }, model).body['contents']

/** The decoder of a stream that was asked for with a plain request. */
const decoder = () => stream({ model: 'gemini-2.5-flash', messages: [user] })

/** An event of a stream, or a whole answer. */
export const event = (parts: object[], finishReason?: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }), index: 0 }],
  responseId: 'abc',
  ...more,
})
export const text = (value: string, more: object = {}) => ({ text: value, ...more })
export const call = (name: string, more: object = {}) => ({ functionCall: { name, ...more } })

/** What came of events that arrive one by one. */
export const run = (...events: (object | string)[]) =>
  decodeReads(
    decoder(),
    events.map((one) => [one]),
  )

/** Usage of 3 and 4 tokens as clients see it. */
export const usageSeen = {
  prompt_tokens: 3,
  completion_tokens: 4,
  total_tokens: 7,
  prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
}
