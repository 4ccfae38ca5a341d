import type { Note, Usage } from '@turnpike/core'
import { ApiError, ImageRequest, ImageResponse, UpstreamError } from '@turnpike/core'
import { extend, fromBase64, toBase64, withoutNulls } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'
import { requireModel } from '../limits/allowed-models.js'
import { HD_PICTURE_TOKENS, IMAGE_MODELS } from '../conventions.js'
import { imageFields, permitted } from '../limits/documented-fields.js'
import { guarded } from '../guards/guarding.js'
import { metered, reported } from '../records/meter.js'
import { expectedTokens, mostTokens, utf8Bytes } from '../limits/text-bytes.js'
import type { Used } from '../records/record.js'
import { whole } from '../upstream/upstream-answer.js'
import type { UpstreamOptions } from '../upstream/upstream-request.js'
import { callsUpstream, upstreamRequest } from '../upstream/upstream-request.js'
import { operation } from '../operation.js'

export interface ImageOptions {
  /** Ids that callers may name, the default first; default {@link IMAGE_MODELS}. */
  imageModels?: string[]
  /** Converts an image of another format, such as JPEG, to PNG; by default such an image is a 502. */
  toPng?: (picture: Uint8Array) => Promise<Uint8Array>
}

/** Tokens assumed for an image where the provider reports none: those of a Gemini image. */
const PICTURE_TOKENS = 1_290

/** Estimated usage of an image for which the provider reports none. */
const estimate = (prompt_tokens: number, image_tokens: number): Usage => ({
  prompt_tokens,
  completion_tokens: image_tokens,
  total_tokens: prompt_tokens + image_tokens,
  completion_tokens_details: { image_tokens },
})

/** OpenAI's GPT image models. */
const isGptImage = /^(chat)?gpt-image/

/**
 * Whether a text is a PNG in base64, which begins with the eight bytes of its signature; pages may write it into an address. `\w` takes a seventh of
 * the time of `[A-Za-z\d]`: 20 ms for a picture of 20 MB.
 */
const isPng = (base64: string): boolean => /^iVBORw0KGg[\w+/]*={0,2}$/.test(base64) && !base64.includes('_')

const unavailable = (message: string, cause?: unknown): ApiError =>
  new ApiError(503, 'upstream_error', message, { code: 'upstream_unavailable', cause })

/** This endpoint alone documents a 503 for an unavailable provider; a call that may have been billed stays a 502. */
const ownStatus = (error: unknown): unknown =>
  UpstreamError.is(error) && error.failure.kind === 'unavailable' && !error.failure.accepted
    ? unavailable('No provider that makes pictures could be reached', error)
    : error

/** POST /v1/images/generations: one image, as PNG. */
export function createImage(options: UpstreamOptions & ImageOptions) {
  const { imageModels = IMAGE_MODELS, toPng, router } = options

  /** Converts a base64 image to PNG in base64. */
  const asPng = async (base64: string, provider: string): Promise<string> => {
    if (isPng(base64)) return base64
    if (!toPng)
      throw new UpstreamError('The picture is no PNG', { provider, kind: 'malformed', accepted: true, code: 'no_png' })
    try {
      return toBase64(await toPng(fromBase64(base64)))
    } catch (cause) {
      throw new UpstreamError('The picture cannot be read', { provider, kind: 'malformed', accepted: true, cause })
    }
  }

  /** The first of `imageModels` that a configured provider offers. */
  const defaultModel = async (provider: string | null | undefined): Promise<string> => {
    const listed = await router.models(provider && provider !== 'auto' ? { provider } : {})
    const found = imageModels.find((id) => listed.some((model) => model.id === id))
    if (found === undefined && !provider) throw unavailable('No configured provider makes pictures')
    return found ?? imageModels[0]!
  }

  return operation({
    id: 'images.generations',
    summary: 'Makes a picture.',
    access: 'key',
    body: ImageRequest,
    example: { model: 'gpt-image-2', prompt: 'A toll gate at dawn' },
    output: ImageResponse,
    ...callsUpstream,
    async run(caller, { body }, call) {
      const guarding = options.guards && (await guarded(options, caller, call, 'images', body))
      const { stream, ...fields } = withoutNulls(guarding?.request ?? body)
      if (stream) throw unsupported('Pictures are not streamed')
      const notes: Note[] = []
      const given = permitted(options, caller, fields, imageFields, notes)
      const model = given.model ?? (await defaultModel(given.provider))
      requireModel(model, imageModels)
      const request = extend(given, { model })
      if ((request.n ?? 1) > 1) notes.push({ field: 'n', action: 'clamped' })
      const bytes = utf8Bytes(request.prompt)
      const isHd = request.quality === 'hd' || request.quality === 'high'
      const output_image = isHd ? HD_PICTURE_TOKENS : PICTURE_TOKENS
      const need = {
        task: 'images' as const,
        request,
        expected: () => ({ input: expectedTokens(bytes), output_image, images: 1 }),
        most: () => ({ input: mostTokens(bytes), output_image: HD_PICTURE_TOKENS, images: 1 }),
      }
      try {
        if (guarding?.inPlace) return await guarding.give(need)
        const upstream = await upstreamRequest(options, caller, call, need, notes)
        const { answer } = await whole(
          upstream,
          async ({ provider, model }, call) => {
            const { images, usage } = await provider.images!(extend(request, { model }), call)
            const { base64, revised_prompt } = images[0]!
            return { base64, revised_prompt, usage, provider: provider.id, model }
          },
          (answer): Used => {
            const usage = reported(answer.usage)
            const used = usage
              ? metered(usage, 'reported')
              : metered(estimate(expectedTokens(bytes), output_image), 'estimated')
            return extend(used, { units: { ...used.units, images: 1 } })
          },
        )
        const { revised_prompt } = answer
        const png = await asPng(answer.base64, answer.provider)
        const { response_format: format } = request
        // The clients of GPT image models send no format, and read `b64_json`: those models have no other (OpenAI's reference).
        const picture = {
          ...(format !== 'b64_json' && { url: `data:image/png;base64,${png}` }),
          ...((format === 'b64_json' || (format === undefined && isGptImage.test(answer.model))) && { b64_json: png }),
        }
        const made = {
          created: Math.floor(options.now() / 1000),
          data: [{ ...picture, ...(revised_prompt !== undefined && { revised_prompt }) }],
        }
        return guarding ? await guarding.judge(made) : made
      } catch (error) {
        throw ownStatus(error)
      }
    },
  })
}
