/**
 * What is left out of requests after an upstream refused parameters with 400 or 422.
 * @module
 */
import type { ChatCompletionRequest, Note, ToolDefinition } from '@turnpike/core'
import { extend, isObject, sha256 } from '@turnpike/core/helpers'
import { isOfCaller } from './callers-words.js'
import { formatInWords } from '../requests/format-in-words.js'
import { documented } from './parameter-names.js'
import { EFFORT_BESIDE_TOOLS, refusalsIn, valueWords } from './parameter-wordings.js'

/**
 * What is left out of requests: a field of OpenAI's form, or a field with one value (`reasoning_effort=minimal`). `schemas=…` stands for all schemas
 * of a request that an upstream would have to enforce, by their digest.
 */
export type Loss = string

/** The value by which a field with documented values is refused. */
const valueOf = (request: object, field: string): unknown => {
  const value = (request as Record<string, unknown>)[field]
  return field === 'response_format' ? (value as { type?: unknown } | undefined)?.type : value
}

/** What is documented below fields that are left out as a whole: anything else there may be what is refused, and is a caller's. */
const documentedBelow: Record<string, readonly string[] | undefined> = {
  stream_options: ['include_usage', 'include_obfuscation'],
  response_format: ['type', 'json_schema'],
}

/** Whether a request has something below a field that is not documented. */
function hasUndocumented(request: object, field: string): boolean {
  const value = (request as Record<string, unknown>)[field]
  const names = documentedBelow[field]
  return names !== undefined && isObject(value) && Object.keys(value).some((name) => !names.includes(name))
}

/** Schemas of which there is no digest: they are left out of the request that was refused, and not learnt. */
export const UNKNOWN_SCHEMAS: Loss = 'schemas='

/**
 * The loss of the schemas of a request, by their digest, which nobody can make other schemas have. It is made only where some were too large, and
 * where hashing is synchronous, as on Node, Bun and Workers with `nodejs_compat`.
 */
function lossOfSchemas({ tools, ...request }: Record<string, unknown>): Loss {
  const digest = sha256(JSON.stringify([request['response_format'], tools]))
  return typeof digest === 'string' ? `schemas=${digest}` : UNKNOWN_SCHEMAS
}

/** The two names of the limit. One that is refused is sent by the other, so that only the later of two refusals can be true. */
export const otherLimit: Record<Loss, Loss> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
}

/**
 * What to leave out of a request after a refusal; undefined where nothing can be, because it refuses something else, or where the words are in the
 * request: then the answer only repeats them (docs/decisions/044).
 * @param answer the body of an answer with 400 or 422
 */
export function lossesBy(answer: string, request: { model: string }): Loss[] | undefined {
  const { text, said } = refusalsIn(answer)
  const isOfValue = valueWords.test(text)
  const refused = new Map<string, boolean>()
  for (const { fields, ofValue = isOfValue } of said) {
    if (!fields) return undefined
    for (const field of fields) refused.set(field, ofValue)
  }
  const losses: Loss[] = []
  for (const [field, ofValue] of refused) {
    // The limit is sent by its other name, if the upstream has that: without one, an answer could cost anything.
    if (field === 'max_tokens' && !text.includes('max_completion_tokens')) return undefined
    // `strict` is within the format.
    if (hasUndocumented(request, field === 'strict' ? 'response_format' : field)) return undefined
    const values = documented[field]
    if (field === 'schemas') losses.push(lossOfSchemas(request))
    else if (!values || !(field === 'response_format' || ofValue)) losses.push(field)
    else {
      const value = valueOf(request, field)
      if (value === undefined) continue
      if (!values.includes(value as string)) return undefined
      losses.push(`${field}=${String(value)}`)
    }
  }
  if (losses.length === 0 || Object.keys(otherLimit).every((field) => refused.has(field))) return undefined
  const words = said.flatMap((one) => one.words)
  return isOfCaller(words, request) ? undefined : losses
}

const withoutStrict = (tool: ToolDefinition): ToolDefinition =>
  tool.type === 'function' && tool.function['strict'] !== undefined
    ? extend(tool, { function: extend(tool.function, { strict: undefined }) })
    : tool

/** A chat request without what its upstream refuses, with a note for each field. The request itself where nothing is left out. */
export function withoutLosses(
  request: ChatCompletionRequest,
  losses: readonly Loss[],
): { request: ChatCompletionRequest; notes: Note[] } {
  const notes: Note[] = []
  const note = (field: string, action: Note['action']): void => void notes.push({ field, action })
  let left = request
  let own: Loss | undefined
  const set = (more: Record<string, unknown>): void => void (left = extend(left, more))
  const tellFormat = (): void => {
    note('response_format', 'emulated')
    left = formatInWords(left)
  }
  const dropStrict = (): void => {
    const tools = left.tools?.map(withoutStrict)
    if (tools?.some((tool, index) => tool !== left.tools![index])) {
      note('tools.function.strict', 'dropped')
      set({ tools })
    }
  }
  for (const loss of losses) {
    const [field = '', value] = loss.split('=')
    if (loss === EFFORT_BESIDE_TOOLS) {
      if (left['reasoning_effort'] === 'none' || !left.tools?.some(({ type }) => type === 'function')) continue
      note('reasoning_effort', 'clamped')
      set({ reasoning_effort: 'none' })
    } else if (field === 'schemas') {
      if (loss !== (own ??= lossOfSchemas(request))) continue
      if (valueOf(left, 'response_format') === 'json_schema') tellFormat()
      dropStrict()
    } else if (field === 'strict') {
      dropStrict()
      const format = left['response_format'] as { json_schema?: { strict?: unknown } } | undefined
      if (isObject(format?.json_schema) && format.json_schema['strict'] !== undefined) {
        note('response_format.json_schema.strict', 'dropped')
        set({ response_format: extend(format, { json_schema: extend(format.json_schema, { strict: undefined }) }) })
      }
    } else if (field === 'stream_options') {
      // The adapter asks for the usage of every stream, and leaves it out.
      if (left.stream) note(field, 'dropped')
    } else if (otherLimit[field]) {
      const other = otherLimit[field]
      if (left[field]) set({ [other]: left[other] ?? left[field], [field]: undefined })
    } else if (left[field] !== undefined && (value === undefined || valueOf(left, field) === value)) {
      if (field === 'response_format') tellFormat()
      else {
        note(field, 'dropped')
        set({ [field]: undefined })
      }
    }
  }
  return { request: left, notes }
}
