import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import { getDescription } from 'valibot'
import { ConfigSchema } from './src/config/schema.js'

/** `${NAME}` may stand for any value. */
const reference = { type: 'string', pattern: String.raw`\$\{` }

/** The JSON Schema of a configuration's file, for editors: its settings, their kinds and descriptions. What only code can give is not in it. */
export function configJsonSchema(): object {
  // Variables can give the providers.
  const { required: _, ...schema } = toJsonSchema(ConfigSchema, {
    target: 'draft-07',
    typeMode: 'input',
    // What a text must be like is checked once variables stand in it.
    ignoreActions: ['check', 'regex', 'min_length', 'non_empty', 'transform', 'to_lower_case', 'finite'],
    overrideSchema({ valibotSchema, jsonSchema }) {
      const { type } = valibotSchema
      if (type === 'custom') return { not: {} }
      if (type === 'picklist') return { anyOf: [jsonSchema, reference as object] }
      // What follows a transformation is not of the input.
      const description =
        type === 'exact_optional'
          ? getDescription((valibotSchema as unknown as { wrapped: GenericSchema }).wrapped)
          : undefined
      if (description !== undefined) return { ...jsonSchema, description }
      return undefined
    },
  })
  return schema
}
