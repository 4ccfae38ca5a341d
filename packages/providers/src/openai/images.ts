import type { ImageAnswer, ImageRequest, Note, Provider, Usage } from '@turnpike/core'
import { extend, withoutNulls } from '@turnpike/core/helpers'
import type { UpstreamRequest } from '../adapter.js'
import { count } from '../answers/count.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson } from '../upstream/upstream.js'
import { missing } from './errors.js'
import { route } from './routing-fields.js'

type Size = NonNullable<ImageRequest['size']>
type Quality = NonNullable<ImageRequest['quality']>

/** The parameters that a model supports. */
interface Traits {
  /** The nearest supported size for each one that may be asked for. */
  sizes: Record<Size, string>
  /** The model's value for each quality that may be asked for; undefined if it has no such parameter. */
  qualities: Record<Quality, string> | undefined
  /** Whether it supports `style`. */
  style: boolean
  /** The parameters that request a PNG in base64; undefined values are not sent. */
  output: Record<string, string | undefined>
}

const square = { '256x256': '1024x1024', '512x512': '1024x1024', '1024x1024': '1024x1024' }
const landscape = '1536x1024'
const portrait = '1024x1536'

const gptImage: Traits = {
  sizes: {
    ...square,
    '1024x1792': portrait,
    '1792x1024': landscape,
    [portrait]: portrait,
    [landscape]: landscape,
    auto: 'auto',
  },
  qualities: { standard: 'medium', hd: 'high', low: 'low', medium: 'medium', high: 'high', auto: 'auto' },
  style: false,
  // These models always answer in base64 and reject `response_format`.
  output: { output_format: 'png', output_compression: undefined },
}

const dallE3: Traits = {
  sizes: {
    ...square,
    '1024x1792': '1024x1792',
    '1792x1024': '1792x1024',
    [portrait]: '1024x1792',
    [landscape]: '1792x1024',
    auto: '1024x1024',
  },
  qualities: {
    standard: 'standard',
    hd: 'hd',
    low: 'standard',
    medium: 'standard',
    high: 'hd',
    auto: 'standard',
  },
  style: true,
  output: { response_format: 'b64_json' },
}

const dallE2: Traits = {
  sizes: {
    '256x256': '256x256',
    '512x512': '512x512',
    '1024x1024': '1024x1024',
    '1024x1792': '1024x1024',
    '1792x1024': '1024x1024',
    [portrait]: '1024x1024',
    [landscape]: '1024x1024',
    auto: '1024x1024',
  },
  qualities: undefined,
  style: false,
  output: { response_format: 'b64_json' },
}

const traitsOf = (model: string): Traits =>
  model.startsWith('dall-e-2') ? dallE2 : model.startsWith('dall-e') ? dallE3 : gptImage

function toRequest(request: ImageRequest & { model: string }, upstream: Upstream): UpstreamRequest {
  const { model, size, quality, style } = request
  const { sizes, qualities, style: hasStyle, output } = traitsOf(model)
  const notes: Note[] = []
  if (size && size !== 'auto' && sizes[size] !== size) notes.push({ field: 'size', action: 'clamped' })
  if (quality === 'low' && qualities?.low !== 'low')
    notes.push({ field: 'quality', action: qualities ? 'clamped' : 'dropped' })
  if ((quality === 'hd' || quality === 'high') && !qualities) notes.push({ field: 'quality', action: 'dropped' })
  if (style && !hasStyle) notes.push({ field: 'style', action: 'dropped' })
  if ('output_format' in output) {
    const { output_format: format, output_compression: compression } = withoutNulls(request)
    if (format !== undefined && format !== 'png') notes.push({ field: 'output_format', action: 'clamped' })
    // These models reject `output_compression` for PNG.
    if (compression !== undefined) notes.push({ field: 'output_compression', action: 'dropped' })
  }
  const body = extend(request, {
    provider: undefined,
    n: 1,
    // Our defaults, because the models' own defaults may cost more.
    size: sizes[size ?? '1024x1024'],
    quality: qualities?.[quality ?? 'standard'],
    style: hasStyle ? style : undefined,
    response_format: undefined,
    ...output,
  })
  route(body, notes, upstream)
  return { path: '/images/generations', body, notes }
}

/** A response of `/images/generations`. */
interface Answer {
  data?: { b64_json?: unknown; revised_prompt?: unknown }[]
  usage?: { input_tokens?: unknown; output_tokens?: unknown; input_tokens_details?: Record<string, unknown> | null }
}

/** Converts token counts to the usage of a chat; all output tokens are image tokens. */
function usageOf({ usage }: Answer): Usage | undefined {
  const prompt = count(usage?.input_tokens)
  const completion = count(usage?.output_tokens)
  if (prompt === undefined || completion === undefined) return undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      image_tokens: count(usage?.input_tokens_details?.['image_tokens']) ?? 0,
      cached_tokens: count(usage?.input_tokens_details?.['cached_tokens']) ?? 0,
    },
    completion_tokens_details: { image_tokens: completion },
  }
}

/** `/images/generations`, with the parameters that the model supports. */
export const images =
  (upstream: Upstream): NonNullable<Provider['images']> =>
  (request, call) =>
    callJson(upstream, toRequest(request, upstream), call, usageOf, (answer): ImageAnswer => {
      const { data } = answer as Answer
      if (!data) throw missing(upstream.id, answer, 'data')
      const pictures = data.map(({ b64_json, revised_prompt }) => {
        if (typeof b64_json !== 'string' || b64_json === '') throw new TypeError('A picture is missing')
        return { base64: b64_json, revised_prompt: typeof revised_prompt === 'string' ? revised_prompt : undefined }
      })
      if (pictures.length === 0) throw new TypeError('There is no picture')
      return { images: pictures, usage: usageOf(answer) }
    })
