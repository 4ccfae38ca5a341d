/**
 * By which codes and words an upstream refuses a parameter. All families and servers are here, because proxies repeat the words of whatever stands
 * behind them.
 * @module
 */
import { plain } from './callers-words.js'
import type { Fault } from './error-text.js'
import { errorParts } from './error-text.js'
import type { Named } from './parameter-names.js'
import { fieldsOf, isValued } from './parameter-names.js'

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
/** Words of any sentence, which mean a parameter only in quotes. */
const everyday = new Set(['user', 'store', 'stop', 'metadata', 'strict', 'maxtokens'])
/** What a value of the caller is: "an empty `stop` is not allowed"; and what else may have such a name: "the language 'user' is not supported". */
const ofCaller =
  /\b(?:empty|negative|null|zero|duplicate|many|model|named|format|language|role) '?$|\w(?<!\b(?:the|this|parameters?|fields?|arguments?|propert(?:y|ies)|keys?|value)) '$/i
/** A schema, function or message of the caller, whose fields may have such names: "Invalid schema for function 'f': unknown field 'seed'". */
const ofSchema =
  /schema(?: for|:) |input_?schema|in context=|\b(?:function|tool) '|\b(?:in|at) (?:the |your )?'?(?:schema|function|tool|message|content)/i
/** Where fields have other meanings: "messages[0]: unknown field `metadata`". */
const inside = /^\W*(?:messages|contents|system|tools?|tool_?choice|functions|input\W)/i

/**
 * What a wording is about: a `field`, whatever its name is; a field that is known, in `ordinary` words; or the `value` of one.
 */
type Kind = 'field' | 'ordinary' | 'value'

/** The wordings of all families and servers before a name. Sources: the vendors' references, the servers' sources, and recorded errors. */
const beforeNames: [Kind, RegExp][] = [
  // OpenAI, Azure, Gemini, llama.cpp, NVIDIA ("parameter(s)"), Bedrock ("extraneous key [x]"), Azure ("Extra parameters ['x'] are not allowed"), serde, zod,
  // Jackson, AJV, jsonschema ("Additional properties are not allowed ('x' was unexpected)"), Python, Replicate, Cohere ("unknown field: parameter x").
  [
    'field',
    /(?:un(?:supported|recogni[sz]ed|known|expected)|incompatible|extra(?:neous)?|additional) (?:request |keyword )?(?:param(?:eter)?|field|argument|name|key|propert)(?:s|y|ies|\(s\))?(?!\w)(?: supplied| in object| are not allowed)?:? ?[(['*]*(?:parameter )?/gi,
  ],
  // xAI: "Argument not supported on this model: x"; Fireworks: "Extra inputs are not permitted, field: 'x'"; xAI, litellm, DeepSeek, Volcengine.
  [
    'field',
    /(?:argument|parameter|field)s? (?:is |are )?not (?:supported|allowed|permitted)(?: on this model)?: ?|not permitted, field: |do(?:es)?(?: not|n't) support (?:the )?(?:requested )?parameters?:? ?/gi,
  ],
  // Claude, Ollama, vLLM; OpenAI ("Unsupported value: 'x' does not support 2").
  [
    'ordinary',
    /do(?:es)?(?: not|n't) support (?:the |per-request )?|unsupported value: |not allowed to (?:request|use|set) /gi,
  ],
  // "invalid encoding_format: base64", "Invalid service_tier argument"; Fireworks. A format may be invalid by its schema.
  ['value', /unsupported |invalid (?:value (?:for|at) )?(?!'?response)|input should be '[^\n]{0,200}?, field: /gi],
]
/** Those after a name. */
const afterNames: [Kind, RegExp][] = [
  // Claude, FastAPI; NestJS; watsonx, Cohere; marshmallow.
  [
    'field',
    /:?\s{1,9}extra (?:inputs|fields) (?:are )?not permitted| should not exist| is not a valid field|: unknown field(?=\.|$)/gi,
  ],
  // OpenAI, Groq, Cerebras, Gemini, Claude, vLLM, Azure and others.
  [
    'ordinary',
    / (?:is|are|was|were)(?:(?: not|n't) (?:currently |yet )?(?:supported|permitted|allowed(?! to)|enabled|configurable|available|accepted|compatible|recognized)| unsupported| deprecated| unavailable| enabled only)/gi,
  ],
  // Kimi: "invalid x: only 1 is allowed"; Claude.
  [
    'ordinary',
    /: only [\d.]{1,10} is allowed| must be unset| (?:may|can) only be set to [\d.]{1,10} when| can(?:not|'t) be (?:used|specified|changed|modified)/gi,
  ],
  // serde, pydantic; Groq, LM Studio, llama.cpp.
  [
    'value',
    /:?\s{1,9}(?:unknown variant|input should be)|(?<=(?:reasoning_effort|verbosity|service_tier|response_format|encoding_format)(?:\.type| type)?'?\]?) (?:must|should) be/gi,
  ],
]

/** FastAPI's and OpenAI's structure as Python or a proxy prints it within a text, and Gemini's lines: all of them count. */
const printed: RegExp[] = [
  /invalid json payload received\. unknown name '(?<path>[\w.[\]]{1,80})' at '(?<outer>[\w.[\]]{0,120})'/gi,
  /type': ?'(?<code>[\w.]{1,40})', ?'loc': ?[[(](?<path>[^\])]{1,200})[\])]/gi,
  /'loc': ?[[(](?<path>[^\])]{1,200})[\])], ?'msg': ?'extra (?:inputs|fields) (?:are )?not permitted/gi,
  /'param': ?'(?<path>[^']{1,80})', ?'code': ?'(?<code>\w{1,40})/gi,
  /^(?<path>[\w.]{1,80})\n {1,9}[^\n[]{1,120}\[type=(?<code>\w{1,40})/gim,
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

/** What one wording says. Without `ofValue`, only the text can tell ({@link valueWords}). */
export interface Said extends Named {
  /** Where the wording is in the text. */
  at: number
  /** The shortest texts that say so; only their letters and digits count. None where something of the caller is at fault. */
  words: string[]
}

/** The path that what follows is below: "tools.0.custom: strict", "#/tool_choice: extraneous key [x]". */
function above(text: string): string {
  const path = /([\w.#/[\]-]{1,80}): ?(?:property )?'?$/.exec(text.slice(-100))?.[1] ?? ''
  return inside.test(path) || fieldsOf(path) ? `${path}.` : ''
}

/** What the longest name of up to four words says, at the begin or the end of some; and the shortest, as the text around may have made it longer. */
function nameIn(words: string, isFirst: boolean, outer: string, isOrdinary: boolean) {
  const list = words.trim().split(/\s+/)
  const names = [4, 3, 2, 1].map((count) => (isFirst ? list.slice(0, count) : list.slice(-count)).join(' '))
  for (const name of names) {
    const rest = isFirst ? '' : words.slice(0, words.lastIndexOf(name))
    const path = (isFirst ? outer : above(rest)) + name
    const found = fieldsOf(path)
    const isEveryday = everyday.has(plain(path)) && !name.includes("'")
    const isNone = isOrdinary && (isEveryday || found?.fields?.[0] === 'schemas')
    if (found && !isNone && !ofCaller.test(name.startsWith("'") ? `${rest}'` : rest))
      return { ...found, name, shortest: names.findLast(fieldsOf) ?? name }
  }
  return undefined
}

/** Reads the names beside a wording, one or a list with commas and "and". Undefined where ordinary words name nothing. */
function beside(text: string, { 0: wording, index: at }: RegExpExecArray, isBefore: boolean, kind: Kind) {
  const before = text.slice(Math.max(0, at - 200), at)
  const end = at + wording.length
  if (ofSchema.test(before) || ofSchema.test(text.slice(end, end + 60))) return { at, fields: undefined, words: [] }
  const isOrdinary = kind !== 'field'
  const parts = (
    isBefore
      ? /^(?:[\w ,:'[\]#/*-]|\.(?=\w)){0,300}/.exec(text.slice(end, end + 300))![0]
      : before.replace(/^[^]*(?:[.;!?] |[\n(])/, '')
  ).split(/(,? (?:and|or) |, ?)/)
  if (!isBefore) parts.reverse()
  const outer = isBefore ? above(before) : ''
  const found: NonNullable<ReturnType<typeof nameIn>>[] = []
  const list: string[] = []
  for (let i = 0; i < parts.length; i += 2) {
    const part = parts[i]!.trim()
    const one = nameIn(part, isBefore, outer, isOrdinary)
    // A list ends where a sentence goes on. "If you set temperature, top_p is not supported" is none.
    if (!one && (i === 0 ? isOrdinary || part === '' : /^[^'].* /.test(part))) break
    if (i > 0 && !isBefore && !/[a-z]/.test(parts[1]!)) break
    if (!one?.fields) return { at, fields: undefined, words: [wording] }
    found.push(one)
    list.push(parts[i - 1] ?? '', one.name)
  }
  const [nearest] = found
  if (!isBefore) {
    found.reverse()
    list.reverse()
  }
  const fields = found.flatMap((one) => one.fields!)
  if (!nearest || (kind === 'value' && !fields.every(isValued))) return undefined
  const edge = isBefore
    ? wording + nearest.shortest.replace(/(\w)\W*[.:[/].*/, '$1')
    : nearest.shortest.replace(/^.*[.:[/]/, '') + wording
  const said: Said = { at, fields, ofValue: kind === 'value' || nearest.ofValue, words: [edge] }
  if (found.length > 1) said.words.push(list.join(''))
  return said
}

/** The first that the wordings of a kind say. */
function inWords(text: string, [kind, wording]: [Kind, RegExp], isBefore: boolean): Said | undefined {
  for (const match of text.matchAll(wording)) {
    const said = beside(text, match, isBefore, kind)
    if (said) return said
  }
  return undefined
}

/** What is printed in a text. At an edge, the text around may have made a path longer. */
const faultsIn = (text: string): Fault[] =>
  printed.flatMap((form) =>
    Array.from(text.matchAll(form), ({ 0: all, groups = {} }) => {
      const { code = 'extra_forbidden', path, outer = '' } = groups
      return {
        code,
        path: `${outer}.${path}`.replaceAll(' ', ''),
        json: plain(all.replace(/^[\w.]*\./, '')).replace(/(\D)\d+$/, '$1'),
      }
    }),
  )

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

/** Characters that are read of all texts of an answer. */
const READ = 16_000

/**
 * What an answer with 400 or 422 refuses, by its structure or else by its texts. Where one way of reading finds something, the others are not asked.
 * @param answer its body, as text or parsed
 * @returns `text`: all texts of the answer, with quotes of one kind
 */
export function refusalsIn(answer: unknown): { text: string; said: Said[] } {
  const { texts, faults } = errorParts(answer)
  // Proxies put the vendor's JSON into texts of their own.
  const text = texts
    .join('\n')
    .slice(0, READ)
    .replaceAll('\\', '')
    .replace(/["`‘’“”]/g, "'")
  const readers = [
    () =>
      first(
        sentences.map(([form, fields]) => {
          const match = form.exec(text)
          return match ? { at: match.index, fields: fields.split(','), words: [match[0]] } : undefined
        }),
      ),
    ...[() => faults, () => faultsIn(text)].flatMap((given) => [
      () => inFaults(given(), refusals),
      () => ofValued(inFaults(given(), ofValues)),
    ]),
    () =>
      first([
        ...beforeNames.map((one) => inWords(text, one, true)),
        ...afterNames.map((one) => inWords(text, one, false)),
      ]),
    // "Flex is not available for this model", with the parameter beside it. A format may be at fault by its schema.
    () =>
      ofValued(inFaults(faults))
        .filter(({ fields }) => fields![0] !== 'response_format')
        .map((one) => ({ ...one, ofValue: true })),
  ]
  for (const read of readers) {
    const said = read()
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
  return (
    said.some(({ words }) => words.length > 0) ||
    codes.some((code) => refusals.includes(code as string)) ||
    others.test(text)
  )
}
