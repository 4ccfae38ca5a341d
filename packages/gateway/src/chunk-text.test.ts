import type { ChunkChoice, ChunkHead } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { chunkText } from './chunk-text.js'

const head: ChunkHead = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'm' }

const text = (content: string | null, more: object = {}): object => ({
  index: 0,
  delta: { content },
  finish_reason: null,
  ...more,
})

/** The same choice is in a chunk as was put in, whether it is written as a piece of text or as any other. */
const choices: Record<string, object> = {
  'a piece of text': text('Hello'),
  'of another choice': text('Hello', { index: 3 }),
  'with what JSON escapes': text('"\\\n\u2028\ud800 é🙂'),
  'of no characters': text(''),
  'without a text': text(null),
  'with logprobs': text('Hello', { logprobs: { content: [] } }),
  'with logprobs that are null': { index: 0, delta: { content: 'Hello' }, logprobs: null, finish_reason: null },
  'with a role': text('Hello', { delta: { role: 'assistant', content: 'Hello' } }),
  'with a thought': text('Hello', { delta: { content: 'Hello', reasoning_content: 'Hm' } }),
  'with a finish': text('Hello', { finish_reason: 'stop' }),
  'an upstream that counts in text': text('Hello', { index: '0' }),
  'an upstream that counts too far': text('Hello', { index: Infinity }),
  'an upstream that counts too little': { delta: { content: 'Hello' }, logprobs: null, finish_reason: null },
  'an upstream that ends nothing': { index: 0, delta: { content: 'Hello' }, logprobs: null },
  'a piece of a call': { index: 0, delta: { tool_calls: [{ index: 0 }] }, finish_reason: null },
}

describe('a serialised chunk has all fields of its choice', () => {
  it.each(Object.entries(choices))('%s', (_, choice) => {
    const written = chunkText(head, true).choices([choice as unknown as ChunkChoice])
    expect(written).toBe(`data: ${JSON.stringify({ ...head, choices: [choice], usage: null })}\n\n`)
  })
})
