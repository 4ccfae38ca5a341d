import { isObject } from '@turnpike/core/helpers'
import { modelRefusal } from './openai-model-rules.js'
import type { Refusal } from './openai-refusals.js'
import { checkNumbers, missing, modelNotFound, notJson, refuse, unknownParameter } from './openai-refusals.js'
import type { Json, NumberRange } from './rules.js'
import { words } from './rules.js'

/** All parameters of the vendor's CreateChatCompletionRequest; others are rejected. */
const parameters = words(
  `messages model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities
  moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort
  response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user
  verbosity web_search_options`,
)

const ranges: NumberRange[] = [
  ['temperature', 0, 2, false],
  ['top_p', 0, 1, false],
  ['n', 1, 128, true],
  ['max_tokens', 1, 1e9, true],
  ['max_completion_tokens', 1, 1e9, true],
  ['presence_penalty', -2, 2, false],
  ['frequency_penalty', -2, 2, false],
  ['top_logprobs', 0, 20, true],
]

const contentTypes: Record<string, string[]> = {
  system: ['text'],
  developer: ['text'],
  tool: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
}

function checkContent(message: Json, at: string): Refusal | undefined {
  const { content, role } = message
  if (
    (content === undefined || content === null) &&
    role === 'assistant' &&
    (message['tool_calls'] || message['refusal'] || message['audio'])
  )
    return undefined
  if (typeof content === 'string') return undefined
  if (!Array.isArray(content) || content.length === 0)
    return refuse(`Invalid value for '${at}.content': expected a string, got null.`, `${at}.content`)
  for (const [i, part] of content.entries())
    if (!isObject(part) || !contentTypes[role as string]!.includes(part['type'] as string))
      return refuse(
        `Invalid value: '${String((part as Json)?.['type'])}'.`,
        `${at}.content[${i}].type`,
        'invalid_value',
      )
  return undefined
}

const unanswered = (ids: string[], at: string): Refusal =>
  refuse(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(', ')}`,
    at,
  )

function checkMessages(messages: unknown): Refusal | undefined {
  if (!Array.isArray(messages)) return missing('messages')
  if (messages.length === 0)
    return refuse(
      "Invalid 'messages': empty array. Expected an array with minimum length 1.",
      'messages',
      'empty_array',
    )
  let open: string[] = []
  for (const [i, message] of (messages as Json[]).entries()) {
    const at = `messages[${i}]`
    const { role } = message
    if (typeof role !== 'string' || (role !== 'function' && !contentTypes[role]))
      return refuse(`Invalid value: '${String(role)}'.`, `${at}.role`, 'invalid_value')
    if (role === 'tool') {
      const id = message['tool_call_id'] as string
      if (!open.includes(id))
        return refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          `${at}.role`,
        )
      open = open.filter((other) => other !== id)
    } else if (open.length > 0) return unanswered(open, at)
    if (role === 'assistant' && message['tool_calls'] !== undefined) {
      const calls = message['tool_calls'] as Json[]
      if (!Array.isArray(calls) || calls.length === 0)
        return refuse(`Invalid '${at}.tool_calls': empty array.`, `${at}.tool_calls`, 'empty_array')
      for (const [k, call] of calls.entries())
        if (typeof call['id'] !== 'string' || call['id'].length > 40)
          return refuse(
            `Invalid '${at}.tool_calls[${k}].id': string too long. Expected a string with maximum length 40.`,
            `${at}.tool_calls[${k}].id`,
            'string_above_max_length',
          )
      open = calls.map((call) => call['id'] as string)
    }
    const problem = role === 'function' ? undefined : checkContent(message, at)
    if (problem) return problem
  }
  return open.length > 0 ? unanswered(open, 'messages') : undefined
}

function checkTools({ tools, tool_choice, parallel_tool_calls }: Json): Refusal | undefined {
  if (tools === undefined) {
    if (tool_choice !== undefined)
      return refuse(
        "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
        'tool_choice',
      )
    if (parallel_tool_calls !== undefined)
      return refuse(
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        'parallel_tool_calls',
      )
    return undefined
  }
  if (!Array.isArray(tools) || tools.length === 0)
    return refuse("Invalid 'tools': empty array. Expected an array with minimum length 1.", 'tools', 'empty_array')
  const names: unknown[] = []
  for (const [i, tool] of (tools as Json[]).entries()) {
    const definition = (tool['function'] ?? tool['custom']) as Json | undefined
    const name = definition?.['name']
    if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return refuse(
        `Invalid 'tools[${i}].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`,
        `tools[${i}].function.name`,
        'invalid_value',
      )
    const schema = definition!['parameters']
    if (schema !== undefined && (!isObject(schema) || (schema['type'] !== undefined && schema['type'] !== 'object')))
      return refuse(
        `Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`,
        `tools[${i}].function.parameters`,
        'invalid_function_parameters',
      )
    names.push(name)
  }
  const choice = isObject(tool_choice) ? tool_choice : {}
  if (choice['type'] === 'allowed_tools') {
    const allowed = isObject(choice['allowed_tools']) ? choice['allowed_tools']['tools'] : undefined
    if (!Array.isArray(allowed) || !allowed.every(isObject))
      return refuse("Invalid type for 'tool_choice.tools': expected an array of objects.", 'tool_choice.tools')
  }
  const chosen = (choice['function'] as Json | undefined)?.['name']
  if (chosen !== undefined && !names.includes(chosen))
    return refuse(
      `Invalid value for 'tool_choice': no tool named '${String(chosen)}' was specified in the 'tools' parameter.`,
      'tool_choice',
    )
  return undefined
}

function checkFormat({ response_format, messages }: Json): Refusal | undefined {
  if (!isObject(response_format)) return undefined
  const { type, json_schema } = response_format
  if (type === 'json_object' && !/json/i.test(JSON.stringify(messages)))
    return refuse(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      'messages',
    )
  if (type === 'json_schema' && !(isObject(json_schema) && typeof json_schema['name'] === 'string'))
    return missing('response_format.json_schema')
  return undefined
}

/**
 * Validates a chat request; undefined if valid.
 * @example const refusal = openaiRefusal({ model: 'gpt-4o', messages: [] })
 */
export function openaiRefusal(body: unknown): Refusal | undefined {
  if (!isObject(body)) return notJson
  const unknown = unknownParameter(Object.keys(body), parameters)
  if (unknown) return unknown
  if (typeof body['model'] !== 'string' || body['model'] === '') return modelNotFound(body['model'])
  const refused = modelRefusal(body['model'], body)
  if (refused) return refused
  const { stop, stream, stream_options } = body
  if (Array.isArray(stop) && stop.length > 4)
    return refuse(
      "Invalid 'stop': array too long. Expected an array with maximum length 4.",
      'stop',
      'array_above_max_length',
    )
  if (stream_options !== undefined && stream_options !== null && stream !== true)
    return refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", 'stream_options')
  if (body['max_tokens'] && body['max_completion_tokens'])
    return refuse(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      'max_tokens',
      'invalid_parameter_combination',
    )
  return checkNumbers(body, ranges) ?? checkMessages(body['messages']) ?? checkTools(body) ?? checkFormat(body)
}
