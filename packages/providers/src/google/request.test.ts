// Longer than 250 lines: one function, which everything here is a case of.
import { describe, expect, it } from 'vitest'
import { ask, refusal } from '../../../../test/support/google.js'

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })

describe('path', () => {
  it.each([
    ['gemini-2.5-flash', false, '/models/gemini-2.5-flash:generateContent'],
    ['gemini-2.5-flash', true, '/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
    ['tunedModels/mine-1', false, '/tunedModels/mine-1:generateContent'],
  ])('of %s, stream %s', (model, stream, path) => {
    expect(ask({ stream }, model).path).toBe(path)
  })

  it.each([
    '../files',
    'models/../x',
    'a?b',
    'a:b',
    'a//b',
    '%2e%2e/x',
    'ä',
    '\ud800',
    '',
    'corpora/x',
    'a/b',
    'models/a/b',
    'x/tunedModels/a',
  ])('with %j is refused', (model) => {
    expect(refusal({}, model)).toMatchObject({ status: 400, code: 'model_not_found' })
  })
})
describe('tools', () => {
  it('keep their schemas', () => {
    const parameters = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { a: { type: ['string', 'null'] }, b: { oneOf: [{ const: 1 }] }, c: { $ref: '#' } },
      additionalProperties: false,
    }
    const tools = [tool('f', { description: 'Does f', parameters }), tool('g')]
    expect(ask({ tools }).body['tools']).toEqual([
      { functionDeclarations: [{ name: 'f', description: 'Does f', parametersJsonSchema: parameters }, { name: 'g' }] },
    ])
  })

  it.each<[parameters: object, sent: object]>([
    [{}, { type: 'object' }],
    [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [
      { $ref: '#/$defs/x', $defs: { x: {} } },
      { type: 'object', $defs: { x: {} } },
    ],
  ])('get a type at the root of %j, without which they are refused', (parameters, sent) => {
    expect(ask({ tools: [tool('f', { parameters })] }).body['tools']).toEqual([
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: sent }] },
    ])
  })

  it('keep prototype keys in schemas', () => {
    const parameters = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}',
    ) as object
    expect(JSON.stringify(ask({ tools: [tool('f', { parameters })] }).body)).toContain(JSON.stringify(parameters))
  })

  const allowed = (mode: string, ...names: string[]) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: names.map((name) => tool(name)) },
  })
  const named = (name: string) => ({ type: 'function', function: { name } })

  it.each([
    [undefined, undefined],
    ['auto', undefined],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [named('g'), { mode: 'ANY', allowedFunctionNames: ['g'] }],
    [allowed('auto', 'f'), { mode: 'VALIDATED', allowedFunctionNames: ['f'] }],
    [allowed('required', 'f', 'g'), { mode: 'ANY', allowedFunctionNames: ['f', 'g'] }],
  ])('tool_choice %j', (tool_choice, config) => {
    const { body } = ask({ tools: [tool('f'), tool('g')], ...(tool_choice && { tool_choice }) })
    expect(body['toolConfig']).toEqual(config && { functionCallingConfig: config })
    expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }])
  })

  it('enforce the schema of a strict tool', () => {
    expect(ask({ tools: [tool('f', { strict: true })] }).body['toolConfig']).toEqual({
      functionCallingConfig: { mode: 'VALIDATED' },
    })
  })

  it('omit a choice without tools', () => {
    for (const tool_choice of ['auto', 'none']) expect(ask({ tool_choice }).body).toEqual(ask().body)
  })

  it.each([
    [{ tools: [tool('f')], tool_choice: named('h') }, 'invalid_body'],
    [{ tools: [tool('f')], tool_choice: allowed('auto', 'h') }, 'invalid_body'],
    [{ tools: [tool('f')], tool_choice: allowed('auto') }, 'invalid_body'],
    [{ tools: [tool('f')], tool_choice: { type: 'allowed_tools', allowed_tools: { tools: 'f' } } }, 'invalid_body'],
    [{ tools: [tool('f')], tool_choice: { type: 'allowed_tools', allowed_tools: { tools: [null] } } }, 'invalid_body'],
    [{ tool_choice: 'required' }, 'invalid_body'],
    [{ modalities: 'text' }, 'invalid_body'],
    [{ tool_choice: named('f') }, 'invalid_body'],
    [{ tools: [tool('f')], tool_choice: { type: 'custom', custom: { name: 'f' } } }, 'unsupported_parameter'],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'unsupported_parameter'],
  ])('with %j are refused', (fields, code) => {
    expect(refusal(fields)).toMatchObject({ status: 400, code })
  })
})

describe('parameters', () => {
  const configOf = (fields: Record<string, unknown>, model?: string) => {
    const { body, notes } = ask(fields, model)
    return { config: body['generationConfig'], notes }
  }

  it('are renamed', () => {
    const fields = {
      max_tokens: 50,
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      stop: 'X',
      seed: 7,
      logprobs: true,
      top_logprobs: 2,
      modalities: ['text', 'image'],
    }
    expect(configOf(fields)).toEqual({
      config: {
        maxOutputTokens: 50,
        temperature: 0,
        topP: 0.5,
        topK: 3,
        stopSequences: ['X'],
        seed: 7,
        responseLogprobs: true,
        logprobs: 2,
        responseModalities: ['TEXT', 'IMAGE'],
      },
      notes: [],
    })
  })

  it('include penalties for models that accept them', () => {
    const fields = { frequency_penalty: 1, presence_penalty: -1 }
    expect(configOf(fields, 'gemini-2.0-flash')).toEqual({
      config: { frequencyPenalty: 1, presencePenalty: -1 },
      notes: [],
    })
    expect(configOf(fields)).toEqual({
      config: undefined,
      notes: [
        { field: 'frequency_penalty', action: 'dropped' },
        { field: 'presence_penalty', action: 'dropped' },
      ],
    })
    expect(configOf({ frequency_penalty: 0 })).toEqual({ config: undefined, notes: [] })
  })

  it.each([
    [{ max_tokens: 100, max_completion_tokens: 50 }, { maxOutputTokens: 50 }, 'max_tokens', 'dropped'],
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, { stopSequences: ['1', '2', '3', '4', '5'] }, 'stop', 'clamped'],
    [{ stop: ['', '\n'] }, { stopSequences: ['\n'] }, 'stop', 'clamped'],
    [{ stop: '' }, undefined, 'stop', 'dropped'],
    [{ seed: 4_294_967_297 }, { seed: 1 }, 'seed', 'clamped'],
    [{ top_logprobs: 2 }, undefined, 'top_logprobs', 'dropped'],
    [{ parallel_tool_calls: false }, undefined, 'parallel_tool_calls', 'dropped'],
    [{ logit_bias: { 5: 1 } }, undefined, 'logit_bias', 'dropped'],
    [{ whatever: 1 }, undefined, 'whatever', 'dropped'],
  ])('with %j are changed and reported', (fields, config, field, action) => {
    expect(configOf(fields)).toEqual({ config, notes: [{ field, action }] })
  })

  it('omit fields of the gateway, or without effect', () => {
    const { body, notes } = ask({
      provider: 'google',
      n: 2,
      stream: true,
      stream_options: { include_usage: true },
      parallel_tool_calls: true,
      user: undefined,
      stop: [],
    })
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] })
    expect(notes).toEqual([])
  })

  it('include log probabilities without alternatives', () => {
    expect(configOf({ logprobs: true, top_logprobs: 0 }).config).toEqual({ responseLogprobs: true })
    expect(configOf({ logprobs: false }).config).toBeUndefined()
  })

  it.each([
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }, true],
    ['gemini-3-flash-preview', 'low', { thinkingLevel: 'low', includeThoughts: true }, false],
    ['gemini-3.5-flash', 'max', { thinkingLevel: 'high', includeThoughts: true }, true],
    ['gemini-3.1-pro-preview', 'minimal', { thinkingLevel: 'low', includeThoughts: true }, true],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }, false],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, false],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24_576, includeThoughts: true }, false],
    ['gemini-2.5-flash', 'max', { thinkingBudget: 24_576, includeThoughts: true }, true],
    ['gemini-2.5-flash-lite', 'minimal', { thinkingBudget: 512, includeThoughts: true }, false],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }, true],
    ['gemini-2.5-pro', 'xhigh', { thinkingBudget: 32_768, includeThoughts: true }, false],
  ])('%s with effort %s has its thinking level or budget', (model, reasoning_effort, thinkingConfig, clamped) => {
    expect(configOf({ reasoning_effort }, model)).toEqual({
      config: { thinkingConfig },
      notes: clamped ? [{ field: 'reasoning_effort', action: 'clamped' }] : [],
    })
  })

  it('do not change for models without thinking', () => {
    for (const model of ['gemini-2.0-flash', 'gemma-3-27b-it', 'gemini-2.5-flash-image'])
      expect(configOf({ reasoning_effort: 'low' }, model)).toEqual({
        config: undefined,
        notes: [{ field: 'reasoning_effort', action: 'dropped' }],
      })
    expect(configOf({ reasoning_effort: 'none' }, 'gemini-2.0-flash')).toEqual({ config: undefined, notes: [] })
  })

  it('with unknown efforts and formats are refused', () => {
    for (const reasoning_effort of ['huge', 'constructor', 7])
      expect(refusal({ reasoning_effort })).toMatchObject({ status: 400, code: 'invalid_body' })
    expect(refusal({ response_format: { type: 'grammar' } })).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
    })
  })
})

describe('response_format', () => {
  const schema = { type: 'object', properties: { a: { $ref: '#' } } }
  const format = { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } }

  it('uses JSON output, with the schema unchanged', () => {
    const config = (response_format: object) => ask({ response_format }).body['generationConfig']
    expect(config({ type: 'text' })).toBeUndefined()
    expect(config({ type: 'json_object' })).toEqual({ responseMimeType: 'application/json' })
    expect(config(format)).toEqual({ responseMimeType: 'application/json', responseJsonSchema: schema })
  })

  it.each(['a'.repeat(100), [1], 5, true])('is refused with a schema that is no object: %j', (schema) => {
    const json_schema = { name: 'x', description: 'y', schema }
    expect(refusal({ response_format: { type: 'json_schema', json_schema } })).toMatchObject({
      status: 400,
      message: 'The schema of response_format is no JSON object',
    })
  })

  it('is dropped where a call is forced', () => {
    for (const model of ['gemini-3-flash-preview', 'gemini-2.5-flash']) {
      const { body, notes } = ask({ response_format: format, tools: [tool('f')], tool_choice: 'required' }, model)
      expect(notes).toEqual([{ field: 'response_format', action: 'dropped' }])
      expect(body).not.toHaveProperty('generationConfig')
      expect(body).not.toHaveProperty('systemInstruction')
    }
  })

  it('is combined with tools on Gemini 3, and described in the prompt before', () => {
    const fields = { response_format: format, tools: [tool('f')] }
    expect(ask(fields, 'gemini-3-flash-preview')).toMatchObject({
      notes: [],
      body: { generationConfig: { responseMimeType: 'application/json' } },
    })
    const { body, notes } = ask(fields)
    expect(notes).toEqual([{ field: 'response_format', action: 'emulated' }])
    expect(body['generationConfig']).toBeUndefined()
    expect(JSON.stringify(body['systemInstruction'])).toContain('JSON Schema')
    expect(ask({ response_format: { type: 'json_object' } }, 'gemma-3-27b-it').body).toEqual({
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Answer with a JSON object and nothing else, without a code fence.' }, { text: 'Hi' }],
        },
      ],
    })
  })
})
