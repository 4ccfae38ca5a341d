/**
 * The names of the parameters that a client can do without, as upstreams call them.
 * @module
 */
import { plain } from './callers-words.js'
import { efforts } from '../requests/request-fields.js'

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
export const isValued = (field: string): boolean => field === 'encoding_format' || Object.hasOwn(documented, field)

/** Words beside a name: "the 'x' parameter", "response_format value as json_schema", "Json mode response". */
const nouns = new Set('parameter parameters argument field property value type of as response'.split(' '))
/** What a name says. */
export interface Named {
  /** Fields of OpenAI's form, or `schemas` for those of the request. Undefined for one that cannot be done without. */
  fields: string[] | undefined
  /** Whether one value of the field is refused. */
  ofValue?: boolean | undefined
}

/** Characters that are read of a path: a longer one is below something of the caller. */
const PATH = 200

const stepsOf = (path: string): string[] =>
  path
    .split(/[.,:#/[\]()'* ]+/)
    .map(plain)
    .filter(Boolean)

/**
 * What a name or path stands for: `tools.0.custom.strict`, `'body', 'stream_options', 'include_usage'`, `Thinking level MINIMAL`. Undefined if it is none
 * to do without, or something unknown below a field of the request: that may be a caller's, and the field itself is taken.
 */
export function fieldsOf(given: string): Named | undefined {
  // A word behind a name is none of it: "the 'output_config.effort' parameter".
  const path = given.slice(0, PATH).replace(/(?<=[\w'\])]) +(?:parameter|argument|field|property|value)$/i, '')
  // In a path, such a word is a field of the request, which may be a caller's.
  const isPath = /[.:#/[]/.test(path)
  const steps = stepsOf(path)
  while (/^(?:body|request|generationconfig)$/.test(steps[0] ?? '')) steps.shift()
  if (
    steps.length > 1 &&
    steps.at(-1) === 'strict' &&
    !/^(?:messages|contents|input|metadata|streamoptions)$/.test(steps[0]!)
  )
    return { fields: ['strict'] }
  for (let end = steps.length; end > 0; end--) {
    const name = steps.slice(0, end).join('')
    const found = fields.get(name)
    if (!found) continue
    const isNoun = (step: string): boolean =>
      nouns.has(step) && (!isPath || (step === 'type' && found[0] === 'response_format'))
    const below = steps.slice(end).filter((step) => !isNoun(step) && fields.get(step)?.[0] !== found[0])
    if (below.length === 0) return { fields: found }
    if (below.length === 1 && documented[found[0]!]?.includes(below[0]!)) return { fields: found, ofValue: true }
    if (path.includes(' ')) return undefined
    if (found[0] === 'response_format') return { fields: ['schemas'] }
    return found.length > 1 || name === plain(found[0]!) ? undefined : { fields: found }
  }
  return undefined
}
