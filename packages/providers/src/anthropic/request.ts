import type { ChatCompletionRequest } from '@turnpike/core'
import type { UpstreamRequest } from '../adapter.js'
import type { Effort, NoteDown } from '../request-fields.js'
import { effortOf, formatOf, sharedFields, stopsOf, takeNotes } from '../request-fields.js'
import type { Conversation } from './content.js'
import { refused, toConversation } from './content.js'
import type { Traits } from './models.js'
import { traitsOf } from './models.js'
import { strictSchema } from './schema.js'
import type { Choice } from './tools.js'
import { inputSchema, isEnforced, jsonTool, toTools } from './tools.js'

/** Default of `max_tokens` for an answer that is not streamed (ruling 23). */
const DEFAULT_OUTPUT = 8_192
/** The same for models whose maximum is unknown, streamed or not. */
const UNKNOWN_OUTPUT = 4_096

/** Thinking budget in tokens for each effort. The values are ours; the provider defines none. */
const budgets: Record<string, number> = {
  minimal: 1_024,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
}

const JSON_ONLY = 'Answer with a JSON object and nothing else.'

/** The request fields that are translated. */
const read = new Set([...sharedFields, 'user', 'safety_identifier', 'service_tier'])

/** Service tiers that Claude has, by OpenAI's names and its own. */
const tiers = new Set(['auto', 'default', 'standard_only'])

/** Removes blank stop sequences, which the API rejects. */
const acceptedStops = (given: string[]): string[] => given.filter((text) => text.trim() !== '')

interface Thinking {
  thinking?:
    | { type: 'disabled' }
    | { type: 'adaptive'; display: string | undefined }
    | { type: 'enabled'; budget_tokens: number }
  effort?: string
  maxTokens: number
}

/** Translates `reasoning_effort`, and raises `max_tokens` by the thinking budget. */
function toThinking(
  effort: Effort | undefined,
  traits: Traits,
  forced: boolean,
  continuesTurn: boolean,
  maxTokens: number,
  note: NoteDown,
): Thinking {
  if (effort === undefined || (effort === 'none' && traits.thinking === 'none')) return { maxTokens }
  if (effort === 'none' && !traits.alwaysThinks) return { thinking: { type: 'disabled' }, maxTokens }
  // The API rejects thinking with a forced tool call, and a budget in a turn that is continued without its earlier thoughts.
  if (traits.thinking === 'none' || forced || (continuesTurn && traits.thinking === 'budget')) {
    note('reasoning_effort', 'dropped')
    return { maxTokens }
  }
  if (traits.thinking === 'effort') {
    const least = effort === 'none' || effort === 'minimal'
    const known = least ? 'low' : effort === 'xhigh' && !traits.xhigh ? 'max' : effort
    if (known !== effort) note('reasoning_effort', 'clamped')
    // Models after 4.6 omit their thoughts by default.
    const display = effort === 'none' ? undefined : 'summarized'
    return { thinking: { type: 'adaptive', display }, effort: known, maxTokens }
  }
  const most = traits.maxOutput ?? Infinity
  // max_tokens may reduce the budget, but not below half of the model's maximum: the other half is enough for any answer.
  const budget = Math.min(budgets[effort]!, Math.max(most - maxTokens, most / 2))
  return { thinking: { type: 'enabled', budget_tokens: budget }, maxTokens: Math.min(most, maxTokens + budget) }
}

function toMaxTokens(request: ChatCompletionRequest, { maxOutput }: Traits, note: NoteDown): number {
  const { max_tokens, max_completion_tokens } = request
  if (max_tokens && max_completion_tokens) note('max_tokens', 'dropped')
  const wanted = max_completion_tokens || max_tokens
  if (!wanted) {
    const most = maxOutput ?? UNKNOWN_OUTPUT
    return request.stream ? most : Math.min(most, DEFAULT_OUTPUT)
  }
  if (maxOutput === undefined || wanted <= maxOutput) return wanted
  note(max_completion_tokens ? 'max_completion_tokens' : 'max_tokens', 'clamped')
  return maxOutput
}

/** The sampling parameters that the model accepts. */
function toSampling(
  request: ChatCompletionRequest,
  traits: Traits,
  thinks: boolean,
  note: NoteDown,
): Pick<ChatCompletionRequest, 'temperature' | 'top_p' | 'top_k'> {
  /** Passes the value on if accepted; otherwise drops it, with a note if it differs from the default. */
  const take = (field: 'temperature' | 'top_p' | 'top_k', taken: boolean, preset?: number) => {
    const value = request[field]
    if (taken) return value
    if ((value ?? preset) !== preset) note(field, 'dropped')
    return undefined
  }
  const free = traits.sampling && !thinks
  const over = free && request.temperature! > 1
  if (over) note('temperature', 'clamped')
  return {
    temperature: over ? 1 : take('temperature', free, 1),
    top_p: take('top_p', free && (traits.bothSamplings || request.temperature === undefined), 1),
    top_k: take('top_k', free),
  }
}

/** The id of the end user. E-mail addresses are dropped: the provider asks for opaque ids. */
function toUserId(request: ChatCompletionRequest, note: NoteDown): string | undefined {
  const field = request['safety_identifier'] !== undefined ? 'safety_identifier' : 'user'
  const id = request[field]
  if (typeof id !== 'string' || id === '') return undefined
  if (!id.includes('@')) return id
  note(field, 'dropped')
  return undefined
}

/**
 * Builds a request of the Messages API.
 * @param told the maximum output tokens of a model that the adapter does not know
 * @throws ApiError 400 for what it does not support
 */
export function toRequest(request: ChatCompletionRequest, told?: number): UpstreamRequest {
  const { notes, note } = takeNotes(request, read)

  const traits = traitsOf(request.model, told)
  const { system, messages, called, continuesTurn, dropped, emulated }: Conversation = toConversation(request)
  for (const field of dropped) note(field, 'dropped')
  if (emulated) note('messages', 'emulated')
  const { tools, choice: chosen } = toTools(request, called, traits, note)
  let choice = chosen

  const format = formatOf(request)
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined
  const enforced = schema !== undefined && isEnforced(schema, traits)
  const tool = jsonTool(request)
  if (tool) {
    if ((schema as { type?: unknown }).type !== 'object') throw refused('a JSON Schema whose root is no object')
    note('response_format', 'emulated')
    tools.push({ name: tool, input_schema: inputSchema(schema as object, 'a JSON Schema') })
    const only: Choice = choice?.type === 'none' ? { type: 'tool', name: tool } : { type: 'any' }
    choice = { ...only, disable_parallel_tool_use: true }
  } else if (schema && !enforced) note('response_format', 'dropped')
  if (format.type === 'json_object') {
    note('response_format', 'emulated')
    system.push({ type: 'text', text: JSON_ONLY })
  }

  const forced = choice?.type === 'any' || choice?.type === 'tool'
  const { thinking, effort, maxTokens } = toThinking(
    effortOf(request),
    traits,
    forced,
    continuesTurn,
    toMaxTokens(request, traits, note),
    note,
  )
  const thinks = thinking !== undefined && thinking.type !== 'disabled'
  const userId = toUserId(request, note)
  const tier = request['service_tier'] as string | undefined
  // Claude's other tiers are bought in advance or asked for in other ways.
  if (tier && !tiers.has(tier)) note('service_tier', 'clamped')
  const strict = enforced ? { type: 'json_schema', schema: strictSchema(schema) } : undefined

  // Undefined fields are not sent.
  const body = {
    model: request.model,
    max_tokens: maxTokens,
    system: system.length > 0 ? system : undefined,
    messages,
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: choice,
    stop_sequences: stopsOf(request, acceptedStops, note),
    thinking,
    output_config: effort || strict ? { effort, format: strict } : undefined,
    metadata: userId ? { user_id: userId } : undefined,
    service_tier: tier && (tier === 'auto' ? tier : 'standard_only'),
    stream: request.stream || undefined,
    ...toSampling(request, traits, thinks, note),
  }
  return { path: '/v1/messages', body, notes, maxOutput: maxTokens }
}
