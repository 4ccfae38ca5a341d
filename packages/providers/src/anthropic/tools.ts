import type { ChatCompletionRequest, ToolDefinition } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import type { NoteDown } from '../requests/request-fields.js'
import { allowedTools, formatOf } from '../requests/request-fields.js'
import { refused } from './content.js'
import type { Traits } from './models.js'
import { traitsOf } from './models.js'
import type { Complexity } from './schema.js'
import { complexityOf, MOST_COMPLEX, strictSchema, takes } from './schema.js'

export interface Tool {
  name: string
  description?: string | undefined
  input_schema: object
  strict?: true | undefined
  cache_control?: unknown
}

export type Choice = { type: 'auto' | 'any' | 'tool' | 'none'; name?: string; disable_parallel_tool_use?: true }

/** Whether the API enforces a schema for a model. @param left what other enforced schemas of the request left; reduced by this one */
export function isEnforced(schema: unknown, traits: Traits, left: Complexity = { ...MOST_COMPLEX }): boolean {
  const complexity = traits.schemas ? complexityOf(schema) : undefined
  return complexity !== undefined && takes(complexity, left)
}

/** Whether a request mentions the name `json`: it is asked for each of `n` calls, and a request may have megabytes. */
const mentions = new WeakMap<ChatCompletionRequest, boolean>()

/**
 * The name of the tool that emulates a `json_schema` that is not enforced: its input is the answer. Undefined if not needed, or if the model cannot be
 * forced to call it.
 * It depends only on the request, so that the decoder of the answer gets the same result.
 */
export function jsonTool(request: ChatCompletionRequest): string | undefined {
  const { tool_choice } = request
  const format = formatOf(request)
  if (format.type !== 'json_schema') return undefined
  const traits = traitsOf(request.model)
  if (!traits.forced || isEnforced(format.json_schema.schema, traits)) return undefined
  const demanded =
    typeof tool_choice === 'object'
      ? tool_choice?.type === 'function' || allowedTools(tool_choice).required
      : tool_choice === 'required'
  // With a forced tool call there is no text for `response_format` to apply to.
  if (demanded) return undefined
  const isTaken = mentions.get(request) ?? JSON.stringify([request.tools, request.messages]).includes('"name":"json"')
  mentions.set(request, isTaken)
  return isTaken ? 'json_answer' : 'json'
}

/** Whether a choice forces a call. */
export const isForced = (choice: Choice | undefined): boolean => choice?.type === 'any' || choice?.type === 'tool'

/** Maximum number of strict tools in a request. */
const MOST_STRICT = 20

/** Returns the schema of a tool's input. @throws ApiError 400 if the API rejects it for any tool; `of` names it in the message */
export function inputSchema<Schema extends object>(schema: Schema, of: string): Schema {
  const keyword = ['anyOf', 'oneOf', 'allOf'].find((key) => key in schema)
  if (keyword) throw refused(`${keyword} at the top of ${of}`)
  return schema
}

function toTool(tool: ToolDefinition, isHeld: (schema: object) => boolean, note: NoteDown): Tool {
  if (tool.type === 'custom') throw refused('custom tools')
  const { name, description, parameters, strict, cache_control } = tool.function
  const given = parameters?.['type'] ? parameters : { type: 'object', properties: {}, ...parameters }
  const schema = inputSchema(given, `the parameters of the tool "${name}"`)
  const held = strict === true && isHeld(schema)
  if (strict && !held) note('tools.function.strict', 'dropped')
  return {
    name,
    description: description || undefined,
    input_schema: held ? (strictSchema(schema) as object) : schema,
    strict: held || undefined,
    cache_control: tool['cache_control'] ?? cache_control,
  }
}

/** Translates `tools`, `tool_choice` and `parallel_tool_calls`. @param left what other enforced schemas of the request left; tools get it in their order */
export function toTools(
  request: ChatCompletionRequest,
  called: Set<string>,
  traits: Traits,
  left: Complexity,
  note: NoteDown,
): { tools: Tool[]; choice: Choice | undefined } {
  const { tool_choice } = request
  let strict = MOST_STRICT
  const isHeld = (schema: object): boolean => strict > 0 && isEnforced(schema, traits, left) && strict-- > 0
  let tools = (request.tools ?? []).map((tool) => toTool(tool, isHeld, note))
  if (tools.length === 0) {
    if (typeof tool_choice === 'object' || tool_choice === 'required') throw invalid('tool_choice needs tools')
    if (request['parallel_tool_calls'] === false) note('parallel_tool_calls', 'dropped')
    if (called.size === 0) return { tools, choice: undefined }
    // The API rejects tool calls in the history if no tools are declared.
    note('tools', 'emulated')
    tools = [...called].map((name) => ({ name, input_schema: { type: 'object', properties: {} } }))
    return { tools, choice: { type: 'none' } }
  }
  let choice: Choice | undefined
  if (tool_choice === 'required') choice = { type: 'any' }
  else if (tool_choice === 'auto' || tool_choice === 'none') choice = { type: tool_choice }
  else if (tool_choice?.type === 'function') {
    const { name } = tool_choice.function as { name: string }
    if (!tools.some((tool) => tool.name === name)) throw invalid(`tool_choice names "${name}", which is no tool`)
    choice = { type: 'tool', name }
  } else if (tool_choice?.type === 'allowed_tools') {
    const { names, required } = allowedTools(tool_choice)
    tools = tools.filter(({ name }) => names.has(name))
    if (tools.length === 0) throw invalid('tool_choice allows none of the tools')
    choice = { type: required ? 'any' : 'auto' }
  } else if (tool_choice) throw refused('custom tools')
  if (isForced(choice) && !traits.forced) {
    note('tool_choice', 'clamped')
    choice = { type: 'auto' }
  }
  if (request['parallel_tool_calls'] === false && choice?.type !== 'none')
    choice = { type: 'auto', ...choice, disable_parallel_tool_use: true }
  return { tools, choice }
}
