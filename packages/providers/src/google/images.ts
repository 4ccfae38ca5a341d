import type { ImageAnswer, ImageRequest, Provider, Usage } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import type { UpstreamRequest } from '../adapter.js'
import { takeNotes } from '../requests/request-fields.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson, nameAt } from '../upstream/upstream.js'
import type { Answer } from './answer.js'
import { imageOf, reportOf } from './answer.js'
import { toPath, traitsOf } from './models.js'
import { missing } from './missing-content.js'

/** The nearest aspect ratio for each size, undefined for the model's own; the pixel sizes are Gemini's own. */
const ratios: Record<NonNullable<ImageRequest['size']>, string | undefined> = {
  '256x256': '1:1',
  '512x512': '1:1',
  '1024x1024': '1:1',
  '1024x1792': '9:16',
  '1792x1024': '16:9',
  '1536x1024': '3:2',
  '1024x1536': '2:3',
  auto: undefined,
}

const read = new Set(['prompt', 'size', 'quality', 'response_format'])

/** @param name the upstream's own name of the model */
function toRequest(request: ImageRequest & { model: string }, name: string): UpstreamRequest {
  const { model, prompt, size, quality } = request
  const { notes, note } = takeNotes(request, read)
  if (size === '256x256' || size === '512x512') note('size', 'clamped')
  // Image models of Gemini 3 and later accept `imageSize`, Lite ones only the default.
  const wantsHd = quality === 'hd' || quality === 'high'
  const hd = wantsHd && traitsOf(model).gemini3 && !model.includes('-lite')
  if (quality === 'low' || (wantsHd && !hd)) note('quality', 'dropped')
  const imageConfig = { aspectRatio: ratios[size ?? '1024x1024'], imageSize: hd ? '2K' : undefined }
  return {
    path: toPath(name, 'generateContent'),
    body: {
      contents: [{ role: 'user', parts: [{ text: prompt }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig },
    },
    notes,
  }
}

/** Usage. Without a count of image tokens, all output tokens but thoughts are image tokens. */
function usageOf(answer: Answer): Usage | undefined {
  const usage = reportOf(answer)
  const details = usage?.['completion_tokens_details'] as
    { reasoning_tokens: number; image_tokens?: number } | undefined
  if (!usage || !details || details.image_tokens) return usage
  const image_tokens = usage.completion_tokens - details.reasoning_tokens
  return extend(usage, { completion_tokens_details: { ...details, image_tokens } })
}

/** @throws UpstreamError for a refusal, which counts as the caller's fault, and for an answer without an image */
function toAnswer(provider: string, answer: Answer): ImageAnswer {
  const [picture] = (answer.candidates?.[0]?.content?.parts ?? []).flatMap((part) => imageOf(part) ?? [])
  if (!picture) throw missing(provider, answer, 'picture')
  return { images: [{ base64: picture.data }], usage: usageOf(answer) }
}

/** generateContent of the image models. Returns the first image that is not a draft. */
export const images =
  (upstream: Upstream): NonNullable<Provider['images']> =>
  (request, call) =>
    callJson(upstream, toRequest(request, nameAt(upstream, request)), call, usageOf, (body) =>
      toAnswer(upstream.id, body as Answer),
    )
