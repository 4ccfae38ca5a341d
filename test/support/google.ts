import type { ChatCompletionRequest } from '@turnpike/core'
import { googleChat } from '@turnpike/providers'
import { expect } from 'vitest'

const { request: toRequest } = googleChat('google')

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
