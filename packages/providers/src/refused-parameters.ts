/**
 * Reads which parameters an upstream refuses, from what it answers with 400 or 422, and leaves them out of requests. All families and servers
 * are here, because proxies repeat the words of whatever stands behind them.
 * @module
 */
import type { ChatCompletionRequest, Note, ToolDefinition } from '@turnpike/core'
import { extend, isObject } from '@turnpike/core/internal'
import { formatInWords } from './format-in-words.js'
import { efforts } from './request-fields.js'

/**
 * What is left out of requests: a field of OpenAI's form, or a field with one value (`reasoning_effort=minimal`). `schemas=…` stands for all schemas
 * of a request that an upstream would have to enforce, by their digest.
 */
export type Loss = string

/** The effort is refused beside tools, unless it is `none`. */
const EFFORT_BESIDE_TOOLS = 'reasoning_effort=beside tools'

/**
 * The fields that a client can do without, by their names at upstreams in lower case and without other characters than letters and digits. Never
 * here are messages, tools and the model; of the limit, only its other name is sent.
 */
const fields: Record<string, string[]> = {
  temperature: ['temperature'],
  topp: ['top_p'],
  topk: ['top_k'],
  minp: ['min_p'],
  seed: ['seed'],
  randomseed: ['seed'],
  frequencypenalty: ['frequency_penalty'],
  presencepenalty: ['presence_penalty'],
  repetitionpenalty: ['repetition_penalty'],
  penalty: ['frequency_penalty', 'presence_penalty'],
  penalties: ['frequency_penalty', 'presence_penalty'],
  logitbias: ['logit_bias'],
  logprobs: ['logprobs', 'top_logprobs'],
  responselogprobs: ['logprobs', 'top_logprobs'],
  toplogprobs: ['top_logprobs'],
  stop: ['stop'],
  stopsequences: ['stop'],
  reasoningeffort: ['reasoning_effort'],
  reasoning: ['reasoning_effort'],
  effort: ['reasoning_effort'],
  outputconfigeffort: ['reasoning_effort'],
  thinking: ['reasoning_effort'],
  adaptivethinking: ['reasoning_effort'],
  thinkingconfig: ['reasoning_effort'],
  generationconfigthinkingconfig: ['reasoning_effort'],
  thinkinglevel: ['reasoning_effort'],
  thinkingbudget: ['reasoning_effort'],
  verbosity: ['verbosity'],
  textverbosity: ['verbosity'],
  streamoptions: ['stream_options'],
  includeusage: ['stream_options'],
  paralleltoolcalls: ['parallel_tool_calls'],
  disableparalleltooluse: ['parallel_tool_calls'],
  toolchoicedisableparalleltooluse: ['parallel_tool_calls'],
  servicetier: ['service_tier'],
  encodingformat: ['encoding_format'],
  base64: ['encoding_format'],
  base64encoding: ['encoding_format'],
  strict: ['strict'],
  responseformat: ['response_format'],
  responseformattype: ['response_format'],
  outputformat: ['response_format'],
  outputconfigformat: ['response_format'],
  structuredoutput: ['response_format'],
  structuredoutputs: ['response_format'],
  jsonschema: ['response_format'],
  jsonobject: ['response_format'],
  jsonmode: ['response_format'],
  responseschema: ['response_format'],
  responsejsonschema: ['response_format'],
  responsemimetype: ['response_format'],
  prediction: ['prediction'],
  user: ['user'],
  safetyidentifier: ['safety_identifier'],
  metadata: ['metadata'],
  store: ['store'],
  promptcachekey: ['prompt_cache_key'],
  promptcacheretention: ['prompt_cache_retention'],
  maxtokens: ['max_tokens'],
  maxcompletiontokens: ['max_completion_tokens'],
}

/** Words of any sentence, which mean a parameter only in quotes. */
const everyday = new Set(['user', 'store', 'stop', 'metadata', 'seed', 'strict', 'maxtokens'])

/** Wordings that name the parameters that are refused, one or a list. */
const names: RegExp[] = [
  // OpenAI, Azure, llama.cpp: "Unsupported parameter: 'x' is not supported with this model", "Unsupported param: x".
  /unsupported (?:parameter|param|field|argument)s?:? ?['"`]?([\w.*[\]-]{1,80})/gi,
  // OpenAI: "Unsupported value: 'temperature' does not support 0.2 with this model."
  /unsupported value: ['"`]([\w.]{1,80})['"`] does not support/gi,
  // OpenAI: "Unrecognized request argument supplied: x", "Model incompatible request arguments supplied: x, y".
  /request arguments? supplied: ((?:[\w, ]|\.(?=\w)){1,400})/gi,
  // OpenAI, Gemini, and servers in Rust: "Unknown parameter: 'x'", "Unknown name "x" at …", "unknown field `x`".
  /unknown (?:parameter|name|field|argument)s?:? ['"`]?([\w.[\]]{1,80})/gi,
  // Claude: "x: Extra inputs are not permitted"; Fireworks: "Extra inputs are not permitted, field: 'x'".
  /([\w.]{1,80}): extra (?:inputs|fields) (?:are )?not permitted/gi,
  /(?:inputs|fields) (?:are )?not permitted, field: ['"]?([\w.]{1,80})/gi,
  // Groq, Cerebras: "property 'x' is unsupported".
  /property ['"`]([\w.]{1,80})['"`] is unsupported/gi,
  // xAI: "Argument not supported on this model: x", "Model y does not support parameter x"; litellm: "does not support parameters: ['x']".
  /arguments? not supported(?: on this model)?: ?['"`]?([\w.]{1,80})/gi,
  /does not support parameters?:? ?[[('"`]{0,2}((?:[\w,'` ]|\.(?=\w)){1,400})/gi,
  // Kimi: "invalid temperature: only 1 is allowed for this model".
  /invalid ([\w.]{1,80}): only [\d.]{1,10} is allowed/gi,
]
/** FastAPI's, as JSON and as Python prints it (Mistral, vLLM): the path of a field. */
const paths: RegExp[] = [
  /type['"]: ?['"](?:extra_forbidden|value_error\.extra)['"], ?['"]loc['"]: ?[[(]([^\])]{1,200})[\])]/gi,
  /['"]loc['"]: ?[[(]([^\])]{1,200})[\])], ?['"]msg['"]: ?['"]extra (?:inputs|fields) (?:are )?not permitted/gi,
]

/** "x is not supported", also of several words: "Thinking level is not supported for this model", "`temperature` is deprecated for this model". */
const subject =
  /(['"`]?)((?:[\w.]{1,40}['"`]? ['"`]?)?(?:[\w.]{1,40}['"`]? ['"`]?)?[\w.]{1,40})(['"`]?) (?:is|are) (?:not (?:currently |yet )?(?:supported|permitted|allowed|enabled|configurable|available|accepted)|unsupported|deprecated|unavailable)/gi
/** "does not support x": "This model does not support the effort parameter". */
const object =
  /(?:does not|doesn't|do not|don't) support (?:the )?(['"`]?)((?:[\w.]{1,40}['"`]? )?(?:[\w.]{1,40}['"`]? )?[\w.]{1,40})/gi

/** A value that is refused, and not the parameter: "Supported values are: 'medium'", "must be one of `none` or `default`". */
const ofValue =
  /unsupported[ _]value|supported values|does not support '|invalid[ _]value|literal_error|must be (?:one of |either |')|should be (?:one of |')|input should be/i
const named =
  /['"`]?(reasoning_effort|verbosity|service_tier|response_format(?:\.type)?|encoding_format)['"`]?\]? ?(?:must be|should be)/gi
const location = /['"]loc['"]: ?[[(]([^\])]{1,200})[\])]/gi

const tooLarge =
  /grammar is too large|schema is too complex|too many (?:optional|strict|union)|unknown name "[^"]{1,80}" at '(?:generation_?config\.)?response_?(?:json_?)?schema/i
const besideTools = /tools with reasoning_effort are not supported/i

const plain = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The fields that a name or path stands for: `tools.0.custom.strict`, `'body', 'stream_options', 'include_usage'`. Undefined if it is none to do without. */
function fieldsOf(path: string): string[] | undefined {
  const steps = path
    .split(/[.,[\]'"` ]+/)
    .map(plain)
    .filter((step) => step !== '' && step !== 'body' && !/^\d+$/.test(step))
  if (steps.at(-1) === 'strict') return fields['strict']
  for (let end = steps.length; end > 0; end--) {
    const name = steps.slice(0, end).join('')
    if (Object.hasOwn(fields, name)) return fields[name]
  }
  return undefined
}

/** The fields that the last or the first of some words stand for. */
function fieldsIn(words: string, isQuoted: boolean, fromEnd: boolean): string[] {
  const list = words.split(/[ '"`]+/).filter((word) => word !== '')
  for (let count = list.length; count > 0; count--) {
    const name = plain((fromEnd ? list.slice(-count) : list.slice(0, count)).join(''))
    if (Object.hasOwn(fields, name) && (isQuoted || !everyday.has(name))) return fields[name]!
  }
  return []
}

/** The first group of each match. */
const groups = (text: string, pattern: RegExp): string[] => Array.from(text.matchAll(pattern), (match) => match[1]!)

/** The fields of all that an answer refuses; undefined where it refuses one that cannot be done without. */
function refusedFields(text: string): Set<string> | undefined {
  const found = new Set<string>()
  const refused = names.flatMap((pattern) => groups(text, pattern).flatMap((list) => list.split(/['"`]?, ?/)))
  for (const pattern of paths) refused.push(...groups(text, pattern))
  // The parameter that OpenAI names beside the message, of which some proxies hide a part: `***.effort`.
  if (/"code": ?"(?:unsupported_(?:parameter|value)|unknown_parameter)"/.test(text))
    for (const param of groups(text, /"param": ?"([^"]{1,80})"/g)) refused.push(param)
  for (const path of refused) {
    if (path === '') continue
    const known = fieldsOf(path)
    if (!known) return undefined
    for (const field of known) found.add(field)
  }
  if (refused.length > 0) return found
  for (const [, before, words, after] of text.matchAll(subject))
    for (const field of fieldsIn(words!, before !== '' && after !== '', true)) found.add(field)
  for (const [, before, words] of text.matchAll(object))
    for (const field of fieldsIn(words!, before !== '', false)) found.add(field)
  for (const name of groups(text, named)) for (const field of fieldsOf(name)!) found.add(field)
  if (/literal_error|"code": ?"invalid_value"/.test(text))
    for (const path of [...groups(text, location), ...groups(text, /"param": ?"([^"]{1,80})"/g)])
      for (const field of fieldsOf(path) ?? []) if (field in documented) found.add(field)
  return found
}

/** The values that are documented, of fields whose value may be refused alone. Any other is a fault of the caller. */
const documented: Record<string, readonly string[] | undefined> = {
  reasoning_effort: efforts,
  verbosity: ['low', 'medium', 'high'],
  service_tier: ['auto', 'default', 'flex', 'priority', 'scale', 'standard_only'],
  response_format: ['json_object', 'json_schema'],
}

/** The value by which a field with documented values is refused. */
const valueOf = (request: object, field: string): unknown => {
  const value = (request as Record<string, unknown>)[field]
  return field === 'response_format' ? (value as { type?: unknown } | undefined)?.type : value
}

/** A digest of the schemas of a request. They are few, and it is made only where one was too large. */
function digest({ tools, ...request }: Record<string, unknown>): string {
  const text = JSON.stringify([request['response_format'], tools])
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return `${text.length}-${(hash >>> 0).toString(16)}`
}

/**
 * What to leave out of a request after a refusal; undefined where nothing can be, because it refuses something else.
 * @param answer the body of an answer with 400 or 422
 */
export function lossesBy(answer: string, request: { model: string }): Loss[] | undefined {
  // Proxies put the vendor's JSON into a string of their own, some twice.
  const text = answer.replaceAll('\\', '')
  if (besideTools.test(text)) return [EFFORT_BESIDE_TOOLS]
  if (tooLarge.test(text)) return [`schemas=${digest(request)}`]
  const refused = refusedFields(text)
  if (!refused?.size) return undefined
  const losses: Loss[] = []
  for (const field of refused) {
    // The limit is sent by its other name, if the upstream has that: without one, an answer could cost anything.
    if (field === 'max_tokens' && !text.includes('max_completion_tokens')) return undefined
    const values = documented[field]
    if (!values || !(field === 'response_format' || ofValue.test(text))) {
      losses.push(field)
      continue
    }
    const value = valueOf(request, field)
    if (value === undefined) continue
    if (!values.includes(value as string)) return undefined
    losses.push(`${field}=${String(value)}`)
  }
  return losses.length > 0 ? losses : undefined
}

const withoutStrict = (tool: ToolDefinition): ToolDefinition =>
  tool.type === 'function' && tool.function['strict'] !== undefined
    ? extend(tool, { function: extend(tool.function, { strict: undefined }) })
    : tool

/** A chat request without what its upstream refuses, with a note for each field. The request itself where nothing is left out. */
export function withoutLosses(
  request: ChatCompletionRequest,
  losses: readonly Loss[],
): { request: ChatCompletionRequest; notes: Note[] } {
  const notes: Note[] = []
  const note = (field: string, action: Note['action']): void => void notes.push({ field, action })
  let left = request
  const set = (more: Record<string, unknown>): void => void (left = extend(left, more))
  const tellFormat = (): void => {
    note('response_format', 'emulated')
    left = formatInWords(left)
  }
  const dropStrict = (): void => {
    const tools = left.tools?.map(withoutStrict)
    if (tools?.some((tool, index) => tool !== left.tools![index])) {
      note('tools.function.strict', 'dropped')
      set({ tools })
    }
  }
  for (const loss of losses) {
    const [field = '', value] = loss.split('=')
    if (loss === EFFORT_BESIDE_TOOLS) {
      if (left['reasoning_effort'] === 'none' || !left.tools?.some(({ type }) => type === 'function')) continue
      note('reasoning_effort', 'clamped')
      set({ reasoning_effort: 'none' })
    } else if (field === 'schemas') {
      if (value !== digest(request)) continue
      if (valueOf(left, 'response_format') === 'json_schema') tellFormat()
      dropStrict()
    } else if (field === 'strict') {
      dropStrict()
      const format = left['response_format'] as { json_schema?: { strict?: unknown } } | undefined
      if (isObject(format?.json_schema) && format.json_schema['strict'] !== undefined) {
        note('response_format.json_schema.strict', 'dropped')
        set({ response_format: extend(format, { json_schema: extend(format.json_schema, { strict: undefined }) }) })
      }
    } else if (field === 'stream_options') {
      // The adapter asks for the usage of every stream, and leaves it out.
      if (left.stream) note(field, 'dropped')
    } else if (field === 'max_tokens' || field === 'max_completion_tokens') {
      const other = field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
      if (left[field]) set({ [other]: left[other] ?? left[field], [field]: undefined })
    } else if (left[field] !== undefined && (value === undefined || valueOf(left, field) === value)) {
      if (field === 'response_format') tellFormat()
      else {
        note(field, 'dropped')
        set({ [field]: undefined })
      }
    }
  }
  return { request: left, notes }
}
