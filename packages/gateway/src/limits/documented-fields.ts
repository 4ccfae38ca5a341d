import type { Note } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import { isLimited } from './budgets.js'
import type { Caller, UserCaller } from '../caller.js'
import type { UpstreamOptions } from '../upstream/upstream-request.js'

/** A value whose content does not matter, such as a JSON Schema. */
const anything = Symbol('anything')
/** A text, a number or a boolean. */
const scalar = Symbol('scalar')
/** A scalar, or a list of these. */
const plain = Symbol('plain')
/** An object of any names whose values are scalars. */
const map = Symbol('map')

/** The fields that a value may have, if it is an object or a list of objects. */
export type Fields = typeof anything | typeof scalar | typeof plain | typeof map | { readonly [field: string]: Fields }

const cached = { cache_control: map } as const

const media = { url: plain, data: plain, format: plain, mime_type: plain } as const

const part = {
  ...cached,
  type: plain,
  text: plain,
  refusal: plain,
  title: plain,
  image_url: { url: plain, detail: plain },
  extra_content: anything,
  input_audio: media,
  audio: media,
  audio_url: media,
  video: media,
  video_url: media,
  file: { ...media, file_data: plain, file_id: plain, file_url: plain, filename: plain },
  document: { ...media, file_data: plain, file_id: plain, file_url: plain, filename: plain },
  document_url: { ...media, filename: plain },
} as const

const called = { name: plain, arguments: plain } as const

const message = {
  ...cached,
  role: plain,
  name: plain,
  content: part,
  refusal: plain,
  tool_call_id: plain,
  tool_calls: {
    ...cached,
    id: plain,
    type: plain,
    index: plain,
    function: called,
    custom: { name: plain, input: plain },
    extra_content: anything,
  },
  function_call: called,
  audio: { id: plain, data: plain, expires_at: plain, transcript: plain },
  reasoning_content: plain,
  // Thoughts and signatures, as OpenRouter, LiteLLM and Google have them (docs/decisions/045, 046), and images that models made.
  reasoning_details: {
    type: plain,
    text: plain,
    summary: plain,
    data: plain,
    signature: plain,
    id: plain,
    format: plain,
    index: plain,
  },
  thinking_blocks: { type: plain, thinking: plain, signature: plain, data: plain },
  extra_content: anything,
  images: { type: plain, index: plain, image_url: { url: plain, detail: plain }, extra_content: anything },
  annotations: anything,
} as const

const definition = { ...cached, name: plain, description: plain, parameters: anything, strict: plain } as const

/** The fields of POST /v1/chat/completions: those of our documents and of OpenAI's reference (November 2026). */
export const chatFields: Fields = {
  model: plain,
  messages: message,
  system: plain,
  provider: plain,
  audio: { format: plain, voice: map },
  frequency_penalty: plain,
  function_call: { name: plain },
  functions: definition,
  logit_bias: map,
  logprobs: plain,
  max_completion_tokens: plain,
  max_tokens: plain,
  metadata: map,
  modalities: plain,
  n: plain,
  parallel_tool_calls: plain,
  prediction: { type: plain, content: part },
  presence_penalty: plain,
  prompt_cache_key: plain,
  prompt_cache_options: map,
  prompt_cache_retention: plain,
  reasoning_effort: plain,
  response_format: { type: plain, json_schema: { name: plain, description: plain, schema: anything, strict: plain } },
  safety_identifier: plain,
  seed: plain,
  service_tier: plain,
  stop: plain,
  store: plain,
  stream: plain,
  stream_options: { include_usage: plain, include_obfuscation: plain },
  temperature: plain,
  tool_choice: {
    type: plain,
    function: { name: plain },
    custom: { name: plain },
    allowed_tools: { mode: plain, tools: { type: plain, function: { name: plain }, custom: { name: plain } } },
  },
  tools: {
    ...cached,
    type: plain,
    function: definition,
    custom: { name: plain, description: plain, format: anything },
  },
  top_k: plain,
  top_logprobs: plain,
  top_p: plain,
  user: plain,
  verbosity: plain,
  web_search_options: { search_context_size: plain, user_location: { type: plain, approximate: map } },
}

/** The fields of POST /v1/embeddings. */
export const embeddingFields: Fields = {
  model: plain,
  input: anything,
  provider: plain,
  dimensions: plain,
  encoding_format: plain,
  user: plain,
}

/** The fields of POST /v1/images/generations. */
export const imageFields: Fields = {
  model: plain,
  prompt: plain,
  provider: plain,
  background: plain,
  moderation: plain,
  n: plain,
  output_compression: plain,
  output_format: plain,
  quality: plain,
  response_format: plain,
  size: plain,
  style: plain,
  user: plain,
}

/** The fields of POST /v1/audio/speech. */
export const speechFields: Fields = {
  model: plain,
  input: plain,
  provider: plain,
  instructions: plain,
  response_format: plain,
  speed: plain,
  voice: plain,
}

/** The fields of the form of POST /v1/audio/transcriptions. */
export const transcriptionFields: Fields = {
  model: plain,
  file: anything,
  provider: plain,
  chunking_strategy: plain,
  'include[]': plain,
  'known_speaker_names[]': plain,
  'known_speaker_references[]': plain,
  language: plain,
  prompt: plain,
  response_format: plain,
  temperature: plain,
  'timestamp_granularities[]': plain,
}

const isScalar = (value: unknown): boolean => typeof value !== 'object' || value === null

/** A name without its case, as servers in Go compare names: `ſ` is an `s` to them, and the Kelvin sign a `k`. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

/** The fields by their names without case. */
const spellings = new WeakMap<object, Map<string, string>>()

/** A field that a name only differs from by its case; undefined where there is none. */
function otherSpelling(name: string, fields: Fields & object): string | undefined {
  let known = spellings.get(fields)
  if (!known) spellings.set(fields, (known = new Map(Object.keys(fields).map((field) => [folded(field), field]))))
  return known.get(folded(name))
}

/**
 * Refuses names that only differ from a field by their case, at any depth: some servers take them for that field, which guards, limits and prices
 * would not have seen.
 * @throws ApiError 400
 */
function checkSpelling(value: unknown, fields: Fields, path: string, extra: string[]): void {
  if (typeof fields !== 'object' || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    for (const item of value) checkSpelling(item, fields, path, extra)
    return
  }
  for (const name in value) {
    const inner = (value as Record<string, unknown>)[name]
    const isKnown = Object.hasOwn(fields, name)
    // Nearly all are such fields, and need no path.
    if (isKnown && isScalar(inner)) continue
    const place = path === '' ? name : `${path}.${name}`
    if (isKnown) checkSpelling(inner, fields[name]!, place, extra)
    else {
      const field = extra.includes(place) ? undefined : otherSpelling(name, fields)
      if (field) throw invalid(`There is no field ${place}: its name is ${field}`, { field: place })
    }
  }
}

/** Removes from a value what is not documented. @returns the value itself where nothing is; undefined where nothing of it is left */
function kept(value: unknown, fields: Fields, path: string, drop: (path: string) => void, extra: string[]): unknown {
  if (fields === anything || isScalar(value)) return value
  if (fields === scalar) return drop(path)
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => kept(item, fields === plain ? scalar : fields, path, drop, extra))
    return items.every((item, index) => item === value[index]) ? value : items.filter((item) => item !== undefined)
  }
  if (fields === plain || !isObject(value)) return drop(path)
  const left: [string, unknown][] = []
  let changed = false
  for (const [name, inner] of Object.entries(value)) {
    const place = path === '' ? name : `${path}.${name}`
    const own = fields === map ? scalar : Object.hasOwn(fields, name) ? fields[name] : undefined
    let item: unknown = inner
    if (inner !== undefined && !extra.includes(place))
      item = own === undefined ? drop(place) : kept(inner, own, place, drop, extra)
    if (item !== inner) changed = true
    if (item !== undefined) left.push([name, item])
  }
  return changed ? Object.fromEntries(left) : value
}

/**
 * The request of a caller: as it is for one without limits, and for others without the fields that neither our schemas nor the provider's
 * reference have, at any depth. Where the upstream passes requests on to others, such fields choose another model, account or address, or
 * cost extra.
 * @throws ApiError 400 for another spelling of a field
 * @param notes receives a note for each field that is dropped, by its path without indexes: `messages.content.cost`
 */
export function permitted<T extends object>(
  { balancePolicy, extraFields = [] }: UpstreamOptions,
  caller: Caller,
  request: T,
  fields: Fields,
  notes: Note[],
): T {
  checkSpelling(request, fields, '', extraFields)
  if (!isLimited(caller as UserCaller, balancePolicy)) return request
  const dropped = new Set<string>()
  const left = kept(request, fields, '', (path) => void dropped.add(path), extraFields)
  for (const field of dropped) notes.push({ field, action: 'dropped' })
  return left as T
}
