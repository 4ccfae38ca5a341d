import type { ChatCompletionRequest, Note } from '@turnpike/core'
import { extend, isObject } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'

/** Tokens of thoughts below which an effort is low, and below which it is medium: between the budgets that Claude is given for each. */
const LOW = 4_096
const MEDIUM = 12_288

const effortFor = (budget: number): string =>
  budget <= 0 ? 'none' : budget < LOW ? 'low' : budget < MEDIUM ? 'medium' : 'high'

/** An object without some of its fields; undefined if none is left. */
function without(value: Record<string, unknown>, fields: string[]): Record<string, unknown> | undefined {
  const left = Object.entries(value).filter(([field]) => !fields.includes(field))
  return left.length > 0 ? Object.fromEntries(left) : undefined
}

/**
 * Claude's `thinking: {type: "enabled", budget_tokens}` and OpenRouter's `reasoning: {effort}` or `{max_tokens}` as `reasoning_effort`, for every
 * family. A budget becomes an effort, which is noted. Both are left as they are beside a `reasoning_effort`, and where they say something else, such
 * as the `thinking: {type: "disabled"}` of DeepSeek, GLM and Kimi.
 */
function withEffort(request: ChatCompletionRequest, notes: Note[]): ChatCompletionRequest {
  const { reasoning_effort: given, thinking, reasoning } = request as Record<string, unknown>
  if (given !== undefined) return request
  if (isObject(reasoning) && typeof reasoning['effort'] === 'string')
    return extend(request, {
      reasoning_effort: reasoning['effort'],
      reasoning: without(reasoning, ['effort', 'max_tokens', 'enabled']),
    })
  if (isObject(reasoning) && typeof reasoning['max_tokens'] === 'number') {
    notes.push({ field: 'reasoning', action: 'emulated' })
    const reasoning_effort = effortFor(reasoning['max_tokens'])
    return extend(request, { reasoning_effort, reasoning: without(reasoning, ['max_tokens', 'enabled']) })
  }
  if (isObject(thinking) && typeof thinking['budget_tokens'] === 'number') {
    notes.push({ field: 'thinking', action: 'emulated' })
    const reasoning_effort = thinking['type'] === 'disabled' ? 'none' : effortFor(thinking['budget_tokens'])
    return extend(request, { reasoning_effort, thinking: without(thinking, ['type', 'budget_tokens']) })
  }
  return request
}

/** The schema that a format holds beside `json_object`: instructor's and Together's `schema`, LiteLLM's `response_schema`, Cohere's `json_schema`, which is one itself. */
const schemaBeside = ({ schema, response_schema, json_schema }: Record<string, unknown>): unknown =>
  schema ?? response_schema ?? (isObject(json_schema) ? (json_schema['schema'] ?? json_schema) : undefined)

/**
 * `response_format: {type: "json_object", schema}` and the like, as other vendors and their clients write a schema, in OpenAI's form.
 * @throws ApiError 400 for a `json_schema` without its body, or with neither name nor schema, as OpenAI answers
 */
function withSchema(request: ChatCompletionRequest): ChatCompletionRequest {
  const format = request['response_format']
  if (!isObject(format)) return request
  const { type, json_schema } = format
  const schema = type === 'json_object' ? schemaBeside(format) : undefined
  if (isObject(schema))
    return extend(request, { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } })
  if (type === 'json_schema' && (!isObject(json_schema) || !(json_schema['name'] ?? json_schema['schema'])))
    throw invalid('response_format.json_schema is missing: an object with a name and a schema', {
      field: 'response_format',
    })
  return request
}

/** A request whose fields have the forms of other vendors and their clients, in OpenAI's. */
export const inOpenaiForm = (request: ChatCompletionRequest, notes: Note[]): ChatCompletionRequest =>
  withSchema(withEffort(request, notes))
