import { isObject } from '@turnpike/core/helpers'
import { known } from './google-fields.js'
import type { Json, Problem } from './rules.js'
import { first, words } from './rules.js'

/** The fields of Google's own Schema; other JSON Schema keywords are unknown to it. */
const schemaFields = words(
  `type format title description nullable enum items minItems maxItems properties required minProperties maxProperties minimum maximum minLength
  maxLength pattern example anyOf propertyOrdering default`,
)

export function checkSchema(schema: unknown, at: string): Problem {
  const problem = known(schema, schemaFields, at)
  if (problem || schema === undefined) return problem
  const { type, enum: allowed = [], items, properties = {}, required = [], anyOf = [] } = schema as Json
  if (Array.isArray(type))
    return `Invalid JSON payload received. Unknown name "type" at '${at}': Proto field is not repeating, cannot start list.`
  if (type !== undefined && !/^(string|number|integer|boolean|array|object|null)$/i.test(String(type)))
    return `Invalid value at '${at}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), "${String(type)}"`
  if (!(allowed as unknown[]).every((value) => typeof value === 'string'))
    return `Invalid value at '${at}.enum' (TYPE_STRING)`
  if (/^array$/i.test(String(type)) && items === undefined)
    return `* GenerateContentRequest.${at}.items: missing field.`
  const stray = (required as string[]).findIndex((name) => !Object.hasOwn(properties as Json, name))
  if (stray >= 0) return `* GenerateContentRequest.${at}.required[${stray}]: property is not defined`
  return (
    first(Object.entries(properties as Json), ([name, inner]) => checkSchema(inner, `${at}.properties[${name}]`)) ??
    first(anyOf as unknown[], (inner, i) => checkSchema(inner, `${at}.any_of[${i}]`)) ??
    checkSchema(items, `${at}.items`)
  )
}

/** The schemas within a JSON Schema, and whether each is a required property. */
function innerSchemas(schema: Json): [inner: Json, isRequired: boolean | undefined][] {
  const { properties = {}, $defs = {}, definitions = {}, required = [], items, additionalProperties, ...rest } = schema
  const lists = ['anyOf', 'oneOf', 'allOf', 'prefixItems'].flatMap((name) => (rest[name] ?? []) as unknown[])
  const others = [
    items,
    additionalProperties,
    ...lists,
    ...Object.values({ ...($defs as Json), ...(definitions as Json) }),
  ]
  return [
    ...Object.entries(properties as Json).map(
      ([name, inner]) => [inner, (required as string[]).includes(name)] as const,
    ),
    ...others.map((inner) => [inner, undefined] as const),
  ].filter((one): one is [Json, boolean | undefined] => isObject(one[0]))
}

/**
 * References of a JSON Schema (`responseJsonSchema`, `parametersJsonSchema`): definitions are in `$defs`, `$ref` has no siblings but those with
 * `$`, and circular ones are within properties that are not required.
 */
export function checkReferences(root: unknown): Problem {
  if (!isObject(root)) return undefined
  const defs = (root['$defs'] ?? {}) as Record<string, Json>
  const nameOf = ({ $ref }: Json): string | undefined =>
    /^#\/\$defs\/(.+)$/.exec(String($ref))?.[1] ?? (($ref === '#' && '#') || undefined)
  const bodyOf = (name: string): Json => {
    const { $defs: _, ...own } = root
    return name === '#' ? own : (defs[name] ?? {})
  }
  /** What a schema leads to by required properties, and by what is no property. */
  const hard = (schema: Json, found: Set<string>): Set<string> => {
    const name = nameOf(schema)
    if (name !== undefined && !found.has(name)) hard(bodyOf(name), found.add(name))
    for (const [inner, isRequired] of innerSchemas(schema)) if (isRequired !== false) hard(inner, found)
    return found
  }
  const check = (schema: Json): Problem => {
    if (schema['definitions'] !== undefined) return 'Invalid JSON schema: unknown keyword "definitions".'
    const { $ref } = schema
    if (typeof $ref === 'string' && Object.keys(schema).some((keyword) => !keyword.startsWith('$')))
      return `Invalid JSON schema: "$ref" (${$ref}) must not have other properties.`
    return first(innerSchemas(schema), ([inner]) => check(inner))
  }
  const circle = ['#', ...Object.keys(defs)].find((name) => hard(bodyOf(name), new Set()).has(name))
  return check(root) ?? (circle && `Invalid JSON schema: circular reference in required properties of ${circle}.`)
}

const toolFields = words(
  'functionDeclarations googleSearch googleSearchRetrieval codeExecution urlContext computerUse fileSearch googleMaps mcpServers',
)
const declarationFields = words('name description behavior parameters parametersJsonSchema response responseJsonSchema')

export function checkTools(tools: unknown): Problem {
  if (!Array.isArray(tools)) return tools === undefined ? undefined : "Invalid value at 'tools'"
  const names: unknown[] = []
  return first(tools, (tool, i) => {
    const problem = known(tool, toolFields, `tools[${i}]`)
    if (problem) return problem
    return first(((tool as Json)['functionDeclarations'] ?? []) as unknown[], (declaration, k) => {
      const at = `tools[${i}].function_declarations[${k}]`
      const unknownField = known(declaration, declarationFields, at)
      if (unknownField) return unknownField
      const { name, parameters, parametersJsonSchema } = declaration as Json
      if (typeof name !== 'string' || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name))
        return `* GenerateContentRequest.${at}.name: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.`
      if (names.includes(name)) return `Duplicate function declaration found: ${name}`
      names.push(name)
      if (isObject(parametersJsonSchema) && parametersJsonSchema['type'] !== 'object')
        return `Unable to submit request because \`${name}\` functionDeclaration \`parameters\` schema should be of type OBJECT.`
      return parameters !== undefined && parametersJsonSchema !== undefined
        ? `* GenerateContentRequest.${at}: parameters and parameters_json_schema are mutually exclusive.`
        : (checkSchema(parameters, `${at}.parameters`) ?? checkReferences(parametersJsonSchema))
    })
  })
}

/** The names of all functions that a request declares. */
export const declared = (tools: unknown): unknown[] =>
  ((tools ?? []) as Json[])
    .flatMap((tool) => (tool['functionDeclarations'] ?? []) as Json[])
    .map((declaration) => declaration['name'])

export function checkToolConfig({ toolConfig = {}, tools }: Json): Problem {
  const problem = known(toolConfig, ['functionCallingConfig', 'retrievalConfig'], 'tool_config')
  if (problem) return problem
  const at = 'tool_config.function_calling_config'
  const config = (toolConfig as Json)['functionCallingConfig'] ?? {}
  const unknownField = known(config, ['mode', 'allowedFunctionNames'], at)
  if (unknownField) return unknownField
  const { mode = 'AUTO', allowedFunctionNames: allowed } = config as Json
  if (!['AUTO', 'NONE', 'ANY', 'VALIDATED'].includes(mode as string))
    return `Invalid value at '${at}.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), "${String(mode)}"`
  if (mode === 'ANY' && declared(tools).length === 0)
    return 'Function calling config is set without function_declarations.'
  if (allowed === undefined) return undefined
  if (mode !== 'ANY' && mode !== 'VALIDATED')
    return 'Allowed function names should only be set when the function calling mode is ANY or VALIDATED.'
  return first(allowed as unknown[], (name) =>
    declared(tools).includes(name) ? undefined : `Allowed function name ${String(name)} is not declared.`,
  )
}
