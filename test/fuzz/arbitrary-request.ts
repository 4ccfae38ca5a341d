import type { ChatCompletionRequest } from '@turnpike/core'
import * as fc from 'fast-check'

/** Any text that JSON can carry, blank and broken ones among it. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.constantFrom('Hello', '', ' ', '\n', '\ud800', '\u0000', '{"a":1}', '[1]', '"x"'),
)
const names = ['look_up', 'json', 'a', '_private', 'with-dash']
const name = fc.constantFrom(...names)

/** A JSON Schema with most of what the language has. */
const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record(
      {
        type: fc.constant('string'),
        enum: fc.constant(['x', 'y']),
        minLength: fc.nat(9),
        format: fc.constantFrom('date', 'odd'),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constantFrom('integer', 'number'), minimum: fc.integer() }, { requiredKeys: ['type'] }),
    fc.record({ type: fc.constant(['string', 'null']), description: text }, { requiredKeys: ['type'] }),
    fc.record(
      { type: fc.constant('array'), items: tie('schema'), maxItems: fc.nat(9) },
      { requiredKeys: ['type', 'items'] },
    ),
    fc.record({ anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record({ oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }) }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('p', 'q', '__proto__', 'constructor'), tie('schema'), { maxKeys: 3 }),
        additionalProperties: fc.boolean(),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
  ),
}))
const parameters = fc.record(
  {
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom('p', 'q', 'r'), schema, { maxKeys: 3 }),
    additionalProperties: fc.boolean(),
    $schema: fc.constant('http://json-schema.org/draft-07/schema#'),
  },
  { requiredKeys: ['type', 'properties'] },
)

const tool = fc.record(
  {
    name,
    description: text,
    parameters: fc.oneof(parameters, fc.constant({})),
    strict: fc.boolean(),
  },
  { requiredKeys: ['name'] },
)
const tools = fc
  .uniqueArray(tool, { selector: (one) => one.name, maxLength: 3 })
  .map((all) => all.map((one) => ({ type: 'function', function: one })))

const part = fc.oneof(
  text.map((value) => ({ type: 'text', text: value })),
  fc
    .constantFrom(
      'data:image/png;base64,iVBORw0=',
      'data:image/jpg;base64,/9j/',
      'https://example.com/a.png',
      'http://10.0.0.1/',
    )
    .map((url) => ({ type: 'image_url', image_url: { url } })),
  fc.constant({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }),
  fc.constant({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }),
)
const content = fc.oneof({ arbitrary: text, weight: 3 }, { arbitrary: fc.array(part, { maxLength: 3 }), weight: 1 })
const id = fc.oneof(fc.constantFrom('call_1', 'call_2', 'call.1:2', 'function-call-0'), fc.string({ maxLength: 60 }))
const args = fc.oneof(
  {
    arbitrary: fc.dictionary(fc.constantFrom('p', '__proto__'), fc.jsonValue()).map((value) => JSON.stringify(value)),
    weight: 9,
  },
  { arbitrary: fc.constantFrom('', '{}', '[1]', '{bad'), weight: 1 },
)

/** A turn of the conversation: something said, or calls with their results, in any order. */
const turn = fc.oneof(
  content.map((said) => [{ role: 'user', content: said }]),
  text.map((said) => [{ role: 'assistant', content: said }]),
  fc.tuple(fc.constantFrom('system', 'developer'), text).map(([role, said]) => [{ role, content: said }]),
  fc
    .tuple(
      fc.option(text),
      fc.uniqueArray(fc.tuple(id, name, args, text), { selector: ([one]) => one, minLength: 1, maxLength: 3 }),
      fc.boolean(),
    )
    .map(([said, calls, reverse]) => {
      const results = calls.map(([tool_call_id, , , result]) => ({ role: 'tool', tool_call_id, content: result }))
      return [
        {
          role: 'assistant',
          content: said,
          tool_calls: calls.map(([callId, called, text]) => ({
            id: callId,
            type: 'function',
            function: { name: called, arguments: text },
          })),
        },
        ...(reverse ? results.toReversed() : results),
      ]
    }),
)

const options = fc.record(
  {
    system: text,
    stream: fc.boolean(),
    max_tokens: fc.integer({ min: 1, max: 200_000 }),
    max_completion_tokens: fc.integer({ min: 1, max: 200_000 }),
    temperature: fc.double({ min: 0, max: 2, noNaN: true }),
    top_p: fc.double({ min: 0, max: 1, noNaN: true }),
    stop: fc.oneof(text, fc.array(text, { maxLength: 6 })),
    tools,
    tool_choice: fc.oneof(
      fc.constantFrom('auto', 'none', 'required'),
      name.map((one) => ({ type: 'function', function: { name: one } })),
    ),
    parallel_tool_calls: fc.boolean(),
    response_format: fc.oneof(
      fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
      parameters.map((one) => ({ type: 'json_schema', json_schema: { name: 'answer', schema: one } })),
    ),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    user: text,
    seed: fc.integer(),
    logit_bias: fc.constant({ 1: 2 }),
    frequency_penalty: fc.double({ min: -2, max: 2, noNaN: true }),
    logprobs: fc.boolean(),
    n: fc.integer({ min: 1, max: 4 }),
    made_up: fc.jsonValue(),
  },
  { requiredKeys: [] },
)

/** Any request that the gateway would let pass to a model of the family. It ends with the user, because newer models refuse to go on by themselves. */
export const arbitraryRequest = (models: string[]): fc.Arbitrary<ChatCompletionRequest> =>
  fc
    .tuple(fc.constantFrom(...models), fc.array(turn, { maxLength: 5 }), fc.boolean(), options)
    .map(([model, turns, asks, given]) => {
      const messages = turns.flat()
      const last = messages.at(-1)?.role
      if (asks || (last !== 'user' && last !== 'tool')) messages.push({ role: 'user', content: 'Go on' })
      return { model, messages, ...given } as ChatCompletionRequest
    })
