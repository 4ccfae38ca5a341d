import { isObject } from '@turnpike/core/helpers'
import { checkCacheControl, checkContent, extra } from './anthropic-blocks.js'
import { checkComplexity, checkSchema, checkToolChoice, checkTools } from './anthropic-tool-rules.js'
import type { Json, NumberRange, Problem } from './rules.js'
import { first, words } from './rules.js'

/** The version in a Claude model id, in the spelling of any server: 4.5 for `claude-haiku-4-5-20251001`; NaN for other ids, so that all comparisons fail. */
const versionOf = (model: string): number => {
  if (/claude-[a-z]+-latest$/.test(model)) return Infinity
  const [, major, minor = '0'] = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?/.exec(model) ?? []
  return Number(`${major}.${minor}`)
}

/** All parameters of the vendor's MessageCreateParams; others are rejected. */
const parameters = words(
  `model messages max_tokens cache_control container inference_geo metadata output_config service_tier stop_sequences stream system temperature
  thinking tool_choice tools top_k top_p`,
)

const blocksOf = (message: Json | undefined, type: string): Json[] => {
  const content = message?.['content']
  return Array.isArray(content) ? (content as Json[]).filter((block) => block['type'] === type) : []
}

function checkMessages(messages: unknown): Problem {
  if (messages === undefined) return 'messages: Field required'
  if (!Array.isArray(messages)) return 'messages: Input should be a valid list'
  if (messages.length === 0) return 'messages: at least one message is required'
  return first(messages as unknown[], (message, i) => {
    if (!isObject(message)) return `messages.${i}: Input should be a valid dictionary`
    const { role, content } = message
    if (role !== 'user' && role !== 'assistant') return `messages.${i}.role: Input should be 'user' or 'assistant'`
    if (Array.isArray(content) && content.length === 0) return `messages.${i}: all messages must have non-empty content`
    return extra(message, ['role', 'content'], `messages.${i}.`) ?? checkContent(content, role, `messages.${i}.content`)
  })
}

/** Each call needs one result at the start of the next user message, and each result a preceding call. */
function checkRounds(messages: Json[], tools: unknown): Problem {
  const seen = new Set<unknown>()
  const resultsOf = (message: Json | undefined): unknown[] =>
    blocksOf(message, 'tool_result').map((block) => block['tool_use_id'])
  return first(messages, (message, i) => {
    const previous = new Set(blocksOf(messages[i - 1], 'tool_use').map((block) => block['id']))
    // The second result of a call is one of none.
    const stray = resultsOf(message).find((id) => !previous.delete(id))
    if (stray !== undefined)
      return `messages.${i}.content: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(stray)}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`
    const calls = blocksOf(message, 'tool_use').map((block) => block['id'])
    for (const id of calls) {
      if (seen.has(id)) return 'messages: `tool_use` ids must be unique'
      seen.add(id)
    }
    const head = ((messages[i + 1]?.['content'] ?? []) as Json[]).slice(0, calls.length)
    const answered = new Set(resultsOf({ content: head }))
    const open = calls.filter((id) => !answered.has(id))
    if (open.length > 0)
      return `messages.${i}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`
    return calls.length > 0 && !(Array.isArray(tools) && tools.length > 0)
      ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.'
      : undefined
  })
}

function checkPrefill(messages: Json[], version: number): Problem {
  const { role, content } = messages.at(-1)!
  if (role !== 'assistant') return undefined
  if (version >= 4.6)
    return 'This model does not support assistant message prefill. The conversation must end with a user message.'
  const text = Array.isArray(content) ? (content as Json[]).at(-1)!['text'] : content
  return typeof text === 'string' && /\s$/.test(text)
    ? 'messages: final assistant content cannot end with trailing whitespace'
    : undefined
}

const ranges: NumberRange[] = [
  ['max_tokens', 1, 1e9, true],
  ['temperature', 0, 1, false],
  ['top_p', 0, 1, false],
  ['top_k', 0, 1e9, true],
]

function checkSampling(body: Json, version: number): Problem {
  const { temperature, top_p, top_k } = body
  const problem = first(ranges, ([name, min, max, integer]) => {
    const value = body[name]
    if (value === undefined) return undefined
    if (typeof value !== 'number' || (integer && !Number.isInteger(value)))
      return `${name}: Input should be a valid ${integer ? 'integer' : 'number'}`
    if (value < min) return `${name}: Input should be greater than or equal to ${min}`
    return value > max ? `${name}: Input should be less than or equal to ${max}` : undefined
  })
  if (problem) return problem
  if (version > 4.6) {
    if (temperature !== undefined && temperature !== 1) return '`temperature` is deprecated for this model.'
    if (top_p !== undefined && (top_p as number) < 0.99) return '`top_p` is deprecated for this model.'
    if (top_k !== undefined) return '`top_k` is deprecated for this model.'
  }
  return version >= 4.1 && temperature !== undefined && top_p !== undefined
    ? '`temperature` and `top_p` cannot both be specified for this model. Please use only one.'
    : undefined
}

const thinkingFields: Record<string, string[]> = {
  adaptive: ['type', 'display'],
  between_tools: ['type'],
  disabled: ['type'],
  enabled: ['type', 'budget_tokens', 'display'],
}

/** The beta of the field `block_binding` of `thinking`. */
const BINDING_BETA = 'thinking-binding-controls-2026-08-01'

/** Whether a model refuses a type of thinking. Source: Claude's docs, "Troubleshooting thinking", and the migration guides of Sonnet 5.5 and Haiku 5.5. */
function refusesThinking(type: unknown, model: string, version: number): boolean {
  const later = version > 5
  const sonnet = model.includes('sonnet')
  if (type === 'enabled') return version > 4.6
  if (type === 'between_tools') return !(later && sonnet)
  if (type !== 'disabled') return false
  return later ? !model.includes('haiku') : /fable|mythos/.test(model)
}

/** The first block of the assistant turn that comes last and is continued, by tool results or as it is. */
function continued(messages: Json[]): Json | undefined {
  const isResult = (message: Json) => blocksOf(message, 'tool_result').length > 0
  const last = messages.at(-1)!
  if (last['role'] !== 'assistant' && !isResult(last)) return undefined
  const asked = messages.findLastIndex((message) => message['role'] === 'user' && !isResult(message))
  const content = messages[asked + 1]?.['content']
  return Array.isArray(content) ? (content as Json[])[0] : undefined
}

function checkThinking(body: Json, version: number, betas: string[]): Problem {
  const { model, thinking, temperature, top_p, top_k, tool_choice, max_tokens, messages } = body
  const forced = isObject(tool_choice) && tool_choice['type'] !== 'auto' && tool_choice['type'] !== 'none'
  const name = model as string
  if (forced && version > 5 && !name.includes('haiku'))
    return 'tool_choice: type "tool" and "any" are not supported for this model.'
  if (thinking === undefined) {
    const thinks = version === 5 && !/fable|mythos/.test(name)
    return forced && thinks ? 'Thinking may not be enabled when tool_choice forces tool use.' : undefined
  }
  const { type, budget_tokens } = isObject(thinking) ? thinking : {}
  const fields = thinkingFields[type as string]
  if (!isObject(thinking) || !fields)
    return "thinking: Input tag does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'"
  const binds = betas.includes(BINDING_BETA) && (type === 'adaptive' || type === 'enabled')
  const problem = extra(thinking, binds ? [...fields, 'block_binding'] : fields, `thinking.${type as string}.`)
  if (problem) return problem
  if (refusesThinking(type, name, version)) return `"thinking.type.${type as string}" is not supported for this model.`
  if (type === 'disabled' || type === 'between_tools') return undefined
  if (type === 'adaptive' && version < 4.6) return 'adaptive thinking is not supported on this model'
  if (type === 'enabled' && !(Number.isInteger(budget_tokens) && (budget_tokens as number) >= 1024))
    return 'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024'
  if (type === 'enabled' && (budget_tokens as number) >= (max_tokens as number))
    return '`max_tokens` must be greater than `thinking.budget_tokens`.'
  if (temperature !== undefined && temperature !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.'
  if (top_p !== undefined && (top_p as number) < 0.95)
    return '`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.'
  if (top_k !== undefined) return '`top_k` must be unset when thinking is enabled.'
  if (forced) return 'Thinking may not be enabled when tool_choice forces tool use.'
  const opening = continued(messages as Json[])
  return type === 'enabled' && opening && !(opening['type'] as string).endsWith('thinking')
    ? `Expected \`thinking\` or \`redacted_thinking\`, but found \`${opening['type'] as string}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`
    : undefined
}

function checkOutput({ output_config, model, thinking, messages }: Json, version: number): Problem {
  if (output_config === undefined) return undefined
  if (!isObject(output_config)) return 'output_config: Input should be a valid dictionary'
  const { effort, format } = output_config
  if (effort !== undefined) {
    if (!['low', 'medium', 'high', 'xhigh', 'max'].includes(effort as string))
      return "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"
    if (version < 4.6 && !/claude-opus-4[-.]5/.test(model as string))
      return 'This model does not support the effort parameter.'
    if (effort === 'xhigh' && version <= 4.6) return "This model does not support effort level 'xhigh'."
    const type = isObject(thinking) ? thinking['type'] : undefined
    const unthinking = type === 'between_tools' || (type === 'disabled' && /opus-5|haiku-5/.test(model as string))
    if (unthinking && ['xhigh', 'max'].includes(effort as string))
      return `effort '${effort as string}' is not supported when thinking is ${type as string}`
  }
  if (format !== undefined) {
    if (!isObject(format) || format['type'] !== 'json_schema' || !isObject(format['schema']))
      return 'output_config.format.schema: Field required'
    if (version < 4.5 && !/claude-opus-4[-.]1/.test(model as string))
      return 'output_config.format: structured outputs are not supported by this model'
    if ((messages as Json[]).at(-1)!['role'] === 'assistant')
      return 'output_config.format: an assistant message that is continued cannot have a format'
    const problem =
      extra(format, ['type', 'schema'], 'output_config.format.') ??
      checkSchema(format['schema'], 'output_config.format.schema')
    if (problem) return problem
  }
  return extra(output_config, ['effort', 'format'], 'output_config.')
}

function checkCacheMarks({ cache_control, system, tools, messages }: Json): Problem {
  const marks = JSON.stringify({ cache_control, system, tools, messages }).match(/"cache_control":\{/g)?.length ?? 0
  return marks > 4 ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` : undefined
}

function checkStops(stops: unknown): Problem {
  if (stops === undefined) return undefined
  if (!Array.isArray(stops)) return 'stop_sequences: Input should be a valid list'
  return stops.every((stop) => typeof stop === 'string' && stop.trim() !== '')
    ? undefined
    : 'stop_sequences: each stop sequence must contain non-whitespace'
}

/**
 * Validates a request of the Messages API, and the values of its header `anthropic-beta`; undefined if valid.
 * @example const message = anthropicRefusal({ model: 'claude-sonnet-4-5', messages: [] })
 */
export function anthropicRefusal(body: unknown, betas: string[] = []): string | undefined {
  if (!isObject(body)) return 'The request body is not valid JSON.'
  const { model, max_tokens, messages, system, tools, stream = false, metadata = {} } = body
  if (typeof model !== 'string' || model === '') return 'model: Field required'
  if (max_tokens === undefined) return 'max_tokens: Field required'
  if (typeof stream !== 'boolean') return 'stream: Input should be a valid boolean'
  if (!isObject(metadata)) return 'metadata: Input should be a valid dictionary'
  const version = versionOf(model)
  return (
    extra(body, parameters) ??
    extra(metadata, ['user_id'], 'metadata.') ??
    checkSampling(body, version) ??
    checkStops(body['stop_sequences']) ??
    (system === undefined ? undefined : checkContent(system, 'system', 'system')) ??
    checkMessages(messages) ??
    checkTools(tools, version) ??
    checkToolChoice(body) ??
    checkRounds(messages as Json[], tools) ??
    checkPrefill(messages as Json[], version) ??
    checkThinking(body, version, betas) ??
    checkOutput(body, version) ??
    checkComplexity(body) ??
    checkCacheControl(body['cache_control'], 'cache_control') ??
    checkCacheMarks(body)
  )
}
