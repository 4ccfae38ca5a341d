import type {
  Capability,
  ChatCompletionRequest as ChatRequest,
  Model,
  Note,
  Target,
  UnitClass,
  Units,
} from '@turnpike/core'
import { extend } from '@turnpike/core/internal'
import { EXPECTED_OUTPUT_TOKENS } from './conventions.js'
import { callsOf } from './fan-out.js'
import { isMedia, mediaTokens, predictionTokens, promptTokens } from './meter.js'
import { askedTier, isPriced } from './service-tier.js'
import type { PricedNeed } from './upstream-request.js'

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

/** What a target's translation of a request notes; undefined where it refuses. A request of megabytes is translated once, whatever is asked. */
function notesOf(request: ChatRequest, target: Target): Note[] | undefined {
  const known = previews.get(request) ?? new Map<Target, Note[] | undefined>()
  if (known.has(target)) return known.get(target)
  const { provider, model } = target
  let notes: Note[] | undefined
  try {
    notes = provider.chat!.preview(extend(request, { model }))
  } catch {}
  previews.set(request, known.set(target, notes))
  return notes
}

/** Whether a target supports a request as it is. */
const fits = (request: ChatRequest, target: Target, listed: Model | undefined): boolean =>
  (!listed || abilities(request).every((ability) => listed.capabilities.includes(ability))) &&
  notesOf(request, target) !== undefined

/** Whether a field reaches a target's upstream. Of a request that is refused as it is, all may be sent once the provider has prepared it. */
const sends = (request: ChatRequest, target: Target, field: string): boolean =>
  request[field] !== undefined && !notesOf(request, target)?.some((note) => note.field === field)

/** The parts of a request that are no text. */
const mediaOf = ({ messages }: ChatRequest) =>
  messages.flatMap(({ content }) => (Array.isArray(content) ? content.filter(isMedia) : [])).map(mediaTokens)

/** What the model is to answer with, besides text. */
const asks = ({ modalities, audio }: ChatRequest, what: 'audio' | 'image'): boolean =>
  (what === 'audio' && audio !== undefined) ||
  (Array.isArray(modalities) && modalities.some((word) => String(word).toLowerCase() === what))

/** OpenAI's models that search the web for every answer, at a price per call. */
const searches = /-search-(preview|api)/

/** What a target is asked for whose price is not known, beyond text at the standard price; undefined = nothing. */
function unpriced(request: ChatRequest, target: Target): string | undefined {
  const { price, model } = target
  const tier = askedTier(request)
  if (tier !== undefined && sends(request, target, 'service_tier') && !isPriced(target, tier))
    return 'this service tier'
  // It is billed by the call, which no class of units counts.
  if (searches.test(model) || sends(request, target, 'web_search_options')) return 'searching the web'
  // They cost a multiple of text, which they would be charged as.
  const special: [UnitClass, boolean][] = [
    ['input_audio', mediaOf(request).some(({ name }) => name === 'input_audio')],
    [
      'output_audio',
      asks(request, 'audio') && (sends(request, target, 'modalities') || sends(request, target, 'audio')),
    ],
    ['output_image', asks(request, 'image') && sends(request, target, 'modalities')],
  ]
  const missing = special.find(([name, used]) => used && price?.[name] === undefined)
  return missing && `${missing[0].endsWith('audio') ? 'audio' : 'images'} with this model`
}

/** What the router has to find for a normalised request. */
export function needOf(request: ChatRequest): PricedNeed {
  const { n, max_completion_tokens, max_tokens } = request
  const answers = n ?? 1
  // A server reads one of the two, so that the larger one counts.
  const output = Math.max(max_completion_tokens ?? 0, max_tokens ?? 0) || EXPECTED_OUTPUT_TOKENS
  return {
    task: 'chat',
    request,
    calls: ({ provider }) => callsOf(provider.chat!, request),
    expected({ provider }): Units {
      // Each call pays for the prompt.
      const prompts = callsOf(provider.chat!, request)
      const made = asks(request, 'audio') ? 'output_audio' : asks(request, 'image') ? 'output_image' : 'output'
      const units: Units = {
        input: promptTokens(request) * prompts,
        [made]: (output + predictionTokens(request)) * answers,
      }
      for (const { name, tokens } of mediaOf(request)) units[name] = (units[name] ?? 0) + tokens * prompts
      return units
    },
    size: () => ({ prompt: promptTokens(request), output }),
    fits: (target, listed) => fits(request, target, listed),
    tier(target) {
      const tier = askedTier(request)
      return tier !== undefined && sends(request, target, 'service_tier') ? tier : undefined
    },
    unpriced: (target) => unpriced(request, target),
  }
}
