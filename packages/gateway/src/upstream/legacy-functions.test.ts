import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { modernise } from './legacy-functions.js'

const hi = { role: 'user', content: 'Hi' }
const modern = (given: object) =>
  JSON.parse(JSON.stringify(modernise({ model: 'm', messages: [hi], ...given } as ChatCompletionRequest))) as object

describe("OpenAI's deprecated functions", () => {
  it('become tools', () => {
    const f = { name: 'f', parameters: { type: 'object' } }
    expect(modern({ functions: [f], function_call: { name: 'f' } })).toEqual({
      model: 'm',
      messages: [hi],
      tools: [{ type: 'function', function: f }],
      tool_choice: { type: 'function', function: { name: 'f' } },
    })
    expect(modern({ functions: [f], function_call: 'none' })).toMatchObject({ tool_choice: 'none' })
  })

  it('in a history become tools', () => {
    const called = (x: string) => ({ role: 'assistant', content: null, function_call: { name: 'f', arguments: x } })
    const result = (content: string) => ({ role: 'function', name: 'f', content })
    const toolCall = (id: string, x: string) => ({
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: x } }],
    })
    expect(modern({ messages: [hi, called('{}'), result('a'), called('{"x":1}'), result('b')] })).toEqual({
      model: 'm',
      messages: [
        hi,
        toolCall('call_function_1', '{}'),
        { role: 'tool', tool_call_id: 'call_function_1', content: 'a' },
        toolCall('call_function_2', '{"x":1}'),
        { role: 'tool', tool_call_id: 'call_function_2', content: 'b' },
      ],
    })
  })

  it('absent: the request is unchanged', () => {
    const request = { model: 'm', messages: [hi] } as ChatCompletionRequest
    expect(modernise(request)).toBe(request)
  })

  it('come after existing tools and calls', () => {
    const tool = { type: 'function', function: { name: 't' } }
    const call = { id: 'c', type: 'function', function: { name: 't', arguments: '{}' } }
    expect(modern({ tools: [tool], functions: [] })).toMatchObject({ tools: [tool] })
    const old = { name: 'f', arguments: '{}' }
    expect(
      modern({
        tools: [tool],
        functions: [{ name: 'f' }],
        messages: [hi, { role: 'assistant', content: null, tool_calls: [call], function_call: old }],
      }),
    ).toMatchObject({
      tools: [tool, { type: 'function', function: { name: 'f' } }],
      messages: [hi, { tool_calls: [call, { id: 'call_function_1', function: old }] }],
    })
  })

  it('are refused if invalid', () => {
    expect(() => modern({ messages: [{ role: 'function', name: 'f', content: 'a' }] })).toThrow('"f"')
  })
})
