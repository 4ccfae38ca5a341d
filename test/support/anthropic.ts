import type { ChatCompletionRequest } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { anthropicChat } from '@turnpike/providers'
import { expect } from 'vitest'

const { request: toRequest } = anthropicChat('anthropic')

export type Messages = ChatCompletionRequest['messages']
export const hi: Messages = [{ role: 'user', content: 'Hi' }]

/** The upstream body of a request, as it is sent. */
export function body(given: Partial<ChatCompletionRequest>, model = 'claude-sonnet-4-5') {
  const request = { model, messages: hi, ...given } as ChatCompletionRequest
  const before = JSON.stringify(request)
  const made = JSON.parse(JSON.stringify(toRequest(request).body)) as Record<string, unknown>
  expect(JSON.stringify(request)).toBe(before)
  return made
}
export const notes = (given: Partial<ChatCompletionRequest>, model = 'claude-sonnet-4-5') =>
  toRequest({ model, messages: hi, ...given } as ChatCompletionRequest).notes.map(
    ({ field, action }) => `${action} ${field}`,
  )

export const refusal = (given: Partial<ChatCompletionRequest>): ApiError => {
  try {
    body(given)
  } catch (error) {
    if (ApiError.is(error)) return error
    throw error
  }
  throw new Error('The request was not refused')
}

export const text = (value: string) => ({ type: 'text', text: value })
export const user = (...content: object[]) => ({ role: 'user', content })
export const assistant = (...content: object[]) => ({ role: 'assistant', content })
export const call = (id: string, name: string, args = '{}') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: args },
})
export const use = (id: string, name: string, input: object = {}) => ({ type: 'tool_use', id, name, input })
export const result = (id: string, content: unknown) => ({ type: 'tool_result', tool_use_id: id, content })
export const tool = (name: string, parameters?: Record<string, unknown>) => ({
  type: 'function' as const,
  function: { name, ...(parameters && { parameters }) },
})
export const noArguments = { type: 'object', properties: {} }
