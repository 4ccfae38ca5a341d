import type { ChatCompletionRequest } from '@turnpike/core'
import type { UpstreamRequest } from '../adapter.js'
import { toInstruction } from '../requests/format-in-words.js'
import type { Effort, NoteDown } from '../requests/request-fields.js'
import { effortOf, formatOf, sharedFields, stopsOf, takeNotes } from '../requests/request-fields.js'
import type { Conversation } from './content.js'
import { isThought, refused, toConversation } from './content.js'
import type { Traits } from './models.js'
import { traitsOf } from './models.js'
import { MOST_COMPLEX, strictSchema, withRoot } from './schema.js'
import type { Choice } from './tools.js'
import { inputSchema, isEnforced, isForced, jsonTool, toTools } from './tools.js'

/** Default of `max_tokens` for an answer that is not streamed. */
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

/** The request fields that are translated. */
const read = new Set([...sharedFields, 'user', 'safety_identifier', 'service_tier'])

/** Service tiers that Claude has, by OpenAI's names and its own. */
const tiers = new Set(['auto', 'default', 'standard_only'])

/** Removes blank stop sequences, which the API rejects. */
const acceptedStops = (given: string[]): string[] => given.filter((text) => text.trim() !== '')

interface Thinking {
  thinking?: {
    type: 'adaptive' | 'enabled' | 'disabled' | 'between_tools'
    display?: string | undefined
    budget_tokens?: number
    block_binding?: object
  }
  effort?: string
  maxTokens: number
}

/** The tokens of an answer: those that a request asks for, or by default. */
interface AnswerTokens {
  tokens: number
  asked: boolean
}

/** Translates `reasoning_effort`. A budget raises `max_tokens`, and so does any thinking where the request has none. */
function toThinking(
  effort: Effort | undefined,
  traits: Traits,
  forced: boolean,
  continuesTurn: boolean,
  { tokens, asked }: AnswerTokens,
  note: NoteDown,
): Thinking {
  const most = traits.maxOutput ?? Infinity
  const withRoom = (room: string): number => (asked ? tokens : Math.min(most, tokens + budgets[room]!))
  const off = traits.unthinking && { type: traits.unthinking }
  // The API rejects thinking with a forced call. Models whose thinking cannot be turned off do not think before such a call.
  if (forced) {
    if (effort !== undefined && effort !== 'none') note('reasoning_effort', 'dropped')
    return { ...(traits.thinksByDefault && off && { thinking: off }), maxTokens: tokens }
  }
  if (effort === undefined) return { maxTokens: traits.thinksByDefault ? withRoom('high') : tokens }
  if (effort === 'none' && off) return { ...(traits.thinking !== 'none' && { thinking: off }), maxTokens: tokens }
  // The API rejects a budget in a turn that is continued without its earlier thoughts.
  if (traits.thinking === 'none' || (continuesTurn && traits.thinking === 'budget')) {
    note('reasoning_effort', 'dropped')
    return { maxTokens: tokens }
  }
  if (traits.thinking === 'effort') {
    const least = effort === 'none' || effort === 'minimal'
    const known = least ? 'low' : effort === 'xhigh' && !traits.xhigh ? 'max' : effort
    if (known !== effort) note('reasoning_effort', 'clamped')
    // Models after 4.6 omit their thoughts by default.
    const display = effort === 'none' ? undefined : 'summarized'
    return { thinking: { type: 'adaptive', display }, effort: known, maxTokens: withRoom(known) }
  }
  // max_tokens may reduce the budget, but not below half of the model's maximum: the other half is enough for any answer.
  const budget = Math.min(budgets[effort]!, Math.max(most - tokens, most / 2))
  return { thinking: { type: 'enabled', budget_tokens: budget }, maxTokens: Math.min(most, tokens + budget) }
}

function toAnswerTokens(request: ChatCompletionRequest, { maxOutput }: Traits, note: NoteDown): AnswerTokens {
  const { max_tokens, max_completion_tokens } = request
  if (max_tokens && max_completion_tokens) note('max_tokens', 'dropped')
  const wanted = max_completion_tokens || max_tokens
  if (!wanted) {
    const most = maxOutput ?? UNKNOWN_OUTPUT
    return { tokens: request.stream ? most : Math.min(most, DEFAULT_OUTPUT), asked: false }
  }
  if (maxOutput === undefined || wanted <= maxOutput) return { tokens: wanted, asked: true }
  note(max_completion_tokens ? 'max_completion_tokens' : 'max_tokens', 'clamped')
  return { tokens: maxOutput, asked: true }
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

/** The beta in which a request can have thoughts whose preceding conversation changed left out, where it would fail (Claude's docs, "Preserved thinking"). */
const BINDING = {
  headers: { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' },
  block_binding: { prefix_mismatch_behavior: 'drop_block' },
}

/**
 * Builds a request of the Messages API.
 * @param maxOutput the maximum output tokens of a model that the adapter does not know
 * @param ownOutput those of any model, as the configuration says
 * @throws ApiError 400 for what it does not support
 */
export function toRequest(request: ChatCompletionRequest, maxOutput?: number, ownOutput?: number): UpstreamRequest {
  const { notes, note } = takeNotes(request, read)

  const traits = traitsOf(request.model, maxOutput)
  traits.maxOutput = ownOutput ?? traits.maxOutput
  const format = formatOf(request)
  const schema = format.type === 'json_schema' ? format.json_schema.schema : undefined
  const left = { ...MOST_COMPLEX }
  const enforced = schema !== undefined && isEnforced(schema, traits, left)

  // An enforced schema and a message to continue exclude each other.
  const conversation: Conversation = toConversation(request, traits.prefill && !enforced)
  const { system, called, continuesTurn, dropped, emulated, thoughtFields } = conversation
  if (emulated) note('messages', 'emulated')
  const { tools, choice: chosen } = toTools(request, called, traits, left, note)
  let choice = chosen

  const tool = jsonTool(request)
  if (tool) {
    const root = withRoot(schema as Record<string, unknown>)
    if (root['type'] !== 'object') throw refused('a JSON Schema whose root is no object')
    note('response_format', 'emulated')
    tools.push({ name: tool, input_schema: inputSchema(root, 'a JSON Schema') })
    const only: Choice = choice?.type === 'none' ? { type: 'tool', name: tool } : { type: 'any' }
    choice = { ...only, disable_parallel_tool_use: true }
  } else if (schema && !enforced && traits.forced) note('response_format', 'dropped')
  else if (format.type !== 'text' && !enforced) {
    note('response_format', 'emulated')
    system.push({ type: 'text', text: toInstruction(format) })
  }

  const planned = toThinking(
    effortOf(request),
    traits,
    isForced(choice),
    continuesTurn,
    toAnswerTokens(request, traits, note),
    note,
  )
  const { effort, maxTokens } = planned
  let { thinking } = planned
  const told = thinking?.type === 'adaptive' || thinking?.type === 'enabled'
  const thinks = told || (thinking === undefined && traits.thinksByDefault)
  const { messages } = conversation
  if (!thinks && thoughtFields.size > 0) {
    for (const message of messages) message.content = message.content.filter((block) => !isThought(block))
    for (const field of thoughtFields) dropped.add(field)
  }
  for (const field of dropped) note(field, 'dropped')
  const bound = thinks && traits.bound && thoughtFields.size > 0
  if (bound) thinking = { type: 'adaptive', ...thinking, block_binding: BINDING.block_binding }

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
    ...toSampling(request, traits, told, note),
  }
  return { path: '/v1/messages', body, notes, maxOutput: maxTokens, headers: bound ? BINDING.headers : undefined }
}
