import { isObject } from '@turnpike/core/helpers'
import { checkCacheControl, checkPattern, extra, namePattern } from './anthropic-blocks.js'
import type { Json, Problem } from './rules.js'
import { first, words } from './rules.js'

const unsupportedKeywords = words(
  `oneOf not minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern maxItems uniqueItems minProperties
  maxProperties prefixItems contains patternProperties propertyNames if then else dependentSchemas dependentRequired unevaluatedItems
  unevaluatedProperties`,
)
const formats = words('date-time time date duration email hostname uri ipv4 ipv6 uuid')

/** Whether a definition of a schema can be reached from itself. */
function isRecursive(root: Json): boolean {
  const definitions = ['$defs', 'definitions'].flatMap((group) =>
    Object.entries((root[group] ?? {}) as Json).map(([name, schema]) => [`#/${group}/${name}`, schema] as const),
  )
  const uses = new Map<string, string[]>(
    definitions.map(([one, schema]) => {
      const found = JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)
      return [one, [...found].map(([, reference]) => reference!)]
    }),
  )
  return definitions.some(([one]) => {
    const reached = new Set(uses.get(one))
    for (const other of reached) for (const next of uses.get(other) ?? []) reached.add(next)
    return reached.has(one)
  })
}

/** Validates a schema for structured outputs, recursively. Source: Claude's docs, "Structured outputs", JSON Schema limitations. */
export function checkSchema(schema: unknown, at: string, root: unknown = schema): Problem {
  if (!isObject(schema)) return undefined
  if (schema === root && isRecursive(schema)) return `${at}: Recursive schemas are not supported`
  const { $ref } = schema
  if ($ref !== undefined && !/^#\/(\$defs|definitions)\/[^/]+$/.test(String($ref)))
    return `${at}: '$ref' is not supported: ${String($ref)}`
  if (Array.isArray(schema['enum']) && schema['enum'].some((value) => typeof value === 'object' && value !== null))
    return `${at}: Complex types in 'enum' are not supported`
  if (Number(schema['minItems'] ?? 0) > 1) return `${at}: For 'array' type, 'minItems' must be 0 or 1`
  if (Array.isArray(schema['allOf']) && schema['allOf'].some((one) => isObject(one) && '$ref' in one))
    return `${at}: 'allOf' with '$ref' is not supported`
  const { type, format, properties, items, additionalProperties } = schema
  const keyword = Object.keys(schema).find((name) => unsupportedKeywords.includes(name))
  if (keyword) return `${at}: For '${String(type)}' type, property '${keyword}' is not supported`
  if (format !== undefined && !formats.includes(format as string))
    return `${at}: For 'string' type, format '${String(format)}' is not supported`
  if ((type === 'object' || (Array.isArray(type) && type.includes('object'))) && additionalProperties !== false)
    return `${at}: For 'object' type, 'additionalProperties' must be explicitly set to false`
  const named = [properties, schema['$defs'], schema['definitions']].flatMap((group) =>
    isObject(group) ? Object.values(group) : [],
  )
  const listed = [schema['anyOf'], schema['allOf']].flatMap((group) => (Array.isArray(group) ? group : []))
  return first([items, ...named, ...listed], (inner) => checkSchema(inner, at, root))
}

/** Counts in a schema the properties that are not required, and the schemas of several types. */
function complexityOf(schema: unknown): { optional: number; unions: number } {
  const total = { optional: 0, unions: 0 }
  if (typeof schema !== 'object' || schema === null) return total
  const { properties, required = [], anyOf, type } = schema as Json
  if (isObject(properties))
    total.optional += Object.keys(properties).filter((name) => !(required as unknown[]).includes(name)).length
  if (Array.isArray(anyOf) || (Array.isArray(type) && type.length > 1)) total.unions++
  for (const { optional, unions } of Object.values(schema).map(complexityOf)) {
    total.optional += optional
    total.unions += unions
  }
  return total
}

/** The limits of all enforced schemas of a request together. Source: Claude's docs, "Structured outputs", schema complexity limits. */
export function checkComplexity({ tools, output_config }: Json): Problem {
  const strict = Array.isArray(tools) ? (tools as Json[]).filter((tool) => tool['strict'] === true) : []
  const { format } = (output_config ?? {}) as { format?: Json }
  const { optional, unions } = complexityOf([strict.map((tool) => tool['input_schema']), format?.['schema']])
  if (optional > 24)
    return `Schemas contains too many optional parameters (${optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: 24).`
  if (unions > 16)
    return `Schemas contains too many parameters with union types (${unions} parameters with type arrays or anyOf) which exceeds the limit: 16.`
  return undefined
}

const toolFields = words(
  'type name description input_schema cache_control strict eager_input_streaming defer_loading allowed_callers input_examples',
)

export function checkTools(tools: unknown, version: number): Problem {
  if (!Array.isArray(tools)) return tools === undefined ? undefined : 'tools: Input should be a valid list'
  if (!tools.every(isObject)) return 'tools: Input should be a valid dictionary'
  const names = tools.map((tool) => tool['name'])
  return (
    first(tools, (tool, i) => {
      const at = `tools.${i}.custom`
      const { type = 'custom', name, input_schema, cache_control, strict } = tool
      if (type !== 'custom') return `tools.${i}: Input tag '${String(type)}' does not match any of the expected tags`
      if (strict === true && version < 4.5) return `${at}.strict: strict tools are not supported by this model`
      return (
        extra(tool, toolFields, `${at}.`) ??
        checkPattern(name, namePattern, `${at}.name`) ??
        checkCacheControl(cache_control, `${at}.cache_control`) ??
        (isObject(input_schema) ? undefined : `${at}.input_schema: Field required`) ??
        ((input_schema as Json)['type'] === 'object'
          ? undefined
          : `${at}.input_schema.type: Input should be 'object'`) ??
        (['oneOf', 'allOf', 'anyOf'].some((keyword) => keyword in (input_schema as Json))
          ? `${at}.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level`
          : undefined) ??
        (strict === true ? checkSchema(input_schema, `${at}.input_schema`) : undefined)
      )
    }) ??
    (new Set(names).size < names.length ? 'tools: Tool names must be unique.' : undefined) ??
    (tools.filter(({ strict }) => strict === true).length > 20
      ? 'Too many strict tools; at most 20 are supported.'
      : undefined)
  )
}

const choiceFields: Record<string, string[]> = {
  auto: ['type', 'disable_parallel_tool_use'],
  any: ['type', 'disable_parallel_tool_use'],
  tool: ['type', 'name', 'disable_parallel_tool_use'],
  none: ['type'],
}

export function checkToolChoice({ tool_choice, tools }: Json): Problem {
  if (tool_choice === undefined) return undefined
  const { type, name } = isObject(tool_choice) ? tool_choice : {}
  const fields = choiceFields[type as string]
  if (!isObject(tool_choice) || !fields)
    return "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'tool', 'none'"
  if (!Array.isArray(tools) || tools.length === 0) return 'tool_choice may only be specified while providing tools.'
  if (type === 'tool' && !(tools as Json[]).some((tool) => tool['name'] === name))
    return `Tool '${String(name)}' not found in provided tools`
  return extra(tool_choice, fields, `tool_choice.${type as string}.`)
}
