import type { ChatCompletion, ChatCompletionRequest, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { openaiChat } from './chat.js'

const asked: ChatCompletionRequest = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }

describe('an answer of OpenAI', () => {
  const response = (body: unknown, given: ChatCompletionRequest) =>
    openaiChat('openai').response(body, given) as ChatCompletion
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
  const answer = (message: object, finish_reason: unknown = 'stop') =>
    response(
      { id: 'c', object: 'chat.completion', created: 5, model: 'm', choices: [{ index: 0, message, finish_reason }] },
      asked,
    )
  const choice = (message: object, finish?: unknown) => answer(message, finish).choices[0]!

  it('is passed on unchanged', () => {
    const whole = {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_770_933_883,
      model: 'gpt-4o-2024-08-06',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
        {
          index: 1,
          message: { role: 'assistant', content: null, refusal: null, tool_calls: [call] },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11, prompt_tokens_details: { cached_tokens: 0 } },
      service_tier: 'default',
    }
    expect(response(structuredClone(whole), asked)).toEqual(whole)
  })

  it('gets the fields that a compatible server omits', () => {
    const bare = response({ choices: [{ message: { content: 'a' } }, { message: { content: 'b' } }] }, asked)
    expect(bare).toEqual({
      id: expect.stringMatching(/^chatcmpl-[A-Za-z0-9]{24}$/) as string,
      object: 'chat.completion',
      created: expect.any(Number) as number,
      model: 'gpt-4o',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' },
        { index: 1, message: { role: 'assistant', content: 'b' }, finish_reason: 'stop' },
      ],
      usage: undefined,
    })
    expect(Math.abs(bare.created - Date.now() / 1000)).toBeLessThan(5)
  })

  it('has content null beside tool calls, a string otherwise', () => {
    expect(choice({ tool_calls: [call] }).message.content).toBeNull()
    expect(choice({ content: '', tool_calls: [call] }).message.content).toBeNull()
    expect(choice({ content: 'x', tool_calls: [call] }).message.content).toBe('x')
    expect(choice({}).message.content).toBe('')
    expect(choice({ content: null, refusal: 'no' }).message.content).toBeNull()
  })

  it('has no tool_calls key without tool calls', () => {
    for (const tool_calls of [[], null, undefined])
      expect(choice({ content: 'x', tool_calls }).message).not.toHaveProperty('tool_calls')
  })

  it('has the finish reason tool_calls if it has some', () => {
    expect(choice({ tool_calls: [call] }, 'stop').finish_reason).toBe('tool_calls')
    expect(choice({ tool_calls: [call] }, null).finish_reason).toBe('tool_calls')
    expect(choice({ tool_calls: [call] }, 'length').finish_reason).toBe('length')
  })

  it('has tool calls with id, type and arguments as JSON text', () => {
    const calls = (tool: object, finish = 'tool_calls') => choice({ tool_calls: [tool] }, finish).message.tool_calls
    expect(calls({ function: { name: 'f', arguments: { a: 1 } } })).toEqual([
      {
        id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/) as string,
        type: 'function',
        function: { name: 'f', arguments: '{"a":1}' },
      },
    ])
    expect(calls({ ...call, function: { name: 'f', arguments: '' } })).toMatchObject([
      { function: { arguments: '{}' } },
    ])
    expect(calls({ ...call, function: { name: 'f' } })).toMatchObject([{ function: { arguments: '{}' } }])
    expect(calls({ ...call, extra_content: { google: 1 } })).toEqual([{ ...call, extra_content: { google: 1 } }])
    expect(calls({ ...call, function: { name: 'f', arguments: '{"a":12345678901234567890}' } })).toMatchObject([
      { function: { arguments: '{"a":12345678901234567890}' } },
    ])
    const custom = { id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }
    expect(calls(custom)).toEqual([custom])
  })

  it('converts function_call to a tool call', () => {
    const { message, finish_reason } = choice({ content: null, function_call: { name: 'f', arguments: '{}' } })
    expect([message, finish_reason]).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          {
            id: expect.stringMatching(/^call_\w{24}$/) as string,
            type: 'function',
            function: { name: 'f', arguments: '{}' },
          },
        ],
      },
      'tool_calls',
    ])
  })

  it('is refused with arguments that are not JSON, unless it was cut', () => {
    const broken = { ...call, function: { name: 'f', arguments: '{"a":' } }
    expect(() => choice({ tool_calls: [broken] }, 'tool_calls')).toThrow('arguments of a call are not JSON')
    expect(choice({ tool_calls: [broken] }, 'length').message.tool_calls).toEqual([broken])
  })

  it('separates reasoning and text in a list of parts', () => {
    const thinking = [
      { type: 'text', text: 'h' },
      { type: 'text', text: 'm' },
    ]
    const parts = [{ type: 'thinking', thinking, closed: true }, { type: 'text', text: 'x' }, { type: 'reference' }]
    const message = { role: 'assistant', content: 'x', reasoning_content: 'hm' }
    expect(choice({ content: parts, tool_calls: null }).message).toEqual(message)
    expect(choice({ content: parts.slice(1) }).message).toEqual({ role: 'assistant', content: 'x' })
    expect(choice({ content: [] }).message).toEqual({ role: 'assistant', content: '' })
  })

  it('renames reasoning to reasoning_content', () => {
    expect(choice({ content: 'x', reasoning: 'hm' }).message).toEqual({
      role: 'assistant',
      content: 'x',
      reasoning_content: 'hm',
    })
    expect(choice({ content: 'x', reasoning: 'hm', reasoning_content: 'own' }).message).toMatchObject({
      reasoning_content: 'own',
    })
  })

  it.each([{}, { choices: [] }, { choices: null }, { choices: {} }, []])('is malformed without choices: %j', (body) => {
    try {
      response(body, asked)
      expect.unreachable()
    } catch (error) {
      expect((error as UpstreamError).failure).toMatchObject({ provider: 'openai', kind: 'malformed', accepted: true })
    }
  })
})
