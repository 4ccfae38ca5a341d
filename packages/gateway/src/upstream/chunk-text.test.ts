import type { ChunkChoice, ChunkHead, Usage } from '@turnpike/core'
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

describe('threat 58: a head that is repeated in each chunk', () => {
  const written = (more: object) => {
    const text = chunkText({ ...head, ...more }, true)
    const events = [text.choices([choices['a piece of text'], choices['a piece of text']] as ChunkChoice[])]
    events.push(text.choices([choices['a piece of text']] as ChunkChoice[]), text.usage({ total_tokens: 1 } as Usage))
    return events.join('').split('\n\n').slice(0, -1)
  }

  it('is whole in each chunk where it is short', () => {
    const events = written({ service_tier: 'default', x: 'y'.repeat(1_000) })
    expect(events).toHaveLength(4)
    for (const event of events) expect(event).toContain('"service_tier":"default"')
  })

  it('has its further fields in the first chunk alone where it is long', () => {
    const citations = ['y'.repeat(100_000)]
    const events = written({ service_tier: 'default', citations })
    expect(JSON.parse(events[0]!.slice('data: '.length))).toMatchObject({ ...head, service_tier: 'default', citations })
    expect(events.slice(1).map((event) => JSON.parse(event.slice('data: '.length)) as object)).toEqual([
      { ...head, choices: [choices['a piece of text']], usage: null },
      { ...head, choices: [choices['a piece of text']], usage: null },
      { ...head, choices: [], usage: { total_tokens: 1 } },
    ])
  })
})
