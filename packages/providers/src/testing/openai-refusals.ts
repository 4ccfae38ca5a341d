import type { Json, NumberRange } from './rules.js'

/** An error with the fields of OpenAI's error body. */
export interface Refusal {
  message: string
  param: string | null
  code: string | null
  /** Default 400. */
  status?: number
}

/** Creates an error. */
export const refuse = (
  message: string,
  param: string | null = null,
  code: string | null = null,
  status = 400,
): Refusal => ({ message, param, code, ...(status !== 400 && { status }) })

/** The error for a body that is not a JSON object. */
export const notJson = refuse('We could not parse the JSON body of your request.')

/** The error for the first unknown name; undefined if all are known. */
export function unknownParameter(names: Iterable<string>, known: string[]): Refusal | undefined {
  for (const name of names)
    if (!known.includes(name)) return refuse(`Unknown parameter: '${name}'.`, name, 'unknown_parameter')
  return undefined
}

/** The error for a missing required parameter. */
export const missing = (name: string): Refusal =>
  refuse(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter')

/** The error for a model that the endpoint does not support. */
export const modelNotFound = (model: unknown): Refusal =>
  typeof model === 'string' && model !== ''
    ? refuse(`The model '${model}' does not exist or you do not have access to it.`, null, 'model_not_found', 404)
    : refuse('you must provide a model parameter')

/** The error for the first number out of range; null and absent are valid. */
export function checkNumbers(body: Json, ranges: NumberRange[]): Refusal | undefined {
  for (const [name, min, max, integer] of ranges) {
    const value = body[name]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || (integer && !Number.isInteger(value)))
      return refuse(
        `Invalid type for '${name}': expected ${integer ? 'an integer' : 'a decimal'}.`,
        name,
        'invalid_type',
      )
    if (value < min || value > max)
      return refuse(`Invalid '${name}': expected a value between ${min} and ${max}, but got ${value} instead.`, name)
  }
  return undefined
}

/** The error for the first parameter with a value that is not allowed; null and absent are valid. */
export function checkChoices(body: Json, choices: Record<string, string[]>): Refusal | undefined {
  for (const [name, allowed] of Object.entries(choices)) {
    const value = body[name]
    if (value !== undefined && value !== null && !allowed.includes(value as string))
      return refuse(
        `Invalid value: '${String(value)}'. Supported values are: ${allowed.map((one) => `'${one}'`).join(', ')}.`,
        name,
        'invalid_value',
      )
  }
  return undefined
}

/** The error for a text that is missing, empty or too long. */
export function checkText(body: Json, name: string, max: number): Refusal | undefined {
  const text = body[name]
  if (text === undefined || text === null) return missing(name)
  if (typeof text !== 'string') return refuse(`Invalid type for '${name}': expected a string.`, name, 'invalid_type')
  const { length } = Array.from(text)
  if (length === 0)
    return refuse(
      `Invalid '${name}': empty string. Expected a string with minimum length 1.`,
      name,
      'string_below_min_length',
    )
  return length > max
    ? refuse(
        `Invalid '${name}': string too long. Expected a string with maximum length ${max}, but got a string with length ${length} instead.`,
        name,
        'string_above_max_length',
      )
    : undefined
}
