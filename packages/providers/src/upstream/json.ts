import { excess, jsonCount } from '@turnpike/core/helpers'
import { JSON_DEPTH } from '@turnpike/core/internal'

/** How much JSON may have: values, half as many fields, and arrays, objects and texts. */
export interface Most {
  values: number
  /** Default as many as values. */
  parts?: number
}

/** Of an answer. The longest known ones, of recordings with the time of each word, have some hundred thousand values. */
const ANSWER: Most = { values: 500_000 }

/** Of an answer that tells of each token. OpenAI's longest one, of 16,384 tokens with the 20 likeliest for each, has two million values. */
export const TOKENS: Most = { values: 3_000_000 }

/** Of an answer of embeddings: 2,048 vectors of 4,096 numbers, and more; a local server takes more texts. */
export const EMBEDDINGS: Most = { values: 10_000_000, parts: 400_000 }

/** Of an event, whose values become several. The longest known ones, of Gemini's `logprobs`, have some thousands. */
export const EVENT: Most = { values: 50_000 }

/** Characters of JSON that cannot nest so deeply that there is no stack to write it again. */
const SHALLOW = 4_096

/** What is too much in an answer or event to be parsed; undefined where nothing is. A text has no more values and levels than characters, so few are read. */
export const excessOf = (text: string, { values, parts = values }: Most = ANSWER): string | undefined =>
  text.length > SHALLOW ? excess(text, JSON_DEPTH, jsonCount(values, values / 2, parts)) : undefined

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

/** What Python writes for numbers that JSON has not. */
const pythons = /-?\b(?:NaN|Infinity)\b/g
/** Characters in which they are looked for: to replace them costs some milliseconds a megabyte. */
export const PYTHON_LENGTH = 4_000_000

/** Where the text of JSON ends that begins at a quote; -1 where it does not. */
function endOfText(json: string, quote: number): number {
  for (let end = json.indexOf('"', quote + 1); end > 0; end = json.indexOf('"', end + 1)) {
    let before = end - 1
    while (json[before] === '\\') before--
    if ((end - before) % 2 === 1) return end
  }
  return -1
}

/** Puts null in place of Python's numbers, but not in texts. */
function withoutPythons(json: string): string {
  let made = ''
  for (let at = 0; ;) {
    const quote = json.indexOf('"', at)
    made += json.slice(at, quote < 0 ? undefined : quote).replace(pythons, 'null')
    const end = quote < 0 ? -1 : endOfText(json, quote)
    if (end < 0) return made + (quote < 0 ? '' : json.slice(quote))
    at = end + 1
    made += json.slice(quote, at)
  }
}

/**
 * The JSON of an answer; undefined for what is none. `NaN`, `Infinity` and `-Infinity`, which Python's `json.dumps` writes, such as for the logprobs of
 * tokens that were not allowed, are null.
 */
export function parseAnswer(text: string): unknown {
  const value = parseJson(text)
  if (value !== undefined || text.length > PYTHON_LENGTH || text.search(pythons) < 0) return value
  return parseJson(withoutPythons(text))
}
