import { ContextOverflowError } from '@langchain/core/errors'
import { ChatOpenAI } from '@langchain/openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rejection } from '../support/failure.js'
import { refusal } from '../support/faults.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

describe('a prompt over the context', () => {
  it.each([
    ['that tells the limit', 'prompt is too long: 212441 tokens > 200000 maximum', '200000 tokens'],
    ['that tells none', 'Input is too long for requested model.', '128000 tokens'],
    ['of a model that nobody knows', 'Prompt exceeds max length', 'exceeded', 'openai/local'],
  ])('%s is one for LangChain and litellm', async (_, words, limit, model = 'gpt-4o') => {
    stack.fault = () => refusal(400, words)
    const chat = new ChatOpenAI({ model, apiKey: stack.key, maxRetries: 0, configuration: { baseURL: stack.url } })
    for (const ask of [() => chat.invoke('Hi'), () => chat.stream('Hi')]) {
      const error = (await rejection(ask())) as Error
      expect(ContextOverflowError.isInstance(error)).toBe(true)
      expect(error.message).toContain(`This model's maximum context length is ${limit}.`)
      expect(error.message).toContain(words)
    }
  })
})
