import type { ChatCompletionRequest, Note } from '@turnpike/core'
import type { JsonCount } from '@turnpike/core/helpers'
import { excess, extend, isObject } from '@turnpike/core/helpers'
import { invalid, JSON_DEPTH, unsupported } from '@turnpike/core/internal'
import { parseJson } from '../upstream/json.js'

/** Records what was done to a field. */
export type NoteDown = (field: string, action: Note['action']) => void

/** Fields of the gateway, and fields that every adapter translates. */
const everywhere = ['model', 'messages', 'system', 'provider', 'stream', 'stream_options', 'n']

/** Fields that are translated for both Claude and Gemini. */
export const sharedFields = [
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
]

/** What a model that continues no assistant message is told in its place, as a turn of the user. */
export const GO_ON = 'Go on exactly where your last message ends, without repeating any of it.'

/**
 * Starts the notes of a request with each dropped field: those neither in `read` nor handled for all families.
 * @example const { notes, note } = takeNotes(request, new Set(['model', 'messages']))
 */
export function takeNotes(request: object, read: ReadonlySet<string>): { notes: Note[]; note: NoteDown } {
  const notes: Note[] = []
  const note: NoteDown = (field, action) => void notes.push({ field, action })
  for (const [field, value] of Object.entries(request))
    if (!read.has(field) && !everywhere.includes(field) && value !== undefined) note(field, 'dropped')
  return { notes, note }
}

/** `response_format`. */
export type ResponseFormat =
  { type: 'text' } | { type: 'json_object' } | { type: 'json_schema'; json_schema: { schema: unknown } }

/** The requested `response_format`; a `json_schema` without schema becomes `json_object`, and its description a part of the schema. @throws ApiError 400 for an unknown type */
export function formatOf(request: ChatCompletionRequest): ResponseFormat {
  const format = (request['response_format'] ?? { type: 'text' }) as ResponseFormat
  if (!['text', 'json_object', 'json_schema'].includes(format.type))
    throw unsupported('There is no such response_format')
  if (format.type !== 'json_schema') return format
  const { schema, description } = (format.json_schema ?? {}) as { schema?: unknown; description?: unknown }
  if (!schema) return { type: 'json_object' }
  // A text would become an object of its characters.
  if (!isObject(schema)) throw invalid('The schema of response_format is no JSON object')
  return { type: 'json_schema', json_schema: { schema: description ? extend({ description }, schema) : schema } }
}

/** The values of `reasoning_effort`, the least first. */
export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

/** The nearest effort of those that a model takes; of two equally near ones the higher, as in Google's own compatible API. */
export const nearestEffort = (effort: Effort, taken: readonly Effort[]): Effort => {
  const distance = (one: Effort): number => Math.abs(efforts.indexOf(one) - efforts.indexOf(effort))
  return taken.reduce((best, one) => (distance(one) <= distance(best) ? one : best))
}

/** `reasoning_effort`; undefined if not set. @throws ApiError 400 for an unknown value */
export function effortOf(request: ChatCompletionRequest): Effort | undefined {
  const effort = request['reasoning_effort'] as Effort | undefined
  if (effort === undefined) return undefined
  if (!efforts.includes(effort)) throw invalid(`reasoning_effort must be one of ${efforts.join(', ')}`)
  return effort
}

/** `stop` as a list, reduced to what the family accepts, with a note of what is left out; undefined if nothing is left. */
export function stopsOf(
  { stop }: ChatCompletionRequest,
  accepted: (given: string[]) => string[],
  note: NoteDown,
): string[] | undefined {
  const given = typeof stop === 'string' ? [stop] : (stop ?? [])
  const taken = accepted(given)
  if (taken.length < given.length) note('stop', taken.length === 0 ? 'dropped' : 'clamped')
  return taken.length > 0 ? taken : undefined
}

/**
 * Parses the arguments of a tool call; empty ones and null become `{}`.
 * @param count of the arguments of the whole request
 * @throws ApiError 400 if they are not a JSON object, or too much
 */
export function parseArguments(name: string, text: string, count: JsonCount): object {
  const tooMuch = excess(text, JSON_DEPTH, count)
  if (tooMuch) throw invalid(`The JSON of the arguments of "${name}" ${tooMuch}`)
  const value = text.trim() === '' ? null : parseJson(text)
  if (value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(`The arguments of "${name}" are no JSON object`)
  return value as object
}

/** Parses a `tool_choice` of type `allowed_tools`: the allowed names, and whether a call is required. */
export function allowedTools(choice: Record<string, unknown> | null): {
  names: Set<string | undefined>
  required: boolean
} {
  const { mode, tools } = (choice?.['allowed_tools'] ?? {}) as { mode?: unknown; tools?: unknown }
  const list = (Array.isArray(tools) ? tools : []) as ({ function?: { name?: string } } | null)[]
  return { names: new Set(list.map((tool) => tool?.function?.name)), required: mode === 'required' }
}
