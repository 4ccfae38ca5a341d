import type { Json } from './rules.js'

/** A refusal in OpenAI's own terms. */
export interface Refusal {
  message: string
  param: string | null
  code: string | null
  /** Default 400. */
  status?: number
}

/** Makes a refusal. */
export const refuse = (
  message: string,
  param: string | null = null,
  code: string | null = null,
  status = 400,
): Refusal => ({ message, param, code, ...(status !== 400 && { status }) })

/** What is not JSON, or no object. */
export const notJson = refuse('We could not parse the JSON body of your request.')

/** The refusal of the first name that is not among the known ones. */
export function unknownParameter(names: Iterable<string>, known: string[]): Refusal | undefined {
  for (const name of names)
    if (!known.includes(name)) return refuse(`Unknown parameter: '${name}'.`, name, 'unknown_parameter')
  return undefined
}

/** The refusal of a parameter that has to be there. */
export const missing = (name: string): Refusal =>
  refuse(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter')

/** The refusal of a model that an endpoint does not have. */
export const modelNotFound = (model: unknown): Refusal =>
  typeof model === 'string' && model !== ''
    ? refuse(`The model '${model}' does not exist or you do not have access to it.`, null, 'model_not_found', 404)
    : refuse('you must provide a model parameter')

/** A parameter that is a number within bounds. */
export type NumberRange = [name: string, min: number, max: number, integer: boolean]

/** The first number that is out of its bounds; null and absent are fine. */
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

/** The first parameter that is none of its choices; null and absent are fine. */
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

/** The refusal of a text that is absent, empty or has more characters than the vendor takes. */
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
