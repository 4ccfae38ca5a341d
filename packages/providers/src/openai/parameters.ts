/**
 * Which parameters OpenAI's own models take on Chat Completions, by the form of their ids. A version that is newer than the newest known one is
 * treated as that. Sources: OpenAI's guides "Latest model" and "Reasoning models" and its API reference (`reasoning_effort`), the
 * support table of pydantic-ai, which was measured in July 2026, and reports of refusals, all read in November 2026. What is uncertain is sent:
 * a refusal is learnt from (docs/decisions/044).
 * @module
 */
import type { ChatMessage, Note } from '@turnpike/core'
import { isObject } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'
import type { Effort } from '../requests/request-fields.js'
import { efforts, nearestEffort } from '../requests/request-fields.js'

type Body = Record<string, unknown>

/** What a model takes. */
interface Traits {
  /** Whether it takes `max_completion_tokens` in place of `max_tokens`. */
  newerLimit: boolean
  /** The efforts that it takes, the least first; none = it does not reason. */
  efforts: readonly Effort[]
  /** The effort of a request without one. */
  preset: Effort
  /** Whether it takes sampling parameters: always, where it does not reason, or never. */
  sampling: 'always' | 'without effort' | 'never'
  penalties: boolean
  stop: boolean
  verbosity: boolean
  parallelCalls: boolean
  prediction: boolean
  /** Whether it takes audio in messages; none takes video. */
  audio: boolean
  /** Whether function tools are refused beside any effort but `none`. */
  toolsWithoutEffort: boolean
  /** Whether it takes `prompt_cache_retention`, in whose place later models have `prompt_cache_options`. */
  retention: boolean
}

const plain: Traits = {
  newerLimit: false,
  efforts: [],
  preset: 'none',
  sampling: 'always',
  penalties: true,
  stop: true,
  verbosity: false,
  parallelCalls: true,
  prediction: false,
  audio: false,
  toolsWithoutEffort: false,
  retention: true,
}

const from = (least: Effort, most: Effort): Effort[] =>
  efforts.filter((_, level) => level >= efforts.indexOf(least) && level <= efforts.indexOf(most))

/** Versions as numbers: 5.4 is 504. */
const version = (major: string, minor = '0'): number => Number(major) * 100 + Number(minor)

/** The o models. They refuse `parallel_tool_calls`; o1 and o3-mini take `stop`. */
const oModel = (generation: number, variant: string): Traits => ({
  ...plain,
  newerLimit: true,
  efforts: from('low', 'high'),
  preset: 'medium',
  sampling: 'never',
  penalties: false,
  stop: generation === 1 || (generation === 3 && variant.startsWith('-mini')),
  parallelCalls: false,
})

/** gpt-5 and later. */
function gptModel(number: number, variant: string): Traits {
  const common = { ...plain, newerLimit: true, penalties: false, verbosity: true }
  // gpt-5-chat does not reason. Those of later versions always do, with one effort.
  if (/^-chat\b/.test(variant) && number === 500) return { ...common, verbosity: false }
  if (/^-chat\b/.test(variant))
    return { ...common, efforts: ['medium'], preset: 'medium', sampling: 'never', stop: false }
  const isPro = /^-pro\b/.test(variant)
  // gpt-5, pro and Codex models always reason, except gpt-5.3-codex; so do gpt-6-astra, gpt-6.1-sol and later ones of their lines.
  const always =
    number === 500 ||
    isPro ||
    (variant.startsWith('-codex') && number < 503) ||
    (number >= 600 && variant.startsWith('-astra')) ||
    (number >= 601 && variant.startsWith('-sol'))
  const first = number === 500 ? (isPro ? 'high' : 'minimal') : isPro ? 'medium' : always ? 'low' : 'none'
  // `max` is for the Responses API alone.
  const last = number >= 502 || variant.startsWith('-codex-max') ? 'xhigh' : 'high'
  return {
    ...common,
    efforts: from(first, last).filter((effort) => effort !== 'minimal' || number === 500),
    preset: always || number >= 505 ? 'medium' : 'none',
    sampling: always || number >= 600 ? 'never' : 'without effort',
    stop: number >= 505 && number < 600,
    toolsWithoutEffort: number >= 504,
    retention: number < 506,
  }
}

/** The traits of a model by the form of its id. */
function readTraits(model: string): Traits | undefined {
  const id = model.replace(/^ft:/, '').replace(/:.*/, '')
  const [, line, major, minor, variant = ''] = /^(gpt-(?!35)|chatgpt-|o)(\d+)(?:\.(\d+))?(.*)/.exec(id) ?? []
  if (!line) {
    if (/^chat-latest\b/.test(id)) return gptModel(501, '-chat')
    return /^gpt-(35|audio)/.test(id) ? { ...plain, audio: id.startsWith('gpt-audio') } : undefined
  }
  const number = version(major!, minor)
  // "Model incompatible request arguments supplied: frequency_penalty, presence_penalty, temperature, top_p"
  if (/-search-(preview|api)/.test(variant)) {
    const isNewer = number >= 500
    return {
      ...plain,
      newerLimit: isNewer,
      sampling: 'never',
      penalties: false,
      stop: !isNewer,
      parallelCalls: false,
      verbosity: isNewer,
    }
  }
  if (line === 'o') return oModel(Number(major), variant)
  if (number >= 500) return gptModel(number, variant)
  // As the guide to predicted outputs lists them.
  const prediction = /^gpt-(4o(-mini)?|4\.1(-mini|-nano)?)(-\d|$)/.test(id)
  return { ...plain, prediction, audio: /-audio\b/.test(variant) }
}

/** The traits of models that were asked for. Callers choose the ids, so that they are few. */
const known = new Map<string, Traits | undefined>()
const MOST_KNOWN = 200

/** The traits of a model of OpenAI; undefined for any other. */
function traitsOf(model: string): Traits | undefined {
  if (known.has(model)) return known.get(model)
  if (known.size >= MOST_KNOWN) known.clear()
  const traits = readTraits(model)
  known.set(model, traits)
  return traits
}

const isFunction = (tool: unknown): boolean => isObject(tool) && tool['type'] === 'function'

/** Fits `reasoning_effort` to a model. @returns the effort with which it will answer; undefined if it is none that is known */
function fitEffort(
  body: Body,
  { efforts: taken, preset, toolsWithoutEffort }: Traits,
  notes: Note[],
): Effort | undefined {
  const { model, tools } = body
  const given = body['reasoning_effort'] as Effort | undefined
  if (toolsWithoutEffort && Array.isArray(tools) && tools.some(isFunction)) {
    if (!taken.includes('none')) throw unsupported(`${String(model)} takes no function tools on Chat Completions`)
    if (given !== 'none') notes.push({ field: 'reasoning_effort', action: 'clamped' })
    body['reasoning_effort'] = 'none'
    return 'none'
  }
  if (given === undefined || taken.length === 0) return preset
  if (!efforts.includes(given)) return undefined
  const effort = nearestEffort(given, taken)
  if (effort !== given) notes.push({ field: 'reasoning_effort', action: 'clamped' })
  body['reasoning_effort'] = effort
  return effort
}

/** @throws ApiError 400 for audio or video in a message that the model does not take: "content blocks are expected to be either text or image_url type" */
function refuseMedia({ model, messages }: Body, { audio }: Traits): void {
  for (const { content } of messages as ChatMessage[])
    if (Array.isArray(content))
      for (const { type } of content)
        if (/audio|video/.test(type) && !(audio && type === 'input_audio'))
          throw unsupported(`${String(model)} takes no ${type} in messages`)
}

/**
 * Fits the parameters of a request to OpenAI's model that it names; any other model's are left as they are.
 * @param body the copy that is sent
 * @param notes receives what is dropped or changed; a parameter with its default value is left out without a note
 * @throws ApiError 400 for tools where no effort lets them through, and for media that the model does not take
 */
export function fitParameters(body: Body, notes: Note[]): void {
  const traits = traitsOf(String(body['model']))
  if (!traits) return
  refuseMedia(body, traits)
  if (traits.newerLimit && body['max_tokens'] && !body['max_completion_tokens']) {
    body['max_completion_tokens'] = body['max_tokens']
    body['max_tokens'] = undefined
  }
  const drop = (field: string, preset?: unknown): void => {
    const value = body[field]
    if (value === undefined) return
    if (value !== preset) notes.push({ field, action: 'dropped' })
    body[field] = undefined
  }
  const effort = fitEffort(body, traits, notes)
  // "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
  if (body['max_completion_tokens']) drop('max_tokens', body['max_completion_tokens'])
  if (traits.efforts.length === 0) drop('reasoning_effort', 'none')
  if (!traits.penalties) {
    drop('frequency_penalty', 0)
    drop('presence_penalty', 0)
  }
  if (traits.sampling === 'never' || (traits.sampling === 'without effort' && effort !== 'none')) {
    drop('temperature', 1)
    drop('top_p', 1)
    drop('logprobs', false)
    drop('top_logprobs')
    drop('logit_bias')
  }
  if (!traits.stop) drop('stop')
  if (!traits.verbosity) drop('verbosity', 'medium')
  // "'parallel_tool_calls' is only allowed when 'tools' are specified"; "Parallel tool calls are not supported when reasoning_effort is set to
  // minimal" (Azure's reference).
  const calls = body['tools'] !== undefined
  if (!calls || !traits.parallelCalls || effort === 'minimal') drop('parallel_tool_calls', true)
  // The same of `tool_choice`, of which one that demands a call is a fault of the caller.
  if (!calls && ['auto', 'none'].includes(body['tool_choice'] as string)) body['tool_choice'] = undefined
  if (!traits.prediction) drop('prediction')
  if (!traits.retention) drop('prompt_cache_retention')
}
