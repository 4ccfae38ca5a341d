// Longer than 250 lines: two tables of bodies: taken and refused.
import { describe, expect, it } from 'vitest'
import { googleRefusal } from './google-rules.js'

const user = { role: 'user', parts: [{ text: 'Hi' }] }
const call = { functionCall: { name: 'f', args: {} } }
const signed = { ...call, thoughtSignature: 'x' }
const result = { functionResponse: { name: 'f', response: { output: 1 } } }
const old = 'gemini-2.5-flash'

const says = (...parts: unknown[]) => ({ contents: [{ role: 'user', parts }] })
const rounds = (calls: object[], results: object[], ...more: object[]) => ({
  contents: [user, { role: 'model', parts: calls }, { role: 'user', parts: results }, ...more],
})
const declares = (...functionDeclarations: object[]) => ({ tools: [{ functionDeclarations }] })
const parameters = (schema: object) => declares({ name: 'f', parameters: schema })
const calling = (functionCallingConfig: object) => ({
  ...declares({ name: 'f' }),
  toolConfig: { functionCallingConfig },
})
const config = (generationConfig: object) => ({ generationConfig })
const thinks = (thinkingConfig: object) => config({ thinkingConfig })
const json = { responseMimeType: 'application/json' }
const refusal = (fields: object, model = 'gemini-3-flash-preview') =>
  googleRefusal(model, { contents: [user], ...fields })
const unknown = (name: string, at: string) =>
  `Invalid JSON payload received. Unknown name "${name}" at '${at}': Cannot find field.`

describe('Google takes', () => {
  it.each<[what: string, fields: object, model?: string]>([
    ['a plain request', {}],
    ['an instruction', { systemInstruction: { parts: [{ text: 'x' }] } }],
    ['data', says({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }, { fileData: { fileUri: 'x' } })],
    ['a thought', says({ text: '', thought: true, thoughtSignature: 'x' })],
    ['a signed tool round', rounds([{ text: 'x' }, signed, call], [result, result])],
    ['ids', rounds([{ functionCall: { name: 'f', id: '1' }, thoughtSignature: 'x' }], [result])],
    ['an unsigned round of 2.5', rounds([call], [result]), old],
    ['an unsigned round of an earlier step', rounds([call], [result], { role: 'model', parts: [{ text: 'x' }] }, user)],
    [
      'functions',
      declares(
        { name: '_a.b:c-1', description: 'x', parametersJsonSchema: { type: 'object', not: {} } },
        { name: 'g' },
      ),
    ],
    [
      'a Schema',
      parameters({
        type: 'OBJECT',
        properties: {
          a: { type: 'array', items: { type: 'STRING', enum: ['x'] } },
          b: { anyOf: [{ nullable: true }] },
        },
        required: ['a'],
      }),
    ],
    ['a search', { tools: [{ googleSearch: {} }] }],
    ['AUTO', calling({ mode: 'AUTO' })],
    ['NONE', calling({ mode: 'NONE' })],
    ['an allowed name', calling({ mode: 'ANY', allowedFunctionNames: ['f'] })],
    ['a valid name', calling({ mode: 'VALIDATED', allowedFunctionNames: ['f'] })],
    ['every range at its ends', config({ temperature: 2, topP: 0, candidateCount: 8, presencePenalty: -2 })],
    ['five stops', config({ stopSequences: ['a', 'b', 'c', 'd', 'e'] })],
    ['a level', thinks({ thinkingLevel: 'low', includeThoughts: true })],
    ['a budget', thinks({ thinkingBudget: -1 }), old],
    ['JSON', config(json), old],
    ['a JSON Schema', config({ ...json, responseJsonSchema: { oneOf: [] } })],
    ['a response Schema', config({ ...json, responseSchema: { type: 'STRING' } })],
    ['JSON with functions of 3', { ...declares({ name: 'f' }), ...config(json) }],
  ])('%s', (_, fields, model) => expect(refusal(fields, model)).toBeUndefined())
})

describe('Google refuses', () => {
  it.each<[what: string, fields: object, message: string, model?: string]>([
    ['an unknown field', { stream: true }, 'Invalid JSON payload received. Unknown name "stream": Cannot find field.'],
    ['no contents', { contents: undefined }, '* GenerateContentRequest.contents: contents is not specified'],
    ['empty contents', { contents: [] }, '* GenerateContentRequest.contents: contents is not specified'],
    ['a content that is none', { contents: [1] }, "Invalid value at 'contents[0]'"],
    ['another role', { contents: [{ ...user, role: 'assistant' }] }, 'Please use a valid role: user, model.'],
    ['a field of a content', { contents: [{ ...user, name: 'x' }] }, unknown('name', 'contents[0]')],
    ['no parts', says(), '* GenerateContentRequest.contents[0].parts: contents.parts must not be empty.'],
    ['a part that is none', says('x'), "Invalid value at 'contents[0].parts[0]': expected an object."],
    ['an empty part', says({}), '* GenerateContentRequest.contents[0].parts[0].data: required oneof'],
    ['two in one part', says({ text: 'x', ...result }), "Invalid value at 'contents[0].parts[0]' (oneof)"],
    ['a field of a part', says({ text: 'x', type: 'text' }), unknown('type', 'contents[0].parts[0]')],
    ['text that is none', says({ text: 1 }), "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING)"],
    [
      'data without a kind',
      says({ inlineData: { data: 'AAAA' } }),
      '* GenerateContentRequest.contents[0].parts[0].inlineData.mimeType: must not be empty',
    ],
    [
      'a field of data',
      says({ inlineData: { mimeType: 'x', data: 'AAAA', url: 'x' } }),
      unknown('url', 'contents[0].parts[0].inlineData'),
    ],
    [
      'a file without an address',
      says({ fileData: { mimeType: 'x' } }),
      '* GenerateContentRequest.contents[0].parts[0]',
    ],
    [
      'args that are text',
      rounds([{ functionCall: { name: 'f', args: '{}' } }], [result]),
      "Invalid value at 'contents[1].parts[0].functionCall.args' (type.googleapis.com/google.protobuf.Struct)",
    ],
    [
      'a response that is a list',
      rounds([signed], [{ functionResponse: { name: 'f', response: [] } }]),
      "Invalid value at 'contents[2].parts[0].functionResponse.response'",
    ],
    ['a result too few', rounds([signed, call], [result]), 'Please ensure that the number of function response parts'],
    ['a result too many', rounds([signed], [result, result]), 'Please ensure that the number of function response'],
    [
      'results in two contents',
      rounds([signed, call], [result], { role: 'user', parts: [result] }),
      'Please ensure that the number of function response parts',
    ],
    ['a result without a call', says(result), 'Please ensure that the number of function response parts'],
    [
      'a call that comes first',
      {
        contents: [
          { role: 'model', parts: [signed] },
          { role: 'user', parts: [result] },
        ],
      },
      'Please ensure that function call turn comes immediately after a user turn',
    ],
    [
      'a call after words of the model',
      rounds([{ text: 'x' }], [signed], { role: 'user', parts: [result] }),
      'Please ensure that function call turn comes immediately after a user turn',
    ],
    ['a call at the end', { contents: [user, { role: 'model', parts: [signed] }] }, 'Please ensure that the number'],
    [
      'a result of another function',
      rounds([signed], [{ functionResponse: { name: 'g', response: {} } }]),
      'Please ensure that function response turn comes immediately after',
    ],
    ['an unsigned call', rounds([call], [result]), 'Function call is missing a thought_signature'],
    ['a late signature', rounds([call, signed], [result, result]), 'Function call is missing a thought_signature'],
    [
      'an unsigned second turn',
      rounds([signed], [result], ...rounds([call], [result]).contents.slice(1)),
      'Function call',
    ],
    ['tools that are none', { tools: {} }, "Invalid value at 'tools'"],
    ['a tool of OpenAI', { tools: [{ type: 'function' }] }, unknown('type', 'tools[0]')],
    [
      'a strict function',
      declares({ name: 'f', strict: true }),
      unknown('strict', 'tools[0].function_declarations[0]'),
    ],
    ['a function with a digit first', declares({ name: '1f' }), '* GenerateContentRequest.tools[0]'],
    ['a function with a long name', declares({ name: 'f'.repeat(129) }), '* GenerateContentRequest.tools[0]'],
    ['the same function twice', declares({ name: 'f' }, { name: 'f' }), 'Duplicate function declaration found: f'],
    [
      'both kinds of parameters',
      declares({ name: 'f', parameters: {}, parametersJsonSchema: { type: 'object' } }),
      '* GenerateContentRequest.tools[0].function_declarations[0]: parameters and parameters_json_schema are',
    ],
    [
      'parameters without a type',
      declares({ name: 'f', parametersJsonSchema: { properties: {} } }),
      'Unable to submit request because `f` functionDeclaration `parameters` schema should be of type OBJECT.',
    ],
    ...['oneOf', 'allOf', '$ref', 'const', 'additionalProperties', '$schema'].map((name): [string, object, string] => [
      `${name} in a Schema`,
      parameters({ properties: { a: { [name]: 1 } } }),
      unknown(name, 'tools[0].function_declarations[0].parameters.properties[a]'),
    ]),
    ['many types', parameters({ type: ['string', 'null'] }), 'Invalid JSON payload received. Unknown name "type"'],
    [
      'an unknown type',
      parameters({ type: 'any' }),
      "Invalid value at 'tools[0].function_declarations[0].parameters.type'",
    ],
    [
      'numbers in an enum',
      parameters({ anyOf: [{ enum: [1] }] }),
      "Invalid value at 'tools[0].function_declarations[0]",
    ],
    ['a list of nothing', parameters({ items: { type: 'ARRAY' } }), '* GenerateContentRequest.tools[0]'],
    ['an unknown name required', parameters({ required: ['a'] }), '* GenerateContentRequest.tools[0]'],
    ['a field of the config', { toolConfig: { mode: 'ANY' } }, unknown('mode', 'tool_config')],
    ['a field of calling', calling({ name: 'f' }), unknown('name', 'tool_config.function_calling_config')],
    ['a mode', calling({ mode: 'required' }), "Invalid value at 'tool_config.function_calling_config.mode'"],
    ['ANY of nothing', { ...calling({ mode: 'ANY' }), tools: undefined }, 'Function calling config is set without'],
    ['allowed names of AUTO', calling({ allowedFunctionNames: ['f'] }), 'Allowed function names should only be set'],
    ['an unknown name', calling({ mode: 'ANY', allowedFunctionNames: ['g'] }), 'Allowed function name g is not'],
    ['a field of generation', config({ max_tokens: 1 }), unknown('max_tokens', 'generation_config')],
    ['a hot temperature', config({ temperature: 2.1 }), '* GenerateContentRequest.generation_config.temperature'],
    ['a high topP', config({ topP: 1.1 }), '* GenerateContentRequest.generation_config.topP'],
    ['nine candidates', config({ candidateCount: 9 }), '* GenerateContentRequest.generation_config.candidateCount'],
    [
      'a fraction',
      config({ maxOutputTokens: 1.5 }),
      "Invalid value at 'generation_config.maxOutputTokens' (TYPE_INT32)",
    ],
    ['null for absent', config({ temperature: null }), "Invalid value at 'generation_config.temperature' (TYPE_FLOAT)"],
    ['six stops', config({ stopSequences: Array.from({ length: 6 }, () => 'x') }), '* GenerateContentRequest.'],
    ['stops that are text', config({ stopSequences: 'x' }), "Invalid value at 'generation_config.stop_sequences'"],
    ['another kind', config({ responseMimeType: 'text/html' }), '* GenerateContentRequest.generation_config.response'],
    ['a schema alone', config({ responseJsonSchema: {} }), 'A response schema is only supported with'],
    ['a Schema alone', config({ responseSchema: {} }), 'A response schema is only supported with'],
    ['both schemas', config({ ...json, responseSchema: {}, responseJsonSchema: {} }), 'Only one of response_schema'],
    [
      'a bad Schema',
      config({ ...json, responseSchema: { const: 1 } }),
      unknown('const', 'generation_config.response_schema'),
    ],
    ['JSON with a call that is demanded', { ...calling({ mode: 'ANY' }), ...config(json) }, 'Forced function calling'],
    [
      'least thought of a model that has more',
      thinks({ thinkingLevel: 'minimal' }),
      'Thinking level MINIMAL is not supported',
      'gemini-3.1-pro-preview',
    ],
    ['JSON with functions of 2.5', { ...declares({ name: 'f' }), ...config(json) }, 'Function calling with a', old],
    ['thinking both ways', thinks({ thinkingBudget: 0, thinkingLevel: 'low' }), 'You can only set only one of'],
    ['a level of 2.5', thinks({ thinkingLevel: 'low' }), 'Thinking level is not supported for this model.', old],
    [
      'a level',
      thinks({ thinkingLevel: 'none' }),
      "Invalid value at 'generation_config.thinking_config.thinking_level'",
    ],
    [
      'a budget',
      thinks({ thinkingBudget: 'x' }),
      "Invalid value at 'generation_config.thinking_config.thinking_budget'",
    ],
    [
      'a field of thinking',
      thinks({ thinking_level: 'low' }),
      unknown('thinking_level', 'generation_config.thinking_config'),
    ],
    ['an instruction that is text', { systemInstruction: 'x' }, "Invalid value at 'system_instruction'"],
    ['an empty instruction', { systemInstruction: { parts: [] } }, '* GenerateContentRequest.system_instruction.parts'],
    [
      'a picture as an instruction',
      { systemInstruction: { parts: [{ inlineData: {} }] } },
      '* GenerateContentRequest.',
    ],
  ])('%s', (_, fields, message, model) => {
    const given = refusal(fields, model)
    expect(given?.startsWith(message), given).toBe(true)
  })

  it.each([undefined, null, 'x', 1])('a body that is no object: %j', (body) =>
    expect(googleRefusal(old, body)).toBe('Invalid JSON payload received. Expected an object.'),
  )
})
