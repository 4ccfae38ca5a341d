import { excess, jsonCount } from '@turnpike/core/helpers'
import { JSON_DEPTH } from '@turnpike/core/internal'

/** Most values of an answer, twice as many as fields. OpenAI's longest answer, of 16,384 tokens with the 20 likeliest for each, has two million. */
const VALUES = 3_000_000

/** The same of an event, whose values become several. The longest known ones, of Gemini's `logprobs`, have some thousands. */
export const EVENT_VALUES = 50_000

/** What is too much in an answer or event to be parsed; undefined where nothing is. A text has no more values than characters, so few are read. */
export const excessOf = (text: string, values = VALUES): string | undefined =>
  text.length > values ? excess(text, JSON_DEPTH, jsonCount(values, values / 2)) : undefined

/** A text of an answer: itself, '' for nothing, and what is no text as its JSON. */
export const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value)

/** The texts of a message, and of a delta of one. */
const TEXTS = ['content', 'reasoning_content', 'refusal'] as const

/** Makes texts of what should be some in a message or a delta: what reads them counts their characters. */
export function asTexts(said: Partial<Record<(typeof TEXTS)[number], unknown>>): void {
  for (const name of TEXTS) {
    const given = said[name]
    if (typeof given !== 'string' && given !== undefined && given !== null) said[name] = textOf(given)
  }
}

/** Parses JSON; undefined if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A text of JSON, or what Python writes for numbers that JSON has not. */
const texts = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\bInfinity\b|\bNaN\b/g
/** Characters in which such numbers are looked for. */
const MOST = 4_000_000

/**
 * The JSON of an answer; undefined for what is none. `NaN`, `Infinity` and `-Infinity`, which Python's `json.dumps` writes, such as for the logprobs of
 * tokens that were not allowed, are null.
 */
export function parseAnswer(text: string): unknown {
  const value = parseJson(text)
  if (value !== undefined || text.length > MOST || !/\b(?:NaN|Infinity)\b/.test(text)) return value
  return parseJson(text.replace(texts, (found) => (found.startsWith('"') ? found : 'null')))
}
