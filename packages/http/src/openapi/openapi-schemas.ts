import type { ConversionConfig, JsonSchema } from '@valibot/to-json-schema'
import { toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'

/** A schema that the document lists by name under `components`. */
export interface Component {
  schema: GenericSchema
  /** The fields that the specification defines; all others are marked `x-convention`. Absent: the whole schema is marked. */
  shown?: readonly string[]
}

/** Marks what the specification does not define. */
export const OURS = { 'x-convention': true }

/**
 * A pattern that the engines of Python, Go, Java and JavaScript all read, with and without flags: control characters as ranges of `\x`. Surrogates
 * and format characters, which not all of them can name, are left to the server.
 */
const portable = ({ source }: RegExp): string =>
  source.replaceAll(String.raw`\p{Cc}`, String.raw`\x00-\x1f\x7f-\x9f`).replace(/\\p\{C[sf]\}/g, '')

/** `custom` schemas and function checks have no JSON Schema equivalent; `metadata` in the same pipe describes them. */
const config: ConversionConfig = {
  target: 'draft-2020-12',
  // Query parameters are described by their parsed type. Schemas of bodies do not transform, so for them input and output are the same.
  typeMode: 'output',
  ignoreActions: ['check'],
  overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  overrideAction({ valibotAction, jsonSchema }) {
    const { type, requirement } = valibotAction as { type: string; requirement?: unknown }
    return type === 'regex' && requirement instanceof RegExp
      ? { ...jsonSchema, pattern: portable(requirement) }
      : undefined
  },
  overrideSchema({ valibotSchema: { type }, jsonSchema }) {
    if (type === 'custom') return {}
    if (type === 'loose_object') return { ...jsonSchema, additionalProperties: true }
    return undefined
  },
}

type Components = Record<string, Component>

const schemasOf = (components: Components) =>
  Object.fromEntries(Object.entries(components).map(([name, { schema }]) => [name, schema]))

/** The named schemas as JSON Schema. @throws if a schema lacks a field that the specification defines */
export function namedSchemas(components: Components): Record<string, JsonSchema> {
  const schemas = toJsonSchemaDefs(schemasOf(components), config)
  for (const [name, { shown }] of Object.entries(components)) {
    const schema = schemas[name]!
    if (!shown) {
      Object.assign(schema, OURS)
      continue
    }
    const { properties = {} } = schema
    const missing = shown.find((field) => !(field in properties))
    if (missing !== undefined) throw new Error(`The schema ${name} has no field ${missing}`)
    for (const [field, part] of Object.entries(properties)) if (!shown.includes(field)) Object.assign(part, OURS)
  }
  return schemas
}

/** Creates a converter for the schemas of routes: named schemas become a `$ref`, all others are inlined and marked `x-convention`. */
export function schemaConverter(components: Components) {
  const definitions = schemasOf(components)
  const names = new Map(Object.entries(definitions).map(([name, schema]) => [schema, name]))
  return (schema: GenericSchema): JsonSchema => {
    const name = names.get(schema)
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
    const { $defs: _, $schema: __, ...converted } = toJsonSchema(schema, { ...config, definitions })
    return { ...converted, ...OURS }
  }
}

/** The schemas of path or query parameters, by name. */
export function parameterSchemas(
  schema: GenericSchema | undefined,
): [name: string, schema: object, required: boolean][] {
  const { properties = {}, required = [] } = schema ? toJsonSchema(schema, config) : {}
  return Object.entries(properties).map(([name, value]) => [name, value as object, required.includes(name)])
}
