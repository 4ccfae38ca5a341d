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

/** Codes and types of a parameter that is refused: OpenAI; FastAPI; LiteLLM; zod. */
const refusals = [
  'unsupported_parameter',
  'unsupported_value',
  'unknown_parameter',
  'extra_forbidden',
  'value_error.extra',
  'UnsupportedParamsError',
  'unrecognized_keys',
]
/** Those of a value, documented or not. */
const ofValues = ['unsupported_value', 'invalid_value', 'literal_error', 'invalid_enum_value']
/** The fields that a client can do without. Never here are messages, tools and the model; of the limit, only its other name is sent. */
const dispensable =
  'temperature top_p top_k min_p seed frequency_penalty presence_penalty repetition_penalty logit_bias top_logprobs stop reasoning_effort verbosity ' +
  'stream_options parallel_tool_calls service_tier encoding_format strict response_format prediction user safety_identifier metadata store ' +
  'prompt_cache_key prompt_cache_retention max_tokens max_completion_tokens'
/** Their other names at upstreams. */
const synonyms: [fields: string, names: string][] = [
  // Known to servers only, in a list with others.
  ['', 'min_tokens'],
  ['seed', 'random_seed'],
  ['frequency_penalty presence_penalty', 'penalty penalties'],
  ['logprobs top_logprobs', 'logprobs response_logprobs'],
  ['stop', 'stop_sequences'],
  [
    'reasoning_effort',
    'reasoning effort output_config.effort thinking adaptive_thinking thinking_config thinking_level thinking_budget budget_tokens include_thoughts',
  ],
  // Claude's object for both, and for `user`.
  ['reasoning_effort response_format', 'output_config'],
  ['metadata user', 'metadata'],
  ['user', 'metadata.user_id'],
  ['verbosity', 'text.verbosity'],
  ['stream_options', 'include_usage'],
  ['parallel_tool_calls', 'disable_parallel_tool_use tool_choice.disable_parallel_tool_use'],
  ['encoding_format', 'base64 base64_encoding'],
  [
    'response_format',
    'output_format output_config.format structured_output structured_outputs json_schema json_object json_mode json_output response_schema response_json_schema response_mime_type',
  ],
]
/** The fields by what is left of a name or path: its letters and digits. */
const fields = new Map<string, string[]>([
  ...dispensable.split(' ').map((name): [string, string[]] => [plain(name), [name]]),
  ...synonyms.flatMap(([of, names]) =>
    names.split(' ').map((name): [string, string[]] => [plain(name), of.split(' ').filter(Boolean)]),
  ),
])

/** The values that are documented, of fields whose value may be refused alone. Any other is a fault of the caller. */
export const documented: Record<string, readonly string[] | undefined> = {
  reasoning_effort: efforts,
  verbosity: ['low', 'medium', 'high'],
  service_tier: ['auto', 'default', 'flex', 'priority', 'scale', 'standard_only'],
  response_format: ['json_object', 'json_schema'],
}

/** Whether a field is refused by its value. Of the encodings of vectors, the gateway asks for one by itself. */
const isValued = (field: string): boolean => field === 'encoding_format' || Object.hasOwn(documented, field)

/** Words of any sentence, which mean a parameter only in quotes. */
const everyday = new Set(['user', 'store', 'stop', 'metadata', 'strict', 'maxtokens'])
/** Words beside a name: "the 'x' parameter", "response_format value as json_schema", "Json mode response". */
const nouns = new Set('parameter parameters argument field property value type as response'.split(' '))
/** What a schema, a message or a value of the caller is: "an empty `stop` is not allowed". */
const ofCaller = /\b(?:empty|negative|null|zero|duplicate) '?$/i
/** A schema of the caller, whose fields may have such names: "Invalid schema for function 'f': unknown field 'seed'". */
const ofSchema = /schema for |input_?schema|in context=/i
/** Where fields have other meanings: "messages[0]: unknown field `metadata`". */
const inside = /^\W*(?:messages|contents|system|tools?|tool_?choice|functions|input\W)/i

/** A wording beside names. The first group is one of ordinary words, beside which only names that are known are read. */
interface Form {
  wording: RegExp
  /** Whether the names follow, or are before. */
  isBefore: boolean
  /** Whether the value of a field is refused. */
  ofValue: true | undefined
}
const form = (isBefore: boolean, wordings: string[], ofValue?: true): Form => ({
  wording: new RegExp(wordings.join('|'), 'gi'),
  isBefore,
  ofValue,
})
const raw = String.raw

/** The wordings of all families and servers. Sources: the vendors' references, the servers' sources, and recorded errors. */
const forms = [
  form(true, [
    // OpenAI, Azure, Gemini, llama.cpp, NVIDIA ("parameter(s)"), Bedrock ("extraneous key [x]"), Azure ("Extra parameters ['x'] are not allowed"), serde, zod,
    // Jackson, AJV, jsonschema ("Additional properties are not allowed ('x' was unexpected)"), Python, Replicate, Cohere ("unknown field: parameter x").
    raw`(?:un(?:supported|recogni[sz]ed|known|expected)|incompatible|extra(?:neous)?|additional) (?:request |keyword )?(?:param(?:eter)?|field|argument|name|key|propert)(?:s|y|ies|\(s\))?(?!\w)(?: supplied| in object| are not allowed)?:? ?[(['*]*(?:parameter )?`,
    // xAI: "Argument not supported on this model: x"; Fireworks: "Extra inputs are not permitted, field: 'x'".
    raw`arguments? not supported(?: on this model)?: ?|not permitted, field: `,
    // xAI, litellm, DeepSeek, Volcengine.
    raw`do(?:es)?(?: not|n't) support (?:the )?(?:requested )?parameters?:? ?`,
    // Claude, Ollama, vLLM; OpenAI ("Unsupported value: 'x' does not support 2").
    raw`(do(?:es)?(?: not|n't) support (?:the |per-request )?|unsupported value: |not allowed to (?:request|use|set) )`,
  ]),
  form(false, [
    // Claude, FastAPI; NestJS; watsonx, Cohere; marshmallow.
    raw`:?\s{1,9}extra (?:inputs|fields) (?:are )?not permitted| should not exist| is not a valid field|: unknown field(?=\.|$)`,
    // OpenAI, Groq, Cerebras, Gemini, Claude, vLLM, Azure and others, in ordinary words.
    raw`( (?:is|are|was|were)(?:(?: not|n't) (?:currently |yet )?(?:supported|permitted|allowed(?! to)|enabled|configurable|available|accepted|compatible|recognized)| unsupported| deprecated| unavailable| enabled only)`,
    // Kimi: "invalid x: only 1 is allowed"; Claude.
    raw`: only [\d.]{1,10} is allowed| must be unset| (?:may|can) only be set to [\d.]{1,10} when| can(?:not|'t) be (?:used|specified|changed|modified))`,
  ]),
  // "invalid encoding_format: base64", "Invalid service_tier argument"; Fireworks. A format may be invalid by its schema.
  form(
    true,
    [raw`(unsupported |invalid (?:value (?:for|at) )?(?!'?response)|input should be '[^\n]{0,200}?, field: )`],
    true,
  ),
  form(
    false,
    [
      // serde, pydantic; Groq, LM Studio, llama.cpp.
      raw`(:?\s{1,9}(?:unknown variant|input should be)`,
      raw`(?<=(?:reasoning_effort|verbosity|service_tier|response_format|encoding_format)(?:\.type| type)?'?\]?) (?:must|should) be)`,
    ],
    true,
  ),
]

/** FastAPI's and OpenAI's structure as Python or a proxy prints it within a text, and Gemini's lines: all of them count. */
const printed: RegExp[] = [
  /invalid json payload received\. unknown name '([\w.[\]]{1,80})' at '([\w.[\]]{0,120})'/gi,
  /type': ?'(?:extra_forbidden|value_error\.extra)', ?'loc': ?[[(]([^\])]{1,200})[\])]/gi,
  /'loc': ?[[(]([^\])]{1,200})[\])], ?'msg': ?'extra (?:inputs|fields) (?:are )?not permitted/gi,
  /'param': ?'([^']{1,80})', ?'code': ?'(?:unsupported_(?:parameter|value)|unknown_parameter)/gi,
  /^([\w.]{1,80})\n {1,9}[^\n[]{1,120}\[type=extra_forbidden/gim,
]
/** The same of a value. */
const printedValues = [
  /type': ?'literal_error', ?'loc': ?[[(]([^\])]{1,200})[\])]/gi,
  /'param': ?'([^']{1,80})', ?'code': ?'invalid_value/gi,
]

/** A value that is refused, and not the parameter: "Supported values are: 'medium'". */
export const valueWords = /unsupported[ _]value|supported values|does not support '/i

/** Sentences that are known as a whole, and what is left out then. */
const sentences: [form: RegExp, fields: string][] = [
  [/tools with reasoning_effort are not supported/i, EFFORT_BESIDE_TOOLS],
  // Claude; Gemini; vLLM; llama.cpp.
  [
    /grammar is too large|schema is too complex|too many (?:optional|strict|parameters with union)|too many states for serving|schema.{1,60}maximum allowed nesting|not supported by xgrammar|xgrammar does not support|failed to parse grammar|unknown name '[^']{1,80}' at '(?:generation_?config\.)?response_?(?:json_?)?schema/i,
    'schemas',
  ],
  // Claude, of which the catalogue drops the same; Gemini; OpenAI's o1; vectors of Cohere, NVIDIA and Qwen.
  [/'?temperature'? and '?top_p'? cannot both be/i, 'top_p'],
  [/only works in thinking mode/i, 'reasoning_effort'],
  [/response mime type: 'application\/json' is unsupported/i, 'response_format'],
  [/model has beta-limitations/i, 'temperature,top_p,presence_penalty,frequency_penalty'],
  [/only '?float'? encoding|encoding_format.{1,40}only (?:supports )?'?float/i, 'encoding_format'],
]

const stepsOf = (path: string): string[] =>
  path
    .split(/[.,:#/[\]()'* ]+/)
    .map(plain)
    .filter(Boolean)

/**
 * The fields that a name or path stands for: `tools.0.custom.strict`, `'body', 'stream_options', 'include_usage'`, `Thinking level MINIMAL`. Undefined if
 * it is none to do without, or something unknown below one: that may be a caller's, and the parameter is taken.
 */
function fieldsOf(path: string): Pick<Said, 'fields' | 'ofValue'> | undefined {
  const steps = stepsOf(path)
  while (/^(?:body|request|generationconfig)$/.test(steps[0] ?? '')) steps.shift()
  if (steps.length > 1 && steps.at(-1) === 'strict') return { fields: ['strict'] }
  for (let end = steps.length; end > 0; end--) {
    const found = fields.get(steps.slice(0, end).join(''))
    if (!found) continue
    const below = steps.slice(end).filter((step) => !nouns.has(step) && fields.get(step)?.[0] !== found[0])
    if (below.length === 0) return { fields: found }
    if (below.length === 1 && documented[found[0]!]?.includes(below[0]!)) return { fields: found, ofValue: true }
    return found[0] === 'response_format' && !path.includes(' ') ? { fields: ['schemas'] } : undefined
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
  ofValue?: boolean | undefined
  /** The shortest texts that say so; only their letters and digits count. */
  words: string[]
}

/** The path that what follows is below: "tools.0.custom: strict", "#/tool_choice: extraneous key [x]". */
function above(text: string): string {
  const path = /([\w.#/[\]-]{1,80}): ?(?:property )?'?$/.exec(text.slice(-100))?.[1] ?? ''
  return inside.test(path) || fieldsOf(path) ? `${path}.` : ''
}

/** What the longest name of up to four words says, at the begin or the end of some. */
function nameIn(words: string, { isBefore }: Form, outer: string, isLoose: boolean) {
  const list = words.trim().split(/\s+/)
  for (let count = 4; count > 0; count--) {
    const name = (isBefore ? list.slice(0, count) : list.slice(-count)).join(' ')
    const rest = isBefore ? '' : words.slice(0, words.lastIndexOf(name))
    const path = (isBefore ? outer : above(rest)) + name
    const found = fieldsOf(path)
    const isEveryday = isLoose && everyday.has(plain(path)) && !name.includes("'")
    if (found && !isEveryday && !(isLoose && found.fields?.[0] === 'schemas') && !ofCaller.test(rest))
      return { ...found, name }
  }
  return undefined
}

/** Reads the names beside a wording, one or a list with commas and "and". Undefined where ordinary words name nothing. */
function beside(text: string, match: RegExpExecArray, form: Form): Said | undefined {
  const { isBefore, ofValue } = form
  const at = match.index
  const end = at + match[0].length
  const isLoose = match[1] !== undefined
  const parts = (
    isBefore
      ? /^(?:[\w ,:'[\]#/*-]|\.(?=\w)){0,300}/.exec(text.slice(end, end + 300))![0]
      : text.slice(Math.max(0, at - 200), at).replace(/^[^]*(?:[.;!?] |[\n(])/, '')
  ).split(/(,? (?:and|or) |, ?)/)
  if (!isBefore) parts.reverse()
  if (ofSchema.test(text.slice(Math.max(0, at - 200), at))) return { at, fields: undefined, words: [] }
  const outer = isBefore ? above(text.slice(0, at)) : ''
  const said: NonNullable<ReturnType<typeof nameIn>>[] = []
  const list: string[] = []
  for (let i = 0; i < parts.length; i += 2) {
    const part = parts[i]!.trim()
    const one = nameIn(part, form, outer, isLoose)
    // A list ends where a sentence goes on. "If you set temperature, top_p is not supported" is none.
    if (!one && (i === 0 ? isLoose || part === '' : /^[^'].* /.test(part))) break
    if (i > 0 && !isBefore && !/[a-z]/.test(parts[1]!)) break
    if (!one?.fields) return { at, fields: undefined, words: [] }
    said.push(one)
    list.push(parts[i - 1] ?? '', one.name)
  }
  const [nearest] = said
  if (!isBefore) {
    said.reverse()
    list.reverse()
  }
  const named = said.flatMap(({ fields = [] }) => fields)
  if (!nearest || (ofValue && !named.every(isValued))) return undefined
  const wording = match[0]
  const edge = isBefore
    ? wording + nearest.name.replace(/(\w)[.:[].*/, '$1')
    : nearest.name.replace(/^.*[.:]/, '') + wording
  return {
    at,
    fields: named,
    ofValue: ofValue ?? nearest.ofValue,
    words: said.length > 1 ? [edge, list.join('')] : [edge],
  }
}

/** Reads printed structure, whose first group is a path and the second what it is below. At an edge, the text around may have made a path longer. */
function inPrint(text: string, forms: RegExp[]): Said[] {
  return forms.flatMap((form) =>
    Array.from(text.matchAll(form), ([all, path = '', outer = '']) => ({
      at: 0,
      fields: fieldsOf(`${outer}.${path}`.replaceAll(' ', ''))?.fields,
      words: [all.replace(/^[\w.]*\.|\W*\d*\W*$/g, '')],
    })),
  )
}

const inFaults = (faults: Fault[], codes?: string[]): Said[] =>
  faults
    .filter(({ code }) => codes?.includes(code) ?? true)
    .map(({ code, path, json }) => ({
      at: 0,
      fields: fieldsOf(path)?.fields,
      ofValue: ofValues.includes(code),
      words: [json],
    }))

/** Those of fields that are refused by their values: another value is a fault of the caller. */
const ofValued = (said: Said[]): Said[] => said.filter(({ fields }) => fields?.every(isValued))

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
      sentences.map(([form, fields]) => {
        const match = form.exec(text)
        return match ? { at: match.index, fields: fields.split(','), words: [match[0]] } : undefined
      }),
    ),
  (_, faults) => inFaults(faults, refusals),
  (_, faults) => ofValued(inFaults(faults, ofValues)),
  (text) => inPrint(text, printed),
  (text) => ofValued(inPrint(text, printedValues)).map((one) => ({ ...one, ofValue: true })),
  (text) =>
    first(
      forms.map((form) => {
        for (const match of text.matchAll(form.wording)) {
          const said = beside(text, match, form)
          if (said) return said
        }
        return undefined
      }),
    ),
  // "Flex is not available for this model", with the parameter beside it. A format may be at fault by its schema.
  (_, faults) =>
    ofValued(inFaults(faults))
      .filter(({ fields }) => fields![0] !== 'response_format')
      .map((one) => ({ ...one, ofValue: true })),
]

/**
 * What an answer with 400 or 422 refuses, by its structure or else by its texts.
 * @param answer its body, as text or parsed
 * @returns `text`: all texts of the answer, with quotes of one kind
 */
export function refusalsIn(answer: unknown): { text: string; said: Said[] } {
  const { texts, faults } = errorParts(answer)
  // Proxies put the vendor's JSON into texts of their own.
  const text = texts
    .join('\n')
    .replaceAll('\\', '')
    .replace(/["`‘’“”]/g, "'")
  for (const read of readers) {
    const said = read(text, faults)
    if (said.length > 0) return { text, said }
  }
  return { text, said: [] }
}

/** What another member of a group may have: tools, pictures, and whatever is refused in ordinary words without a parameter's name. */
const others =
  /\b(?:does|do|is|are)(?: not|n't) (?:support|permitted|enabled|allowed with)|' is not allowed|\bis unsupported\b|tool choice requires|not a multimodal|at most 0 /i

/** Whether an answer refuses some parameter, known or not. @param codes its codes and types */
export function refusesParameter(answer: unknown, codes: unknown[]): boolean {
  const { text, said } = refusalsIn(answer)
  return said.length > 0 || codes.some((code) => refusals.includes(code as string)) || others.test(text)
}
