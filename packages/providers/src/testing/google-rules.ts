import { isObject } from '@turnpike/core/helpers'
import { known } from './google-fields.js'
import { checkMedia } from './google-media-rules.js'
import { checkReferences, checkSchema, checkToolConfig, checkTools, declared } from './google-tool-rules.js'
import type { Json, NumberRange, Problem } from './rules.js'
import { first, words } from './rules.js'

/** The version of a model; aliases of the newest, and names without one, are newer than all. */
const versionOf = (model: string): number =>
  Number(/^gemini-(\d+(\.\d+)?)/.exec(model)?.[1] ?? (/^gemini-(.*latest$|nano-banana)/.test(model) ? Infinity : NaN))

/** Models with thinking levels and signed calls. */
export const isGemini3 = (model: string): boolean => versionOf(model) >= 3

const requestFields = words(
  'contents tools toolConfig safetySettings systemInstruction generationConfig cachedContent model serviceTier store',
)

/** The data fields of a part, of which it has exactly one, and their members: required ones first, then the others. */
const partData: Record<string, [required: string[], optional: string[]]> = {
  text: [[], []],
  inlineData: [['mimeType', 'data'], []],
  fileData: [['fileUri'], ['mimeType']],
  functionCall: [['name'], ['args', 'id']],
  functionResponse: [
    ['name', 'response'],
    ['id', 'parts'],
  ],
}
const partFields = [...Object.keys(partData), 'thought', 'thoughtSignature']

function checkPart(part: unknown, at: string): Problem {
  const problem = known(part, partFields, at)
  if (problem) return problem
  const data = Object.keys(part as Json).filter((name) => partData[name])
  const [name, second] = data
  if (name === undefined)
    return `* GenerateContentRequest.${at}.data: required oneof field 'data' must have one initialized field`
  if (second !== undefined)
    return `Invalid value at '${at}' (oneof), oneof field 'data' is already set. Cannot set '${second}'`
  const value = (part as Json)[name]
  if (name === 'text') return typeof value === 'string' ? undefined : `Invalid value at '${at}.text' (TYPE_STRING)`
  const [required, optional] = partData[name]!
  return (
    known(value, [...required, ...optional], `${at}.${name}`) ??
    first([...required, ...optional], (member) => {
      const inner = (value as Json)[member]
      const place = `${at}.${name}.${member}`
      if (inner === undefined || inner === '')
        return required.includes(member) ? `* GenerateContentRequest.${place}: must not be empty` : undefined
      if (member === 'parts') return checkResultParts(inner, place)
      const struct = member === 'args' || member === 'response'
      return (struct ? isObject(inner) : typeof inner === 'string')
        ? undefined
        : `Invalid value at '${place}' (${struct ? 'type.googleapis.com/google.protobuf.Struct' : 'TYPE_STRING'})`
    })
  )
}

/** The media types of the parts of a result. */
const resultTypes = /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/

const checkResultParts = (parts: unknown, at: string): Problem =>
  Array.isArray(parts)
    ? first(parts, (part, i) => {
        const place = `${at}[${i}]`
        const problem =
          known(part, ['inlineData'], place) ?? known((part as Json)['inlineData'], ['mimeType', 'data'], place)
        if (problem) return problem
        const { mimeType = '' } = ((part as Json)['inlineData'] ?? {}) as { mimeType?: string }
        return resultTypes.test(mimeType) ? undefined : `Unsupported MIME type in function response: ${mimeType}`
      })
    : `Invalid value at '${at}'`

function checkContents(contents: unknown): Problem {
  if (!Array.isArray(contents) || contents.length === 0)
    return '* GenerateContentRequest.contents: contents is not specified'
  return first(contents, (content, i) => {
    const at = `contents[${i}]`
    const problem = isObject(content) ? known(content, ['role', 'parts'], at) : `Invalid value at '${at}'`
    if (problem) return problem
    const { role, parts } = content as Json
    if (role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
    return Array.isArray(parts) && parts.length > 0
      ? first(parts, (part, k) => checkPart(part, `${at}.parts[${k}]`))
      : `* GenerateContentRequest.${at}.parts: contents.parts must not be empty.`
  })
}

interface Content {
  role: string
  parts: (Json & { functionCall?: Json; functionResponse?: Json })[]
}

const namesOf = (content: Content | undefined, kind: 'functionCall' | 'functionResponse'): string[] =>
  (content?.parts ?? []).flatMap((part) => (part[kind] ? [part[kind]['name'] as string] : []))

/** A turn with calls must follow a user turn and be followed by one content with the same number of results, with the same names. Each result needs a call. */
const checkRounds = (contents: Content[]): Problem =>
  first(contents, (content, i) => {
    const calls = namesOf(content, 'functionCall')
    const results = namesOf(contents[i + 1], 'functionResponse')
    if (calls.length > 0 && contents[i - 1]?.role !== 'user')
      return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    if (calls.length !== results.length || (i === 0 && namesOf(content, 'functionResponse').length > 0))
      return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    return calls.toSorted().join() === results.toSorted().join()
      ? undefined
      : 'Please ensure that function response turn comes immediately after a function call turn, and that their names match.'
  })

/** After the last user text, the first call of each turn must have a signature. */
function checkSignatures(contents: Content[], model: string): Problem {
  if (!isGemini3(model)) return undefined
  const step = contents.findLastIndex(
    (content) => content.role === 'user' && namesOf(content, 'functionResponse').length === 0,
  )
  return first(contents, (content, i) => {
    const call = content.parts.find((part) => part.functionCall)
    return i > step && call && !call['thoughtSignature']
      ? `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly. Additional data, function call \`${call.functionCall!['name'] as string}\`, position ${i + 1}.`
      : undefined
  })
}

const isImage = (part: Json): boolean =>
  String((part['inlineData'] as Json | undefined)?.['mimeType']).startsWith('image/')

/** The images of earlier answers need a signature since Gemini 3; of image models, so does what such an answer begins with. */
function checkSignedImages(contents: Content[], model: string): Problem {
  if (!isGemini3(model)) return undefined
  return first(contents, ({ role, parts }, i) =>
    first(role === 'model' ? parts : [], (part, k) => {
      const needs = isImage(part) || (k === 0 && /image|banana/.test(model))
      return needs && !part['thoughtSignature']
        ? `${isImage(part) ? 'Image' : 'Text'} part is missing a thought_signature in content position ${i + 1}, part position ${k + 1}.`
        : undefined
    }),
  )
}

const idsOf = (content: Content | undefined, kind: 'functionCall' | 'functionResponse'): unknown[] =>
  (content?.parts ?? []).flatMap((part) => (part[kind] ? [part[kind]['id']] : []))

/** Since 3.5 a result has the id of its call; before Gemini 3 it has no parts. From 3.6 on, and for 3.5 Flash-Lite, an answer cannot be continued. */
function checkTurns(contents: Content[], model: string): Problem {
  const version = versionOf(model)
  const results = contents.flatMap(({ parts }) => parts.flatMap(({ functionResponse }) => functionResponse ?? []))
  if (!isGemini3(model) && results.some((result) => (result as Json)['parts']))
    return 'Multimodal function responses are not supported for this model.'
  if ((version >= 3.6 || (version >= 3.5 && model.includes('-lite'))) && contents.at(-1)!.role === 'model')
    return 'Requests ending with a model turn are not supported.'
  if (!(version >= 3.5)) return undefined
  return first(contents, (content, i) => {
    const calls = idsOf(content, 'functionCall')
    const answered = idsOf(contents[i + 1], 'functionResponse')
    return calls.includes(undefined) || calls.toSorted().join() !== answered.toSorted().join()
      ? 'Please ensure that each function response has the id and the name of its function call.'
      : undefined
  })
}

/** The thinking levels that a model lacks. */
function lacks(model: string, level: string): boolean {
  const version = versionOf(model)
  if (/image|banana/.test(model))
    return /-pro-image/.test(model) ? !/^(low|high)$/.test(level) : !/^(minimal|high)$/.test(level)
  if (level === 'minimal') return !model.includes('-lite') && (version >= 3.7 || model.includes('-pro'))
  if (level === 'medium') return version === 3 && model.includes('-pro')
  return level === 'xhigh' && (version < 4 || /-(argon|flash|pro|lite)/.test(model))
}

const generationFields = words(
  `stopSequences responseMimeType responseSchema responseJsonSchema responseModalities candidateCount maxOutputTokens temperature topP topK seed
  presencePenalty frequencyPenalty responseLogprobs logprobs enableEnhancedCivicAnswers speechConfig thinkingConfig imageConfig mediaResolution`,
)

const ranges: NumberRange[] = [
  ['temperature', 0, 2, false],
  ['topP', 0, 1, false],
  ['topK', 1, 1e9, true],
  ['candidateCount', 1, 8, true],
  ['maxOutputTokens', 1, 1e9, true],
  ['presencePenalty', -2, 2, false],
  ['frequencyPenalty', -2, 2, false],
  ['seed', -(2 ** 31), 2 ** 31 - 1, true],
]

const checkRanges = (config: Json): Problem =>
  first(ranges, ([name, min, max, integer]) => {
    const value = config[name]
    if (value === undefined) return undefined
    if (typeof value !== 'number' || (integer && !Number.isInteger(value)))
      return `Invalid value at 'generation_config.${name}' (${integer ? 'TYPE_INT32' : 'TYPE_FLOAT'}), ${JSON.stringify(value)}`
    return value < min || value > max
      ? `* GenerateContentRequest.generation_config.${name}: ${name} must be in the range [${min}, ${max}].`
      : undefined
  })

function checkThinking(thinking: unknown, model: string): Problem {
  const at = 'generation_config.thinking_config'
  const problem = known(thinking, ['includeThoughts', 'thinkingBudget', 'thinkingLevel'], at)
  if (problem || thinking === undefined) return problem
  const { thinkingBudget: budget, thinkingLevel: level } = thinking as Json
  if (budget !== undefined && !Number.isInteger(budget))
    return `Invalid value at '${at}.thinking_budget' (TYPE_INT32), ${JSON.stringify(budget)}`
  if (level === undefined) return undefined
  if (budget !== undefined) return 'You can only set only one of thinking budget and thinking level.'
  if (!isGemini3(model)) return 'Thinking level is not supported for this model.'
  const word = String(level).toLowerCase()
  if (lacks(model, word))
    return `Thinking level ${word.toUpperCase()} is not supported for this model. Please retry with other thinking level.`
  return /^(minimal|low|medium|high|xhigh)$/.test(word)
    ? undefined
    : `Invalid value at '${at}.thinking_level' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), "${String(level)}"`
}

function checkGeneration({ generationConfig: config, tools, toolConfig }: Json, model: string): Problem {
  const problem = known(config, generationFields, 'generation_config')
  if (problem || !isObject(config)) return problem
  const { stopSequences: stops = [], responseMimeType: mime, responseSchema, responseJsonSchema } = config
  if (!Array.isArray(stops) || !stops.every((stop) => typeof stop === 'string' && stop !== ''))
    return "Invalid value at 'generation_config.stop_sequences' (TYPE_STRING)"
  if (stops.length > 5)
    return '* GenerateContentRequest.generation_config.stop_sequences: at most 5 stop sequences are supported.'
  if (mime !== undefined && !['text/plain', 'application/json', 'text/x.enum'].includes(mime as string))
    return `* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are \`text/plain\`, \`application/json\` and \`text/x.enum\`.`
  if (responseSchema !== undefined && responseJsonSchema !== undefined)
    return 'Only one of response_schema and response_json_schema can be set.'
  if ((responseSchema ?? responseJsonSchema) !== undefined && mime !== 'application/json')
    return "A response schema is only supported with a response mime type of 'application/json'."
  if (mime === 'application/json' && declared(tools).length > 0 && /^gemini-[12]/.test(model))
    return "Function calling with a response mime type: 'application/json' is unsupported"
  const { functionCallingConfig } = (toolConfig ?? {}) as { functionCallingConfig?: { mode?: string } }
  if (mime === 'application/json' && functionCallingConfig?.mode === 'ANY')
    return "Forced function calling (ANY mode) with a response mime type: 'application/json' is unsupported"
  return (
    checkRanges(config) ??
    checkThinking(config['thinkingConfig'], model) ??
    checkSchema(responseSchema, 'generation_config.response_schema') ??
    checkReferences(responseJsonSchema)
  )
}

function checkInstruction(instruction: unknown): Problem {
  const problem = known(instruction, ['role', 'parts'], 'system_instruction')
  if (problem || !isObject(instruction)) return problem
  const { parts } = instruction
  if (!Array.isArray(parts) || parts.length === 0)
    return '* GenerateContentRequest.system_instruction.parts: must not be empty.'
  return first(parts, (part, i) =>
    isObject(part) && part['text'] === undefined
      ? `* GenerateContentRequest.system_instruction.parts[${i}]: only text is supported.`
      : checkPart(part, `system_instruction.parts[${i}]`),
  )
}

/**
 * Validates a request of generateContent; undefined if valid.
 * @example const message = googleRefusal('gemini-2.5-flash', { contents: [] })
 */
export function googleRefusal(model: string, body: unknown): string | undefined {
  if (!isObject(body)) return 'Invalid JSON payload received. Expected an object.'
  return (
    known(body, requestFields) ??
    checkInstruction(body['systemInstruction']) ??
    checkContents(body['contents']) ??
    checkRounds(body['contents'] as Content[]) ??
    checkSignatures(body['contents'] as Content[], model) ??
    checkSignedImages(body['contents'] as Content[], model) ??
    checkTurns(body['contents'] as Content[], model) ??
    checkTools(body['tools']) ??
    checkToolConfig(body) ??
    checkGeneration(body, model) ??
    checkMedia(body, model)
  )
}
