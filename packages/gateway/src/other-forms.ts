import type { ChatCompletionRequest, Note } from '@turnpike/core'
import { extend, invalid, isObject } from '@turnpike/core/internal'

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

/**
 * `response_format: {type: "json_object", schema}`, as instructor and Together write a schema, in OpenAI's form.
 * @throws ApiError 400 for a `json_schema` without its body, as OpenAI answers
 */
function withSchema(request: ChatCompletionRequest): ChatCompletionRequest {
  const format = request['response_format']
  if (!isObject(format)) return request
  const { type, schema, json_schema } = format
  if (type === 'json_object' && isObject(schema))
    return extend(request, { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } })
  if (type === 'json_schema' && !isObject(json_schema))
    throw invalid('response_format.json_schema is missing: an object with a name and a schema', {
      field: 'response_format',
    })
  return request
}

/** A request whose fields have the forms of other vendors and their clients, in OpenAI's. */
export const inOpenaiForm = (request: ChatCompletionRequest, notes: Note[]): ChatCompletionRequest =>
  withSchema(withEffort(request, notes))
