import { within } from './within.js'

/** A schema of the Standard Schema and Standard JSON Schema specifications, as zod 4.2 and `toStandardJsonSchema` of `@valibot/to-json-schema` have it. */
export interface StandardSchema<Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
    readonly jsonSchema: { readonly input: (options: { target: 'draft-07' }) => Record<string, unknown> }
  }
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] }

/** A JSON Schema of an object. What is sent to the model; of arguments, only that the `required` ones are there is checked. */
export interface JsonSchema {
  type: 'object'
  properties?: Record<string, unknown> | undefined
  required?: readonly string[] | undefined
  [keyword: string]: unknown
}

/** The arguments that a schema lets through. */
export type ArgumentsOf<S> = S extends StandardSchema<infer Output> ? Output : Record<string, unknown>

/** What an agent can do. */
export interface Tool<S extends StandardSchema | JsonSchema = StandardSchema | JsonSchema> {
  /** Letters, digits, `_` and `-`, 64 at most. */
  name: string
  /** What it does and when to use it, for the model. */
  description: string
  parameters: S
  /** Seconds that a call may take; default 60. */
  seconds?: number
  /**
   * Runs a call. What it returns is told to the model: a text as it is, anything else as JSON. So is the message of what it throws.
   * @param signal aborts when the time is over, or the task ends
   */
  run(args: ArgumentsOf<S>, options: { signal: AbortSignal }): unknown
}

/** A call that a model asks for. */
export interface Call {
  id: string
  name: string
  /** As the schema lets them through. */
  args: unknown
}

/**
 * Whether calls are run: all, none, or what a function says of each: true, or false or a reason, which the model is told. Waiting for it is not
 * counted in limits of seconds.
 */
export type Approve =
  'always' | 'never' | ((call: Call, options: { signal: AbortSignal }) => boolean | string | Promise<boolean | string>)

const TOOL_SECONDS = 60

const isStandard = (schema: StandardSchema | JsonSchema): schema is StandardSchema => '~standard' in schema

/** A tool as models are told it. @throws TypeError for a schema that tells no JSON Schema */
export function definitionOf({ name, description, parameters }: Tool) {
  if (!isStandard(parameters)) return { type: 'function' as const, function: { name, description, parameters } }
  const { jsonSchema, vendor } = parameters['~standard']
  if (!jsonSchema) throw new TypeError(`The parameters of ${name} have no JSON Schema: ${vendor} has to make one`)
  const { $schema: _, ...schema } = jsonSchema.input({ target: 'draft-07' })
  return { type: 'function' as const, function: { name, description, parameters: schema } }
}

/** The arguments of a call. @throws Error that tells the model what is wrong with them */
export async function argumentsOf({ parameters }: Tool, json: string): Promise<unknown> {
  let value: unknown
  try {
    // A call without arguments may have none at all.
    value = JSON.parse(json || '{}')
  } catch {
    throw new Error('The arguments are no JSON')
  }
  if (isStandard(parameters)) {
    const result = await parameters['~standard'].validate(value)
    if (!result.issues) return result.value
    throw new Error(`The arguments are wrong: ${result.issues.map(sentenceOf).join('; ')}`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('The arguments are no object')
  const missing = parameters.required?.filter((name) => !Object.hasOwn(value as object, name)) ?? []
  if (missing.length > 0) throw new Error(`The arguments need ${missing.join(', ')}`)
  return value
}

function sentenceOf({ message, path = [] }: { message: string; path?: readonly unknown[] | undefined }): string {
  const keys = path.map((part) => String(typeof part === 'object' && part !== null && 'key' in part ? part.key : part))
  return keys.length > 0 ? `${keys.join('.')}: ${message}` : message
}

/** What a tool returns, as a text. @throws what it throws, and Error when its time is over */
export async function resultOf({ name, seconds = TOOL_SECONDS, run }: Tool, args: never, outer: AbortSignal) {
  const late = () => new Error(`${name} took longer than ${seconds} seconds`)
  const value = await within(seconds * 1_000, late, outer, async (signal) => run(args, { signal }))
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? 'Done')
}
