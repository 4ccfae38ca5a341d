import type { ChunkChoice, UpstreamError } from '@turnpike/core'
import { jsonCount } from '@turnpike/core/helpers'
import { describe, expect, it } from 'vitest'
import { checkArguments, chunkBuilder, newCompletionId, newToolCallId } from './chunk-builder.js'

const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const head = { id: 'c', created: 5, model: 'm' }
const whole = { ...head, object: 'chat.completion.chunk' }

const begun = () => {
  const builder = chunkBuilder('openai')
  builder.begin(head)
  return builder
}
const deltas = (choices: ChunkChoice[]) => choices.map(({ delta }) => delta)

describe('ids', () => {
  it('have a length that OpenAI accepts, and are unique', () => {
    expect(newToolCallId()).toMatch(/^call_[A-Za-z0-9]{24}$/)
    expect(newCompletionId()).toMatch(/^chatcmpl-[A-Za-z0-9]{24}$/)
    expect(new Set(Array.from({ length: 1_000 }, newToolCallId)).size).toBe(1_000)
  })
})

describe('checkArguments', () => {
  it('accepts JSON, and returns {} for an empty text', () => {
    expect(checkArguments('{"a": 1}', 'tool_calls', 'p')).toBe('{"a": 1}')
    expect(checkArguments('', 'tool_calls', 'p')).toBe('{}')
    expect(checkArguments('', 'length', 'p')).toBe('')
    expect(checkArguments('{"a', 'length', 'p')).toBe('{"a')
    expect(() => checkArguments('{"a', 'tool_calls', 'p')).toThrow('arguments of a call are not JSON')
  })

  it('threat 164: counts the values of all arguments of an answer before they are parsed', () => {
    const many = `[${'0,'.repeat(250_000)}0]`
    const count = jsonCount()
    expect(checkArguments(many, 'tool_calls', 'p', count)).toBe(many)
    const more = () => checkArguments(many, 'tool_calls', 'p', count)
    expect(more).toThrow('arguments of a call has more than 400000 values')
  })
})

describe('chunkBuilder', () => {
  it('keeps the first head and the last usage', () => {
    const builder = chunkBuilder('openai')
    builder.begin({ ...head, system_fingerprint: 'fp' })
    builder.begin({ id: 'other', created: 9, model: 'other' })
    expect(builder.head()).toEqual({ ...whole, system_fingerprint: 'fp' })
    expect(builder.usage()).toBeUndefined()
    builder.report({ ...usage, completion_tokens: 1 })
    builder.report(usage)
    expect(builder.usage()).toEqual(usage)
  })

  it('threat 190: leaves out of the head what is too long to be in each chunk', () => {
    const builder = chunkBuilder('openai')
    const deep: unknown = JSON.parse(`${'['.repeat(40_000)}${']'.repeat(40_000)}`)
    builder.begin({ ...head, sources: ['https://a.example'], deep, prompt_token_ids: Array(100_000).fill(1) } as object)
    expect(builder.head()).toEqual({ ...whole, sources: ['https://a.example'] })
  })

  it('threat 190: counts what a choice ends with', () => {
    const builder = begun()
    builder.finish(0, 'stop', { long: 'x'.repeat(1_000) })
    expect(builder.kept()).toBeGreaterThan(1_000)
  })

  it('creates a head where there is none', () => {
    const builder = chunkBuilder('openai')
    expect(builder.head()).toMatchObject({ object: 'chat.completion.chunk', model: '' })
    expect(builder.head().id).toMatch(/^chatcmpl-/)
    expect(Math.abs(builder.head().created - Date.now() / 1000)).toBeLessThan(5)
    expect(builder.head()).toBe(builder.head())
  })

  it.each([
    { id: 'x'.repeat(3_000) },
    { model: 'x'.repeat(3_000) },
    { id: '', created: [...'x'.repeat(3_000)] as never },
  ])('threat 58: throws for what is too long to be in each chunk', (given) =>
    expect(() => chunkBuilder('openai').begin({ ...head, ...given })).toThrow('too long'),
  )

  it('returns each chunk once', () => {
    const builder = begun()
    builder.delta(0, { content: 'a' })
    expect(builder.take()).toHaveLength(1)
    expect(builder.take()).toEqual([])
  })

  it('sends the role in the first chunk of each choice, with empty content', () => {
    const builder = begun()
    builder.delta(0, {})
    builder.delta(1, { content: 'x' })
    builder.delta(0, { content: 'a' })
    expect(deltas(builder.take())).toEqual([
      { role: 'assistant', content: '' },
      { role: 'assistant', content: 'x' },
      { content: 'a' },
    ])
  })

  it('sends no empty delta after the first', () => {
    const builder = begun()
    builder.delta(0, { content: 'a' })
    builder.delta(0, {})
    expect(builder.take()).toHaveLength(1)
  })

  it('numbers tool calls from 0 and completes their arguments', () => {
    const builder = begun()
    expect(builder.tool(0, { id: 'a', name: 'f' })).toBe(0)
    expect(builder.tool(0, { name: 'g' })).toBe(1)
    builder.toolArguments(0, 0, '{}')
    builder.toolArguments(0, 0, '')
    builder.finish(0, 'stop')
    const start = (index: number, id: unknown, name: string) => ({
      tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
    })
    const made = expect.stringMatching(/^call_[A-Za-z0-9]{24}$/) as string
    const chunks = [...builder.take(), ...builder.end()]
    expect(deltas(chunks)).toEqual([
      { role: 'assistant', content: null, ...start(0, 'a', 'f') },
      start(1, made, 'g'),
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{}' } }] },
      {},
    ])
    expect(chunks.at(-1)!.finish_reason).toBe('tool_calls')
  })

  it('sends the last finish reason of each choice at the end', () => {
    const builder = begun()
    builder.delta(0, { content: 'a' })
    builder.finish(0, 'stop')
    builder.finish(0, 'length', { logprobs: null })
    builder.delta(0, { content: 'b' })
    expect(deltas(builder.take())).toEqual([{ role: 'assistant', content: 'a' }, { content: 'b' }])
    expect(builder.end()).toEqual([{ index: 0, delta: {}, logprobs: null, finish_reason: 'length' }])
  })

  it('starts a choice that has only a finish reason', () => {
    const builder = begun()
    builder.finish(0, 'content_filter')
    expect(builder.end()).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'content_filter' },
    ])
  })

  it('is incomplete without a choice, or with an unfinished one', () => {
    const open = begun()
    open.delta(0, {})
    open.delta(1, {})
    open.finish(0, 'stop')
    for (const builder of [begun(), open])
      try {
        builder.end()
        expect.unreachable()
      } catch (error) {
        expect((error as UpstreamError).failure).toMatchObject({ kind: 'truncated', accepted: true })
      }
  })
})
