import type {
  Capability,
  ChatCompletionRequest as ChatRequest,
  Model,
  Note,
  Target,
  UnitClass,
  Units,
} from '@turnpike/core'
import { cost } from '@turnpike/core'
import { extend, isObject } from '@turnpike/core/helpers'
import { completionClasses, tokensOf } from '@turnpike/core/internal'
import { EXPECTED_OUTPUT_TOKENS, MOST_CONTEXT_TOKENS, MOST_OUTPUT_TOKENS } from '../conventions.js'
import { callsOf } from '../upstream/fan-out.js'
import type { Prompt } from './prompt.js'
import { expectedMedia, expectedText, mayLeadElsewhere, mostPrompt, promptOf } from './prompt.js'
import { askedTier, isPriced, ratesOf } from './service-tier.js'
import { expectedTokens, jsonBytes, mostTokens } from './text-bytes.js'
import type { PricedNeed } from '../upstream/upstream-request.js'

/** The capabilities that a request needs, of those that the catalogue lists. */
function abilities({ tools, messages, ...request }: ChatRequest): Capability[] {
  const needed: Capability[] = []
  if (tools?.length) needed.push('tools')
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  if (parts.some(({ type }) => type === 'image_url')) needed.push('vision')
  if ((request['response_format'] as { type?: unknown } | undefined)?.type === 'json_schema') needed.push('json_schema')
  return needed
}

const previews = new WeakMap<ChatRequest, Map<Target, Note[] | undefined>>()

/** The previews of a request that are known: undefined of a target that refuses it. */
function previewsOf(request: ChatRequest): Map<Target, Note[] | undefined> {
  let known = previews.get(request)
  if (!known) previews.set(request, (known = new Map()))
  return known
}

/** What a target's translation of a request notes; undefined where it refuses. A request of megabytes is translated once, whatever is asked. */
function notesOf(request: ChatRequest, target: Target): Note[] | undefined {
  const known = previewsOf(request)
  if (known.has(target)) return known.get(target)
  const { provider, model } = target
  let notes: Note[] | undefined
  try {
    notes = provider.chat!.preview(extend(request, { model }))
  } catch {}
  known.set(target, notes)
  return notes
}

/** Whether a target supports a request as it is. */
const fits = (request: ChatRequest, target: Target, listed: Model | undefined): boolean =>
  (!listed || abilities(request).every((ability) => listed.capabilities.includes(ability))) &&
  notesOf(request, target) !== undefined

/** Whether a field reaches a target's upstream. Of a request that is refused as it is, all may be sent once the provider has prepared it. */
const sends = (request: ChatRequest, target: Target, field: string): boolean =>
  request[field] !== undefined && !notesOf(request, target)?.some((note) => note.field === field)

/** What the model is to answer with, besides text. */
const asks = ({ modalities, audio }: ChatRequest, what: 'audio' | 'image'): boolean =>
  (what === 'audio' && audio !== undefined) ||
  (Array.isArray(modalities) && // As Gemini is sent it: some letters have a capital that is another one's, too.
    modalities.some((word) => typeof word === 'string' && word.toUpperCase() === what.toUpperCase()))

/** Models that search the web for every answer, at a price per call: OpenAI's, Perplexity's, Groq's, and all of OpenRouter with the suffix. */
const searches = /-search-(?:preview|api)|-deep-research\b|(?:^|\/)(?:sonar|compound)\b|:online$/

/** What a target is asked for whose price is not known, beyond text at the standard price; undefined = nothing. */
function unpriced(request: ChatRequest, prompt: Prompt, target: Target): string | undefined {
  const { price, model } = target
  const tier = askedTier(request)
  if (tier !== undefined && sends(request, target, 'service_tier') && !isPriced(target, tier))
    return 'this service tier'
  // It is billed by the call, which no class of units counts.
  if (searches.test(model) || sends(request, target, 'web_search_options')) return 'searching the web'
  if (prompt.others.some(({ isAudio }) => !isAudio) && target.provider.chat?.billsFiles?.(model))
    return 'reading documents for this model'
  // They cost a multiple of text, which they would be charged as.
  const special: [UnitClass, boolean][] = [
    ['input_audio', prompt.others.some(({ isAudio }) => isAudio)],
    [
      'output_audio',
      asks(request, 'audio') && (sends(request, target, 'modalities') || sends(request, target, 'audio')),
    ],
    ['output_image', asks(request, 'image') && sends(request, target, 'modalities')],
  ]
  const missing = special.find(([name, used]) => used && price?.[name] === undefined)
  return missing && `${missing[0].endsWith('audio') ? 'audio' : 'images'} with this model`
}

/** The most tokens that the caller allows an answer. A server reads one of the two fields, so that the larger one counts. */
const allowedOutput = ({ max_completion_tokens, max_tokens }: ChatRequest): number | undefined =>
  Math.max(max_completion_tokens ?? 0, max_tokens ?? 0) || undefined

/** The most tokens of an answer by the request as a target's upstream is sent it: some families add a budget for thoughts, or a default. */
function sentOutput(request: ChatRequest, target: Target): number | undefined {
  const { provider, model } = target
  const { maxOutput } = provider.chat!
  const known = previewsOf(request)
  const isRefused = known.has(target) && known.get(target) === undefined
  if (maxOutput && !isRefused)
    try {
      return maxOutput(extend(request, { model }))
    } catch {
      known.set(target, undefined)
    }
  // It may be sent once the provider has prepared the request.
  return allowedOutput(request)
}

/** Whether a value has a field of this name, at any depth. */
const mentions = (value: unknown, field: string): boolean =>
  Array.isArray(value)
    ? value.some((item) => mentions(item, field))
    : isObject(value) && Object.entries(value).some(([name, inner]) => name === field || mentions(inner, field))

/** The class at whose rate so many tokens cost the most. */
function dearest(classes: readonly UnitClass[], tokens: number, target: Target): UnitClass {
  const costOf = (name: UnitClass): number =>
    cost({ [name]: tokens }, ratesOf(target, { input: tokens }, undefined)) ?? 0
  return classes.reduce((best, name) => (costOf(name) > costOf(best) ? name : best))
}

/** The most that a request may be billed on a target. */
function mostUnits(request: ChatRequest, prompt: Prompt, target: Target): Units {
  const { context = MOST_CONTEXT_TOKENS, maxOutput = MOST_OUTPUT_TOKENS } = target.limits?.() ?? {}
  const inputClasses: UnitClass[] = ['input']
  if (prompt.pictures > 0) inputClasses.push('input_image')
  const isUnknown = mayLeadElsewhere(prompt, target)
  if (isUnknown || prompt.others.some(({ mayBeAudio }) => mayBeAudio)) inputClasses.push('input_audio')
  if (mentions(request, 'cache_control')) inputClasses.push('cache_write', 'cache_write_1h')
  // OpenAI writes its cache unasked; Claude's, which alone may last an hour, has to be asked for.
  else if (target.price?.cache_write_1h === undefined) inputClasses.push('cache_write')
  const input = isUnknown ? context : mostPrompt(prompt, target.model, context)
  const output = (sentOutput(request, target) ?? maxOutput) + mostTokens(jsonBytes(request['prediction']))
  return {
    [dearest(inputClasses, input, target)]: input * callsOf(target.provider.chat!, request),
    [dearest(completionClasses, output, target)]: output * (request.n ?? 1),
  }
}

/** What a request is expected to be billed on a target. @param output tokens of one answer */
function expectedUnits(request: ChatRequest, prompt: Prompt, { provider }: Target, output: number): Units {
  // Each call pays for the prompt.
  const prompts = callsOf(provider.chat!, request)
  const { input, input_audio } = expectedMedia(prompt)
  const made = asks(request, 'audio') ? 'output_audio' : asks(request, 'image') ? 'output_image' : 'output'
  return {
    input: (expectedText(prompt) + input) * prompts,
    ...(input_audio > 0 && { input_audio: input_audio * prompts }),
    [made]: (output + expectedTokens(jsonBytes(request['prediction']))) * (request.n ?? 1),
  }
}

/** What the router has to find for a normalised request. */
export function needOf(request: ChatRequest): PricedNeed {
  // Taken apart when it is needed: most requests are under no limit, and are not compared by price.
  let parts: Prompt | undefined
  const prompt = (): Prompt => (parts ??= promptOf(request))
  const output = allowedOutput(request) ?? EXPECTED_OUTPUT_TOKENS
  return {
    task: 'chat',
    request,
    streamed: request.stream === true,
    calls: ({ provider }) => callsOf(provider.chat!, request),
    expected: (target) => expectedUnits(request, prompt(), target, output),
    // What an answer may have says little of what it will have.
    likely: (target) => tokensOf(expectedUnits(request, prompt(), target, Math.min(output, EXPECTED_OUTPUT_TOKENS))),
    most: (target) => mostUnits(request, prompt(), target),
    answers: request.n ?? 1,
    size: () => ({ prompt: expectedText(prompt()), output }),
    fits: (target, listed) => fits(request, target, listed),
    tier(target) {
      const tier = askedTier(request)
      return tier !== undefined && sends(request, target, 'service_tier') ? tier : undefined
    },
    unpriced: (target) => unpriced(request, prompt(), target),
  }
}
