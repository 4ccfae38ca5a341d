/** What an entry of LiteLLM's `model_list` says of its model, and of the calls of its deployment. @module */
import type { Capability } from '@turnpike/core'
import { fromLitellm as pricesFrom } from '@turnpike/core'
import type { Litellm, Section } from './litellm-section.js'
import type { Tree } from './tree.js'
import { isTree } from './tree.js'

/** The fields of rates that its public table has, too. */
const ofTokens =
  /^(input_cost_per_(token|audio_token|image_token)|cache_(read_input_token_cost|creation_input_token_cost(_above_1hr)?)|output_cost_per_(token|reasoning_token|audio_token|image_token))(_above_\d+k_tokens)?(_flex|_priority)?$/
const ofMeasures = /^(input_cost_per_(character|second|image)|output_cost_per_(second|image))$/

/** What a model can do, by its mode. */
const modes: Record<string, Capability> = {
  chat: 'chat',
  embedding: 'embeddings',
  image_generation: 'images',
  audio_speech: 'speech',
  audio_transcription: 'transcription',
}
const abilities: [theirs: string, ours: Capability][] = [
  ['supports_function_calling', 'tools'],
  ['supports_vision', 'vision'],
  ['supports_response_schema', 'json_schema'],
  ['supports_reasoning', 'reasoning'],
]

/** The price of a model, from the sections that tell it, in the form of a table's row. */
function priceOf(sections: readonly Section[], mode: string | undefined): object | undefined {
  const given = sections.flatMap((section) =>
    section
      .names()
      .filter((name) => ofTokens.test(name) || (/^(audio|image)_/.test(mode ?? '') && ofMeasures.test(name)))
      .map((name) => ({ section, name, value: section.take(name) })),
  )
  const [first] = given
  if (!first) return undefined
  // Python reads `1e-7` as a text.
  const row = Object.fromEntries(
    given.map(({ name, value }) => [name, typeof value === 'string' ? Number(value) : value]),
  )
  const { rows, rejected } = pricesFrom({ model: { ...row, mode, litellm_provider: 'x' } })
  for (const { reason } of rejected) first.section.note(first.name, reason)
  // Ours is whole, and what is used without a rate has an unknown cost.
  const isHalf =
    !given.some(({ name }) => name.startsWith('output_')) && !/^(embedding|audio_transcription)$/.test(mode ?? '')
  if (isHalf)
    first.section.note(first.name, 'add the rates of output to the price: other tables are not asked for the rest')
  return rows['x/model']
}

/** What a model can do; undefined where nothing is said. */
function capabilitiesOf(info: Section, mode: string | undefined): Capability[] | undefined {
  const told = abilities
    .filter(([name]) => info.has(name))
    .map(([name, ours]) => ({ name, ours, can: info.take(name) === true }))
  const kind = mode === undefined ? 'chat' : Object.hasOwn(modes, mode) ? modes[mode] : undefined
  if (kind !== 'chat') return kind && [kind]
  const [first] = told
  if (!first) return undefined
  if (told.length < abilities.length) info.note(first.name, 'what is not said beside it is taken as not there')
  return [kind, ...told.filter(({ can }) => can).map(({ ours }) => ours)]
}

/** What is said of a model besides its id, as a member of `models` has it. @param mode its kind there */
export function ownOf(params: Section, info: Section, mode: string | undefined): Tree {
  const own = {
    price: priceOf([params, info], mode),
    contextWindow: info.whole('max_input_tokens', 1),
    maxOutput: info.whole('max_output_tokens', 1),
    capabilities: capabilitiesOf(info, mode),
  }
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))
}

/** Headers that providers get besides those of their kind. */
function headersOf(file: Litellm, params: Section, type: unknown): Tree {
  const headers: Tree = {}
  for (const name of ['headers', 'extra_headers']) {
    const given = params.take(name)
    if (given !== undefined && !isTree(given)) params.note(name, 'it must have values by the names of headers')
    for (const [header, value] of Object.entries(isTree(given) ? given : {}))
      if (/^(accept|authorization|content-type|host|user-agent)$/i.test(header))
        params.note(`${name}.${header}`, 'it is sent in any case')
      else headers[header] = file.text(String(value))
  }
  if (type === 'openai') {
    const organization = params.text('organization')
    if (organization !== undefined) headers['OpenAI-Organization'] = organization
  }
  return headers
}

/** What holds for the calls of a deployment: headers, time-outs and retries, as settings of its provider. */
export function callsOf(file: Litellm, params: Section, type: unknown): Tree {
  const headers = headersOf(file, params, type)
  const retries = params.whole('num_retries', 0, 100) ?? params.whole('max_retries', 0, 100)
  const calls = {
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    retries,
    firstEventMs: params.milliseconds('stream_timeout'),
    wholeAnswerMs: params.milliseconds('timeout'),
  }
  return Object.fromEntries(Object.entries(calls).filter(([, value]) => value !== undefined))
}
