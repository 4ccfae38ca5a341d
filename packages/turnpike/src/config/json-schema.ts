import { toJsonSchema } from '@valibot/to-json-schema'
import { Config } from './schema.js'

/** `${NAME}` may stand for any value. */
const reference = { type: 'string', pattern: String.raw`\$\{` }

/** The JSON Schema of a configuration's file, for editors: its settings, their kinds and descriptions. What only code can give is not in it. */
export function configJsonSchema(): object {
  // Variables can give the providers.
  const { required: _, ...schema } = toJsonSchema(Config, {
    target: 'draft-07',
    typeMode: 'input',
    // What a text must be like is checked once variables stand in it.
    ignoreActions: ['check', 'regex', 'min_length', 'non_empty', 'transform', 'finite'],
    overrideSchema({ valibotSchema: { type }, jsonSchema }) {
      if (type === 'custom') return { not: {} }
      if (type === 'picklist') return { anyOf: [jsonSchema, reference as object] }
      return undefined
    },
  })
  return schema
}
