import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Messages } from '../../../../test/support/anthropic.js'
import { anthropicChat } from './index.js'
import { body, call, hi, notes, refusal, text, tool } from '../../../../test/support/anthropic.js'

describe('response formats', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 1, description: 'A count' }, s: { oneOf: [{ type: 'string' }] } },
  }
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }

  it('use a schema on newer models', () => {
    expect(body({ response_format })['output_config']).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            n: { type: 'integer', description: 'A count (minimum: 1)' },
            s: { anyOf: [{ type: 'string' }] },
          },
          additionalProperties: false,
        },
      },
    })
    expect(notes({ response_format })).toEqual([])
  })

  const numbers = { type: 'object', additionalProperties: { type: 'number' } }
  it.each<Record<string, unknown>>([
    numbers,
    { type: 'object' },
    { type: 'object', additionalProperties: true },
    { type: 'object', properties: { n: { type: 'integer' } }, additionalProperties: { type: 'number' } },
    { type: 'object', patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
    { type: 'object', properties: { scores: numbers } },
    { type: 'object', properties: { list: { type: 'array', items: { anyOf: [{ type: 'null' }, numbers] } } } },
    { type: 'object', properties: { n: { $ref: '#/$defs/n' } }, $defs: { n: { type: ['object', 'null'] } } },
  ])('use a forced tool for %j, whose fields can have any name: closed, it would have none', (schema) => {
    for (const strict of [undefined, true]) {
      const given = { response_format: { type: 'json_schema', json_schema: { name: 'x', strict, schema } } }
      const sent = body(given)
      expect(sent).not.toHaveProperty('output_config')
      expect(sent).toMatchObject({ tools: [{ name: 'json', input_schema: schema }], tool_choice: { type: 'any' } })
      expect(notes(given)).toEqual(['emulated response_format'])
    }
    const given = { type: 'function' as const, function: { name: 'f', strict: true, parameters: schema } }
    expect(body({ tools: [given] })['tools']).toEqual([{ name: 'f', input_schema: schema }])
    expect(notes({ tools: [given] })).toEqual(['dropped tools.function.strict'])
  })

  it('have no effect on a forced call where the schema cannot be enforced', () => {
    const given = {
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: numbers } },
      tools: [tool('f')],
      tool_choice: 'required' as const,
    }
    expect(body(given)).not.toHaveProperty('output_config')
    expect(notes(given)).toEqual(['dropped response_format'])
  })

  it('have the description in the schema', () => {
    const named = (schema: object) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'x', description: 'A list of cities', schema } },
    })
    expect(body(named(schema))).toMatchObject({
      output_config: { format: { schema: { description: 'A list of cities' } } },
    })
    expect(body(named({ ...schema, description: 'Own' }))).toMatchObject({
      output_config: { format: { schema: { description: 'Own' } } },
    })
    expect(body(named(numbers))).toMatchObject({ tools: [{ input_schema: { description: 'A list of cities' } }] })
  })

  it('use a forced tool on older models', () => {
    const sent = body({ response_format }, 'claude-sonnet-4-20250514')
    expect(sent['tools']).toEqual([{ name: 'json', input_schema: schema }])
    expect(sent['tool_choice']).toEqual({ type: 'any', disable_parallel_tool_use: true })
    expect(sent).not.toHaveProperty('output_config')
    expect(notes({ response_format }, 'claude-sonnet-4-20250514')).toEqual(['emulated response_format'])
  })

  it('use a text answer on older models where no tool may be called, and a call where one is required', () => {
    const given = { response_format, tools: [tool('f')] }
    const of = (tool_choice: ChatCompletionRequest['tool_choice']) => {
      const sent = body({ ...given, tool_choice }, 'claude-sonnet-4')
      const names = (sent['tools'] as { name: string }[]).map(({ name }) => name)
      return [sent['tool_choice'], names, notes({ ...given, tool_choice }, 'claude-sonnet-4')]
    }
    const answer = { type: 'tool', name: 'json', disable_parallel_tool_use: true }
    expect(of('none')).toEqual([answer, ['f', 'json'], ['emulated response_format']])
    expect(of('required')).toEqual([{ type: 'any' }, ['f'], ['dropped response_format']])
    const allowed = (mode: string) => ({
      type: 'allowed_tools' as const,
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'f' } }] },
    })
    const either = { type: 'any', disable_parallel_tool_use: true }
    expect(of(allowed('auto'))).toEqual([either, ['f', 'json'], ['emulated response_format']])
    expect(of(allowed('required'))).toEqual([{ type: 'any' }, ['f'], ['dropped response_format']])
    expect(of({ type: 'function', function: { name: 'f' } })).toEqual([
      { type: 'tool', name: 'f' },
      ['f'],
      ['dropped response_format'],
    ])
  })

  it('look for other tools of that name once, however many answers are read', async () => {
    let searches = 0
    const message = { role: 'user', content: 'Hi', toJSON: () => searches++ } as const
    const request = {
      model: 'claude-sonnet-4',
      messages: [message],
      response_format,
    } as unknown as ChatCompletionRequest
    for (let i = 0; i < 3; i++) anthropicChat('anthropic').stream(request)
    expect(searches).toBe(1)
  })

  it('use a name for the schema tool that no other tool has', () => {
    const sent = body({ response_format, tools: [tool('json')] }, 'claude-sonnet-4')
    expect((sent['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['json', 'json_answer'])
    const messages: Messages = [
      ...hi,
      { role: 'assistant', content: null, tool_calls: [call('a', 'json')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    const again = body({ response_format, messages }, 'claude-sonnet-4')
    expect((again['tools'] as { name: string }[]).map(({ name }) => name)).toEqual(['json', 'json_answer'])
  })

  it('allow any JSON without a schema', () => {
    for (const model of ['claude-sonnet-4-5', 'claude-sonnet-4']) {
      const sent = body({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } }, model)
      expect(sent['system']).toEqual([text('Answer with a JSON object and nothing else, without a code fence.')])
      expect(sent).not.toHaveProperty('output_config')
      expect(sent).not.toHaveProperty('tools')
    }
  })

  it('close nullable objects', () => {
    const json_schema = {
      name: 'x',
      schema: { type: 'object', properties: { a: { type: ['object', 'null'], properties: {} } } },
    }
    expect(body({ response_format: { type: 'json_schema', json_schema } })).toMatchObject({
      output_config: { format: { schema: { properties: { a: { additionalProperties: false } } } } },
    })
  })

  it('enforce the schemas of twenty tools', () => {
    const tools = Array.from({ length: 23 }, (_, i) => ({
      type: 'function' as const,
      function: { name: `f${i}`, strict: i > 0, parameters: { type: 'object', properties: {} } },
    }))
    const sent = body({ tools })['tools'] as { strict?: boolean; input_schema: object }[]
    const held = Array<true>(20).fill(true)
    expect(sent.map(({ strict }) => strict)).toEqual([undefined, ...held, undefined, undefined])
    expect(sent[21]!.input_schema).toEqual({ type: 'object', properties: {} })
    expect(notes({ tools })).toEqual(['dropped tools.function.strict', 'dropped tools.function.strict'])
  })

  it('refuse a schema that no tool can have', () => {
    const list = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'array' } } }
    expect(() => body({ response_format: list }, 'claude-sonnet-4-20250514')).toThrow('whose root is no object')
  })

  it.each(['anyOf', 'oneOf', 'allOf'])('refuse a tool with %s at the top of its schema', (keyword) => {
    const parameters = { type: 'object', [keyword]: [{ required: ['a'] }, { required: ['b'] }] }
    expect(refusal({ tools: [tool('f'), tool('pick', parameters)] })).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      message: `Claude does not take ${keyword} at the top of the parameters of the tool "pick"`,
    })
    expect(body({ tools: [tool('f', { type: 'object', properties: { a: parameters } })] })).toBeDefined()
  })

  it('refuse an unknown format', () => {
    expect(refusal({ response_format: { type: 'grammar' } })).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
    })
  })

  it('request json_object in the prompt', () => {
    expect(body({ response_format: { type: 'json_object' } })['system']).toEqual([
      text('Answer with a JSON object and nothing else, without a code fence.'),
    ])
  })
})
