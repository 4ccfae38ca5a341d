import type { ChatCompletionRequest, ToolDefinition } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import { invalid, unsupported } from '@turnpike/core/internal'
import type { UpstreamRequest } from '../adapter.js'
import { toInstruction } from '../requests/format-in-words.js'
import type { Effort, NoteDown } from '../requests/request-fields.js'
import {
  allowedTools,
  effortOf,
  formatOf,
  nearestEffort,
  sharedFields,
  stopsOf,
  takeNotes,
} from '../requests/request-fields.js'
import type { Conversation, Part } from './content.js'
import { toConversation } from './content.js'
import type { Traits } from './models.js'
import { refuseLive, toPath, traitsOf } from './models.js'
import type { SchemaCount } from './schema.js'
import { toSchema } from './schema.js'

/** Maximum number of stop sequences. */
const STOPS = 5

/** Thinking budget in tokens for each effort. The values are ours; the provider defines none. */
const budgets: Record<Effort, number> = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 32_768,
  max: 32_768,
}

/** The request fields that are translated. */
const read = new Set([
  ...sharedFields,
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'logprobs',
  'top_logprobs',
  'modalities',
])

interface Declaration {
  name: string
  description: string | undefined
  /** The caller's JSON Schema. A root without `type` would be rejected. */
  parametersJsonSchema: object | undefined
}

function toDeclaration(tool: ToolDefinition, changes: Set<string>, count: SchemaCount): Declaration {
  if (tool.type === 'custom') throw unsupported('Gemini has no custom tools')
  const { name, description, parameters } = tool.function
  const { schema, looser } = toSchema(parameters ?? {}, count)
  if (looser) changes.add('tools')
  return {
    name,
    description: description ?? undefined,
    parametersJsonSchema: parameters ? { type: 'object', ...schema } : undefined,
  }
}

interface CallingConfig {
  mode: 'AUTO' | 'ANY' | 'NONE' | 'VALIDATED'
  allowedFunctionNames?: string[]
}

/** Translates `tool_choice`; undefined if the model decides. */
function toCallingConfig(request: ChatCompletionRequest, declared: Declaration[]): CallingConfig | undefined {
  const { tools, tool_choice: choice = 'auto' } = request
  const known = new Set(declared.map(({ name }) => name))
  const named = (name: string | undefined): string => {
    if (name !== undefined && known.has(name)) return name
    throw invalid(`tool_choice names "${name}", which is no tool`)
  }
  if (typeof choice === 'object') {
    if (choice?.type === 'function') {
      const { name } = choice.function as { name: string }
      return { mode: 'ANY', allowedFunctionNames: [named(name)] }
    }
    if (choice?.type !== 'allowed_tools') throw unsupported('Gemini has no custom tools')
    const { names, required } = allowedTools(choice)
    if (names.size === 0) throw invalid('tool_choice allows none of the tools')
    return { mode: required ? 'ANY' : 'VALIDATED', allowedFunctionNames: Array.from(names, named) }
  }
  if (declared.length === 0) {
    if (choice === 'required') throw invalid('tool_choice needs tools')
    return undefined
  }
  if (choice === 'required') return { mode: 'ANY' }
  if (choice === 'none') return { mode: 'NONE' }
  const strict = tools?.some((tool) => tool.type === 'function' && tool.function['strict'] === true)
  return strict ? { mode: 'VALIDATED' } : undefined
}

/** Translates `reasoning_effort` to what the model supports, and requests thoughts unless the effort is `none`. */
function toThinking(request: ChatCompletionRequest, { thinking }: Traits, note: NoteDown): object | undefined {
  const effort = effortOf(request)
  if (effort === undefined) return undefined
  const includeThoughts = effort === 'none' ? undefined : true
  if (!thinking) {
    if (includeThoughts) note('reasoning_effort', 'dropped')
    return undefined
  }
  if (thinking.by === 'level') {
    const thinkingLevel = nearestEffort(effort, thinking.levels)
    if (thinkingLevel !== effort) note('reasoning_effort', 'clamped')
    return { thinkingLevel, includeThoughts }
  }
  const { least, most, off } = thinking
  const wanted = budgets[effort]
  const thinkingBudget = wanted === 0 && off ? 0 : Math.min(most, Math.max(least, wanted))
  if (thinkingBudget !== wanted) note('reasoning_effort', 'clamped')
  return { thinkingBudget, includeThoughts }
}

interface Format {
  responseMimeType?: string
  responseJsonSchema?: unknown
  /** Instruction that emulates the JSON mode on models without it. */
  instruction?: string
}

function toFormat(request: ChatCompletionRequest, hasJsonMode: boolean, forced: boolean, note: NoteDown): Format {
  const format = formatOf(request)
  if (format.type === 'text') return {}
  if (forced) {
    // With a forced call there is no text for `response_format` to apply to, and Gemini rejects the combination.
    note('response_format', 'dropped')
    return {}
  }
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined
  if (hasJsonMode) {
    const fit = isObject(schema) ? toSchema(schema) : undefined
    if (fit?.looser) note('response_format', 'clamped')
    return { responseMimeType: 'application/json', responseJsonSchema: fit?.schema }
  }
  note('response_format', 'emulated')
  return { instruction: toInstruction(format) }
}

/** Whether a model that makes images refuses a part. */
const isRefused = ({ inlineData }: Part, { noVideo }: Traits): boolean => {
  const { mimeType = '' } = inlineData ?? {}
  return mimeType.startsWith('audio/') || (mimeType.startsWith('video/') && noVideo)
}

const acceptedStops = (given: string[]): string[] => given.filter((text) => text !== '').slice(0, STOPS)

/** Truncates the seed to 32 bits, the maximum that Gemini accepts. */
function toSeed(seed: unknown, note: NoteDown): unknown {
  if (!Number.isInteger(seed) || (seed as number) === ((seed as number) | 0)) return seed
  note('seed', 'clamped')
  return (seed as number) | 0
}

function toGenerationConfig(request: ChatCompletionRequest, traits: Traits, note: NoteDown): Record<string, unknown> {
  const { max_tokens, max_completion_tokens, modalities, logprobs, top_logprobs } = request
  if (max_completion_tokens !== undefined && max_tokens !== undefined) note('max_tokens', 'dropped')
  if (top_logprobs !== undefined && logprobs !== true) note('top_logprobs', 'dropped')
  const isListOfTexts = Array.isArray(modalities) && modalities.every((word) => typeof word === 'string')
  if (modalities !== undefined && !isListOfTexts) throw invalid('modalities must be a list of texts')
  const penalty = (field: string): unknown => {
    // 0 is the default.
    if (traits.penalties || !request[field]) return request[field] || undefined
    note(field, 'dropped')
    return undefined
  }
  const sampling = (field: string): unknown => {
    if (traits.sampling || request[field] === undefined) return request[field]
    note(field, 'dropped')
    return undefined
  }
  return {
    maxOutputTokens: max_completion_tokens ?? max_tokens,
    temperature: sampling('temperature'),
    topP: sampling('top_p'),
    topK: sampling('top_k'),
    stopSequences: stopsOf(request, acceptedStops, note),
    seed: toSeed(request['seed'], note),
    frequencyPenalty: penalty('frequency_penalty'),
    presencePenalty: penalty('presence_penalty'),
    responseLogprobs: logprobs === true ? true : undefined,
    logprobs: (logprobs === true && top_logprobs) || undefined,
    responseModalities: modalities?.map((word) => word.toUpperCase()),
    thinkingConfig: toThinking(request, traits, note),
  }
}

/** Moves the system instruction to the start of the first user content, for models that do not support it. */
function prefix({ system, contents }: Conversation): void {
  const first = contents[0]!
  if (first.role === 'user') first.parts = [...system, ...first.parts]
  else contents.unshift({ role: 'user', parts: system })
}

/**
 * Builds a request of generateContent.
 * @param name the upstream's own name of the model
 * @throws ApiError 400 for what it does not support
 */
export function toRequest(request: ChatCompletionRequest, name = request.model): UpstreamRequest {
  const { notes, note } = takeNotes(request, read)
  // Parallel calls cannot be disabled.
  if (request['parallel_tool_calls'] === false) note('parallel_tool_calls', 'dropped')

  refuseLive(request.model)
  const path = toPath(name, request.stream ? 'streamGenerateContent?alt=sse' : 'generateContent')
  const traits = traitsOf(request.model)
  const conversation = toConversation(request, traits)
  const { system, contents, dropped, emulated } = conversation
  if (
    request.tools?.some((tool) => tool['cache_control'] ?? (tool.type === 'function' && tool.function['cache_control']))
  )
    dropped.add('tools.cache_control')
  for (const field of dropped) note(field, 'dropped')
  if (emulated) note('messages', 'emulated')

  const changes = new Set<string>()
  const count: SchemaCount = { found: 0 }
  const declarations = (request.tools ?? []).map((tool) => toDeclaration(tool, changes, count))
  for (const field of changes) note(field, 'clamped')
  if (traits.image && declarations.length > 0) throw unsupported('Models of Gemini that make images call no tools')
  if (traits.image && contents.some(({ parts }) => parts.some((part) => isRefused(part, traits))))
    throw unsupported('Models of Gemini that make images take no audio, and most of them no video')
  const callingConfig = toCallingConfig(request, declarations)
  const hasJsonMode = !traits.image && (traits.gemini3 || (!traits.gemma && declarations.length === 0))
  const forced = callingConfig?.mode === 'ANY'
  const { instruction, responseMimeType, responseJsonSchema } = toFormat(request, hasJsonMode, forced, note)
  if (instruction) system.push({ text: instruction })
  if (traits.gemma && system.length > 0) prefix(conversation)

  const generationConfig = toGenerationConfig(request, traits, note)
  generationConfig['responseMimeType'] = responseMimeType
  generationConfig['responseJsonSchema'] = responseJsonSchema
  // Undefined fields are not sent.
  const body = {
    systemInstruction: system.length > 0 && !traits.gemma ? { parts: system } : undefined,
    contents,
    tools: declarations.length > 0 ? [{ functionDeclarations: declarations }] : undefined,
    toolConfig: callingConfig && { functionCallingConfig: callingConfig },
    generationConfig: Object.values(generationConfig).some((value) => value !== undefined)
      ? generationConfig
      : undefined,
  }
  return { path, body, notes, maxOutput: generationConfig['maxOutputTokens'] as number | undefined }
}
