import * as fc from 'fast-check'

/** Any text that JSON can carry, blank and broken ones among it. */
export const text = fc.oneof(
  { arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), weight: 4 },
  { arbitrary: fc.constantFrom('Hello', '', ' ', '\n', '\ud800', '\u0000', '{"a":1}', '[1]', '"x"'), weight: 1 },
)
export const name = fc.constantFrom('look_up', 'json', 'a', '_private', 'with-dash')

/** A value, or in its place `null` or nothing. */
export const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof({ arbitrary: value, weight: 6 }, { arbitrary: fc.constantFrom(null, undefined), weight: 4 })

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

export const objectSchema = fc.record(
  {
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom('p', 'q', 'r'), schema, { maxKeys: 3 }),
    additionalProperties: fc.boolean(),
    $schema: fc.constant('http://json-schema.org/draft-07/schema#'),
  },
  { requiredKeys: ['type', 'properties'] },
)

const unique = <T extends { name: string }>(definition: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.uniqueArray(definition, { selector: (one) => one.name, minLength: 1, maxLength: 3 })
const schemas = fc.oneof(objectSchema, fc.constant({}))
const definitions = unique(
  fc.record({ name, description: maybe(text), parameters: maybe(schemas), strict: maybe(fc.boolean()) }),
)
const functions = unique(fc.record({ name, description: text, parameters: schemas }, { requiredKeys: ['name'] }))

const functionOf = (name: string) => ({ type: 'function', function: { name } })
/** A tool of free text. */
const custom = { type: 'custom', custom: { name: 'free' } }

/**
 * Tools, or the functions of old, and which of them to call.
 * @param foreign whether it is for other families than OpenAI, which have no custom tools
 */
export const toolset = (foreign: boolean, cached: fc.Arbitrary<object>): fc.Arbitrary<object> =>
  fc.oneof(
    {
      arbitrary: fc
        .tuple(
          definitions,
          fc.constantFrom(
            undefined,
            'auto',
            'none',
            'required',
            'function',
            'may',
            'must',
            ...(foreign ? [] : ['free']),
          ),
          maybe(fc.boolean()),
          cached,
        )
        .map(([all, choice, parallel_tool_calls, mark]) => {
          const last = all.at(-1)!.name
          const allow = (mode: string) => ({
            type: 'allowed_tools',
            allowed_tools: { mode, tools: [functionOf(last)] },
          })
          const choices: Record<string, unknown> = {
            function: functionOf(last),
            may: allow('auto'),
            must: allow('required'),
            free: 'auto',
          }
          return {
            tools: [
              ...all.map((one, i) => ({ type: 'function', function: one, ...(i === 0 && mark) })),
              ...(choice === 'free' ? [custom] : []),
            ],
            tool_choice: choices[choice!] ?? choice,
            parallel_tool_calls,
          }
        }),
      weight: 12,
    },
    {
      arbitrary: fc.tuple(functions, fc.constantFrom(undefined, 'auto', 'none', 'function')).map(([all, choice]) => ({
        functions: all,
        function_call: choice === 'function' ? { name: all[0]!.name } : choice,
      })),
      weight: 7,
    },
    { arbitrary: fc.constant({}), weight: 1 },
  )
