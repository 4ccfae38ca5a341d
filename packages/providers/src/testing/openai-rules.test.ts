import { describe, expect, it } from 'vitest'
import { openaiRefusal } from './openai-rules.js'

const user = { role: 'user', content: 'Hi' }
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
const calling = { role: 'assistant', content: null, tool_calls: [call] }
const result = { role: 'tool', tool_call_id: 'call_1', content: '1' }
const refusal = (fields: object) => openaiRefusal({ model: 'gpt-4o', messages: [user], ...fields })

describe('OpenAI takes', () => {
  it.each<[what: string, fields: object]>([
    ['a plain request', {}],
    [
      'every range at its ends',
      { temperature: 0, top_p: 1, n: 128, presence_penalty: -2, frequency_penalty: 2, top_logprobs: 20 },
    ],
    ['null for absent', { temperature: null, n: null, stop: null, stream_options: null }],
    ['four stops', { stop: ['a', 'b', 'c', 'd'] }],
    ['stream options of a stream', { stream: true, stream_options: { include_usage: true } }],
    [
      'tools',
      { tools: [tool, { type: 'function', function: { name: 'g' } }], tool_choice: 'auto', parallel_tool_calls: false },
    ],
    ['a forced tool', { tools: [tool], tool_choice: { type: 'function', function: { name: 'f' } } }],
    ['a tool round', { messages: [user, calling, result, user] }],
    ['a custom tool', { tools: [{ type: 'custom', custom: { name: 'f' } }] }],
    [
      'parts',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'image_url', image_url: { url: 'x' } },
            ],
          },
        ],
      },
    ],
    ['a developer', { messages: [{ role: 'developer', content: 'x' }] }],
    ['JSON mode', { messages: [{ role: 'user', content: 'Say JSON' }], response_format: { type: 'json_object' } }],
    ['a schema', { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } } }],
    ['a temperature of a model that can reason', { model: 'gpt-5.1', temperature: 0 }],
    ['max_completion_tokens of a reasoning model', { model: 'o3', max_completion_tokens: 5 }],
  ])('%s', (_, fields) => expect(refusal(fields)).toBeUndefined())
})

describe('OpenAI refuses', () => {
  it.each<[what: string, fields: object, message: string, param: string | null, code: string | null]>([
    ['an unknown parameter', { system: 'x' }, "Unknown parameter: 'system'.", 'system', 'unknown_parameter'],
    ['provider', { provider: 'openai' }, "Unknown parameter: 'provider'.", 'provider', 'unknown_parameter'],
    ['no model', { model: '' }, 'you must provide a model parameter', null, null],
    [
      'max_tokens of a reasoning model',
      { model: 'gpt-5', max_tokens: 5 },
      "Unsupported parameter: 'max_tokens'",
      'max_tokens',
      'unsupported_parameter',
    ],
    [
      'logprobs of a reasoning model',
      { model: 'o3-mini', logprobs: true },
      "Unsupported parameter: 'logprobs'",
      'logprobs',
      'unsupported_parameter',
    ],
    [
      'five stops',
      { stop: ['a', 'b', 'c', 'd', 'e'] },
      "Invalid 'stop': array too long",
      'stop',
      'array_above_max_length',
    ],
    [
      'stream options without a stream',
      { stream_options: {} },
      "The 'stream_options' parameter is only allowed",
      'stream_options',
      null,
    ],
    [
      'a wrong type',
      { temperature: '1' },
      "Invalid type for 'temperature': expected a decimal.",
      'temperature',
      'invalid_type',
    ],
    ['a fraction', { n: 1.5 }, "Invalid type for 'n': expected an integer.", 'n', 'invalid_type'],
    [
      'too much',
      { top_p: 1.1 },
      "Invalid 'top_p': expected a value between 0 and 1, but got 1.1 instead.",
      'top_p',
      null,
    ],
    ['too little', { max_tokens: 0 }, "Invalid 'max_tokens': expected a value between 1", 'max_tokens', null],
    [
      'no messages',
      { messages: undefined },
      "Missing required parameter: 'messages'.",
      'messages',
      'missing_required_parameter',
    ],
    ['empty messages', { messages: [] }, "Invalid 'messages': empty array.", 'messages', 'empty_array'],
    [
      'an unknown role',
      { messages: [{ role: 'robot', content: 'x' }] },
      "Invalid value: 'robot'.",
      'messages[0].role',
      'invalid_value',
    ],
    [
      'no content',
      { messages: [{ role: 'user', content: null }] },
      "Invalid value for 'messages[0].content'",
      'messages[0].content',
      null,
    ],
    [
      'an assistant with nothing',
      { messages: [{ role: 'assistant' }] },
      "Invalid value for 'messages[0].content'",
      'messages[0].content',
      null,
    ],
    [
      'an image of the assistant',
      { messages: [{ role: 'assistant', content: [{ type: 'image_url' }] }] },
      "Invalid value: 'image_url'.",
      'messages[0].content[0].type',
      'invalid_value',
    ],
    [
      'a result without a call',
      { messages: [user, result] },
      "Invalid parameter: messages with role 'tool'",
      'messages[1].role',
      null,
    ],
    [
      'a second result',
      { messages: [user, calling, result, result] },
      "Invalid parameter: messages with role 'tool'",
      'messages[3].role',
      null,
    ],
    [
      'a call without a result',
      { messages: [user, calling, user] },
      "An assistant message with 'tool_calls' must be followed",
      'messages[2]',
      null,
    ],
    [
      'a call at the end',
      { messages: [user, calling] },
      "An assistant message with 'tool_calls' must be followed",
      'messages',
      null,
    ],
    [
      'empty calls',
      { messages: [{ role: 'assistant', tool_calls: [] }] },
      "Invalid 'messages[0].tool_calls': empty array.",
      'messages[0].tool_calls',
      'empty_array',
    ],
    [
      'null calls',
      { messages: [{ role: 'assistant', content: 'x', tool_calls: null }] },
      "Invalid 'messages[0].tool_calls'",
      'messages[0].tool_calls',
      'empty_array',
    ],
    [
      'a long call id',
      { messages: [{ role: 'assistant', tool_calls: [{ ...call, id: 'x'.repeat(41) }] }] },
      "Invalid 'messages[0].tool_calls[0].id': string too long.",
      'messages[0].tool_calls[0].id',
      'string_above_max_length',
    ],
    ['no tools', { tools: [] }, "Invalid 'tools': empty array.", 'tools', 'empty_array'],
    [
      'a bad tool name',
      { tools: [{ type: 'function', function: { name: 'a b' } }] },
      "Invalid 'tools[0].function.name': string does not match pattern.",
      'tools[0].function.name',
      'invalid_value',
    ],
    [
      'a bad schema',
      { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
      "Invalid schema for function 'f'",
      'tools[0].function.parameters',
      'invalid_function_parameters',
    ],
    [
      'a choice without tools',
      { tool_choice: 'auto' },
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed",
      'tool_choice',
      null,
    ],
    [
      'a choice of allowed tools that are none',
      { tools: [tool], tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [null] } } },
      "Invalid type for 'tool_choice.tools'",
      'tool_choice.tools',
      null,
    ],
    [
      'parallel calls without tools',
      { parallel_tool_calls: true },
      "Invalid value for 'parallel_tool_calls'",
      'parallel_tool_calls',
      null,
    ],
    [
      'an unknown tool',
      { tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } },
      "Invalid value for 'tool_choice': no tool named 'g'",
      'tool_choice',
      null,
    ],
    [
      'JSON mode unasked',
      { response_format: { type: 'json_object' } },
      "'messages' must contain the word 'json'",
      'messages',
      null,
    ],
    [
      'a schema without a name',
      { response_format: { type: 'json_schema', json_schema: {} } },
      "Missing required parameter: 'response_format.json_schema'.",
      'response_format.json_schema',
      'missing_required_parameter',
    ],
  ])('%s', (_, fields, message, param, code) => {
    const given = refusal(fields)
    expect(given).toMatchObject({ param, code })
    expect(given!.message.startsWith(message), given!.message).toBe(true)
  })

  it.each([undefined, null, [], 'x', 1])('a body that is no object: %j', (body) =>
    expect(openaiRefusal(body)?.message).toBe('We could not parse the JSON body of your request.'),
  )
})
