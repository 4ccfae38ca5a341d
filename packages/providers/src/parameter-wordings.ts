/**
 * By which codes and words an upstream refuses a parameter. All families and servers are here, because proxies repeat the words of whatever stands
 * behind them.
 * @module
 */
import { plain } from './callers-words.js'
import type { Fault } from './error-text.js'
import { errorParts } from './error-text.js'
import { efforts } from './request-fields.js'

/** The effort is refused beside tools, unless it is `none`. */
export const EFFORT_BESIDE_TOOLS = 'reasoning_effort=beside tools'

/** Codes and types of a parameter that is refused: OpenAI; FastAPI; LiteLLM. */
const refusals = [
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
  'extra_forbidden',
  'value_error.extra',
  'UnsupportedParamsError',
]
/** Those of a value, documented or not. */
const ofValues = ['unsupported_value', 'invalid_value', 'literal_error']
/** Texts of a parameter that is refused: OpenAI and compatible servers; Claude and FastAPI; Gemini; Groq ("property 'x' is unsupported"); serde ("unknown field"). */
const texts = [
  /unrecognized request argument|unsupported (parameter|value)|(unknown|unrecogni[sz]ed|unexpected|additional|extra(neous)?) (keyword )?(parameter|name|field|argument|key|propert)/i,
  /extra (inputs|fields) (are )?not permitted|compiled grammar is too large|\bshould not exist|: unknown variant/i,
  /\b(does|do|is|are)( not|n.t) (support|permitted|allowed with|enabled)|\bis unsupported\b/i,
]

/** Whether an error refuses some parameter, known or not. @param codes its codes and types */
export const refusesParameter = (text: string, codes: unknown[]): boolean =>
  codes.some((code) => refusals.includes(code as string)) || texts.some((form) => form.test(text))

/** The fields that a client can do without. Never here are messages, tools and the model; of the limit, only its other name is sent. */
const dispensable =
  'temperature top_p top_k min_p seed frequency_penalty presence_penalty repetition_penalty logit_bias top_logprobs stop reasoning_effort verbosity ' +
  'stream_options parallel_tool_calls service_tier encoding_format strict response_format prediction user safety_identifier metadata store ' +
  'prompt_cache_key prompt_cache_retention max_tokens max_completion_tokens'
/** Their other names at upstreams. */
const synonyms: [fields: string, names: string][] = [
  ['seed', 'random_seed'],
  ['frequency_penalty presence_penalty', 'penalty penalties'],
  ['logprobs top_logprobs', 'logprobs response_logprobs'],
  ['stop', 'stop_sequences'],
  [
    'reasoning_effort',
    'reasoning effort output_config.effort thinking adaptive_thinking thinking_config thinking_level thinking_budget',
  ],
  ['verbosity', 'text.verbosity'],
  ['stream_options', 'include_usage'],
  ['parallel_tool_calls', 'disable_parallel_tool_use tool_choice.disable_parallel_tool_use'],
  ['encoding_format', 'base64 base64_encoding'],
  [
    'response_format',
    'response_format.type output_format output_config.format structured_output structured_outputs json_schema json_object json_mode response_schema response_json_schema response_mime_type',
  ],
]
/** The fields by what is left of a name or path: its letters and digits. */
const fields = new Map<string, string[]>([
  ...dispensable.split(' ').map((name): [string, string[]] => [plain(name), [name]]),
  ...synonyms.flatMap(([of, names]) =>
    names.split(' ').map((name): [string, string[]] => [plain(name), of.split(' ')]),
  ),
])

/** The values that are documented, of fields whose value may be refused alone. Any other is a fault of the caller. */
export const documented: Record<string, readonly string[] | undefined> = {
  reasoning_effort: efforts,
  verbosity: ['low', 'medium', 'high'],
  service_tier: ['auto', 'default', 'flex', 'priority', 'scale', 'standard_only'],
  response_format: ['json_object', 'json_schema'],
}

/** Words of any sentence, which mean a parameter only in quotes. */
const everyday = new Set(['user', 'store', 'stop', 'metadata', 'seed', 'strict', 'maxtokens'])

/** Wordings that name the parameters that are refused, one or a list. */
const names: RegExp[] = [
  // OpenAI, Azure, llama.cpp: "Unsupported parameter: 'x' is not supported with this model", "Unknown parameter: 'x'"; NVIDIA: "parameter(s): `x`, `y`";
  // Gemini: "Unknown name "x" at …"; Bedrock: "extraneous key [x]"; Azure: "Extra parameters ['x', 'y'] are not allowed"; serde: "unknown field `x`";
  // jsonschema: "Additional properties are not allowed ('x' was unexpected)"; zod: "Unrecognized key(s) in object: 'x'"; AJV; Jackson; Python.
  /(?:un(?:supported|known|recogni[sz]ed|expected)|extra(?:neous)?|additional) (?:keyword )?(?:param(?:eter)?|field|argument|name|key|propert)(?:s|y|ies|\(s\))?(?: in object| are not allowed)?:? ?[[(]?['"`]?((?:[\w.*[\]-]|['"`], ?['"`](?=\w)){1,400})/i,
  // OpenAI: "Unsupported value: 'temperature' does not support 0.2 with this model."
  /unsupported value: ['"`]([\w.]{1,80})['"`] does not support/i,
  // OpenAI: "Unrecognized request argument supplied: x", "Model incompatible request arguments supplied: x, y".
  /request arguments? supplied: ((?:[\w, ]|\.(?=\w)){1,400})/i,
  // Claude: "x: Extra inputs are not permitted"; Fireworks: "Extra inputs are not permitted, field: 'x'".
  /([\w.]{1,80}): extra (?:inputs|fields) (?:are )?not permitted/i,
  /(?:inputs|fields) (?:are )?not permitted, field: ['"]?([\w.]{1,80})/i,
  // Groq, Cerebras: "property 'x' is unsupported"; NestJS; watsonx and Cohere.
  /property ['"`]?([\w.]{1,80})['"`]? (?:is unsupported|should not exist)/i,
  /([\w.]{1,80}) is not a valid field/i,
  // xAI: "Argument not supported on this model: x", "Model y does not support parameter x"; litellm: "does not support parameters: ['x']".
  /arguments? not supported(?: on this model)?: ?['"`]?([\w.]{1,80})/i,
  /does not support (?:the )?(?:requested )?parameters?:? ?[[('"`]{0,2}((?:[\w,'` ]|\.(?=\w)){1,400})/i,
  // Kimi: "invalid temperature: only 1 is allowed for this model".
  /invalid ([\w.]{1,80}): only [\d.]{1,10} is allowed/i,
  // Cohere, vLLM: "x and y are not supported", "The x and y parameters are not yet supported".
  /\b(?=[\w.]{1,40}(?:,| and ))((?:[\w.]|, and |, | and ){1,400}) (?:parameters )?are not (?:yet |currently )?supported/i,
  // serde (TGI, DeepSeek): "x: unknown variant `v`, expected …"; Claude: "x: 'v' is not supported by this model", "`x` may only be set to 1 when …".
  /([\w.[\]]{1,80}): unknown variant/i,
  /([\w.]{1,80}): ['"`][\w-]{1,40}['"`] is not supported/i,
  /['"`]([\w.]{1,80})['"`] (?:may|can) only be set to/i,
  // Gemini: "Thinking level MINIMAL is not supported for this model."
  /(thinking level) [a-z]{3,10} is not supported/i,
]
/** FastAPI's and OpenAI's structure as Python or a proxy prints it within a text, and Gemini's lines: all of them count. */
const printed: RegExp[] = [
  /^invalid json payload received\. unknown name "([\w.[\]]{1,80})" at/gim,
  /type['"]: ?['"](?:extra_forbidden|value_error\.extra)['"], ?['"]loc['"]: ?[[(]([^\])]{1,200})[\])]/gi,
  /['"]loc['"]: ?[[(]([^\])]{1,200})[\])], ?['"]msg['"]: ?['"]extra (?:inputs|fields) (?:are )?not permitted/gi,
  /['"]param['"]: ?['"]([^'"]{1,80})['"], ?['"]code['"]: ?['"](?:unsupported_(?:parameter|value)|unknown_parameter)/gi,
  /^([\w.]{1,80})\n {1,9}[^\n[]{1,120}\[type=extra_forbidden/gim,
]
/** The same of a value. */
const printedValues = [
  /type['"]: ?['"]literal_error['"], ?['"]loc['"]: ?[[(]([^\])]{1,200})[\])]/gi,
  /['"]param['"]: ?['"]([^'"]{1,80})['"], ?['"]code['"]: ?['"]invalid_value/gi,
  /^([\w.]{1,80})\n {1,9}[^\n[]{1,120}\[type=literal_error/gim,
]

/** "x is not supported", also of several words: "Thinking level is not supported for this model", "`temperature` is deprecated for this model". */
const subject =
  /(['"`]?)((?:[\w.]{1,40}['"`]? ['"`]?)?(?:[\w.]{1,40}['"`]? ['"`]?)?[\w.]{1,40})(['"`]?) (?:is|are) (?:not (?:currently |yet )?(?:supported|permitted|allowed|enabled|configurable|available|accepted)|unsupported|deprecated|unavailable)/gi
/** "does not support x": "This model does not support the effort parameter". */
const object =
  /(?:does not|doesn't|do not|don't) support (?:the )?(['"`]?)((?:[\w.]{1,40}['"`]? )?(?:[\w.]{1,40}['"`]? )?[\w.]{1,40})/gi

/** A value that is refused, and not the parameter: "Supported values are: 'medium'", "must be one of `none` or `default`". */
export const valueWords =
  /unsupported[ _]value|supported values|does not support '|invalid[ _]value|literal_error|must be (?:one of |either |')|should be (?:one of |')|input should be|unknown variant|(?:: ['"`][\w-]{1,40}['"`]|thinking level [a-z]{3,10}) is not supported/i
/** "`x` must be one of", of fields whose values are documented. */
const named =
  /(['"`]?)(reasoning_effort|verbosity|service_tier|response_format(?:\.type)?|encoding_format)['"`]?\]?(?: type)? ?(?:must be|should be)/gi

/** Sentences that are known as a whole, and what is left out then. */
const sentences: [form: RegExp, field: string][] = [
  [/tools with reasoning_effort are not supported/i, EFFORT_BESIDE_TOOLS],
  // Claude
  [/temperature\W{1,3}and\W{1,3}top_p\W{1,3}cannot both be/i, 'top_p'],
  [
    /grammar is too large|schema is too complex|too many (?:optional|strict|union)|unknown name "[^"]{1,80}" at '(?:generation_?config\.)?response_?(?:json_?)?schema/i,
    'schemas',
  ],
]

const stepsOf = (path: string): string[] => path.split(/[.,[\]'"` ]+/).map(plain)

/**
 * The fields that a name or path stands for: `tools.0.custom.strict`, `'body', 'stream_options', 'include_usage'`. Undefined if it is none to do
 * without, or something unknown below a field of the request: that may be a caller's, and the field itself is taken.
 */
function fieldsOf(path: string): string[] | undefined {
  const steps = stepsOf(path).filter((step) => /[a-z]/.test(step))
  while (steps[0] === 'body' || steps[0] === 'generationconfig') steps.shift()
  if (steps.at(-1) === 'strict') return ['strict']
  for (let end = steps.length; end > 0; end--) {
    const name = steps.slice(0, end).join('')
    const found = fields.get(name)
    if (!found) continue
    if (steps.slice(end).every((step) => fields.get(step)?.[0] === found[0])) return found
    if (found[0] === 'response_format') return ['schemas']
    return name === plain(found[0]!) ? undefined : found
  }
  return undefined
}

/** The name of a field which the last or the first of some words are. */
function nameIn(words: string, isQuoted: boolean, fromEnd: boolean): string | undefined {
  const list = words.split(/[ '"`]+/).filter((word) => !/^(?:|parameter|field|argument)$/i.test(word))
  for (let count = list.length; count > 0; count--) {
    const name = plain((fromEnd ? list.slice(-count) : list.slice(0, count)).join(''))
    if (fields.has(name) && (isQuoted || !everyday.has(name))) return name
  }
  return undefined
}

/** What one wording says. */
export interface Said {
  /** Where the wording is in the text. */
  at: number
  /** Fields of OpenAI's form, {@link EFFORT_BESIDE_TOOLS}, or `schemas` for those of the request. Undefined for one that cannot be done without. */
  fields: string[] | undefined
  /** Whether it is about the value of the field; absent where only the text can tell ({@link valueWords}). */
  ofValue?: boolean
  /** The shortest texts that say so; only their letters and digits count. */
  words: string[]
}

/** What stands before and after a part of a match. */
function around(all: string, part: string): [before: string, after: string] {
  const at = all.indexOf(part)
  return [plain(all.slice(0, at)), plain(all.slice(at + part.length))]
}

/** Reads a match whose first group is a path or a list of names. */
function namesOf(match: RegExpMatchArray, isPath: boolean): Said {
  const list = match[1]!
  const paths = isPath ? [list] : list.split(/['"`]?(?:, and |, ?| and )/).flatMap((path) => /^[^ ]+/.exec(path) ?? [])
  const found = paths.map(fieldsOf)
  const [before, after] = around(match[0], list)
  // The text around may have made a path longer that is at an edge: `0.stop`, `stop.1`.
  const steps = stepsOf(paths[0] ?? '').filter((step) => /[a-z]/.test(step))
  const name = before === '' ? steps.at(-1) : after === '' ? steps[0] : list
  return {
    at: match.index!,
    fields: found.includes(undefined) ? undefined : (found as string[][]).flat(),
    words: [`${before}${name}${after}`, ...(paths.length > 1 ? [paths.join('')] : [])],
  }
}

/** Reads a match of ordinary words: an opening quote, the words, and the closing quote where a name is their end and not their begin. */
function sentenceOf(match: RegExpMatchArray): Said | undefined {
  const [all, quote, words = '', end] = match
  const fromEnd = end !== undefined
  const name = nameIn(words, quote !== '' && end !== '', fromEnd)
  if (name === undefined) return undefined
  const [before, after] = around(all, words)
  return { at: match.index!, fields: fields.get(name), words: [before === '' ? name + after : before + name] }
}

const inPrint = (text: string, forms: RegExp[]): Said[] =>
  forms.flatMap((form) => Array.from(text.matchAll(form), (match) => namesOf(match, true)))

const inFaults = (faults: Fault[], codes: string[]): Said[] =>
  faults
    .filter(({ code }) => codes.includes(code))
    .map(({ code, path, json }) => ({
      at: 0,
      fields: fieldsOf(path),
      ofValue: ofValues.includes(code),
      words: [json],
    }))

/** Those of fields whose values are documented: another value is a fault of the caller. */
const ofDocumented = (said: Said[]): Said[] =>
  said.filter(({ fields }) => fields?.every((field) => Object.hasOwn(documented, field)))

/** The first in a text. What follows may be what a caller wrote. */
const first = (said: (Said | undefined)[]): Said[] =>
  said
    .filter((one) => one !== undefined)
    .toSorted((a, b) => a.at - b.at)
    .slice(0, 1)

/** How an answer is read, in this order: where one reads something, the others are not asked. */
const readers: ((text: string, faults: Fault[]) => Said[])[] = [
  (text) =>
    first(
      sentences.map(([form, field]) => {
        const match = form.exec(text)
        return match ? { at: match.index, fields: [field], words: [match[0]] } : undefined
      }),
    ),
  (_, faults) => inFaults(faults, refusals),
  (_, faults) => ofDocumented(inFaults(faults, ofValues)),
  (text) => inPrint(text, printed),
  (text) => ofDocumented(inPrint(text, printedValues)),
  (text) =>
    first(
      names.map((form) => {
        const match = form.exec(text)
        return match ? namesOf(match, false) : undefined
      }),
    ),
  (text) =>
    first(
      [subject, object, named].map((form) => {
        for (const match of text.matchAll(form)) {
          const said = sentenceOf(match)
          if (said) return said
        }
        return undefined
      }),
    ),
]

/**
 * What an answer with 400 or 422 refuses, by its structure or else by its texts.
 * @returns `text`: all texts of the answer
 */
export function refusalsIn(answer: string): { text: string; said: Said[] } {
  const { texts, faults } = errorParts(answer)
  // Proxies put the vendor's JSON into texts of their own.
  const text = texts.join('\n').replaceAll('\\', '')
  for (const read of readers) {
    const said = read(text, faults)
    if (said.length > 0) return { text, said }
  }
  return { text, said: [] }
}
