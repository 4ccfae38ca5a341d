import { isObject } from '@turnpike/core/helpers'
import { secondsNow } from '../answers/chunk-builder.js'
import type { FakeAnswer, FakeRequest } from './fake-upstream.js'
import { json, refused } from './openai-answers.js'
import type { Refusal } from './openai-refusals.js'
import {
  checkChoices,
  checkNumbers,
  checkText,
  modelNotFound,
  notJson,
  refuse,
  unknownParameter,
} from './openai-refusals.js'
import { grayJpeg, grayWebp, pngOf } from './pictures.js'
import type { Json } from './rules.js'
import { words } from './rules.js'
import { tokens } from './simulation.js'

interface ImageBody {
  prompt: string
  model?: string | null
  n?: number | null
  size?: string | null
  quality?: string | null
  response_format?: 'url' | 'b64_json' | null
  background?: string | null
  output_format?: 'png' | 'jpeg' | 'webp' | null
}

/** The parameters that a model supports. */
interface Abilities {
  /** In addition to prompt, model, n, size, quality and user, which all models support. */
  parameters: string[]
  promptLength: number
  images: number
  choices: Record<string, string[]>
}

const gptImage: Abilities = {
  parameters: words('background moderation output_compression output_format'),
  promptLength: 32_000,
  images: 10,
  choices: {
    size: words('1024x1024 1536x1024 1024x1536 auto'),
    quality: words('low medium high auto'),
    background: words('transparent opaque auto'),
    moderation: words('low auto'),
    output_format: words('png jpeg webp'),
  },
}

const dallE3: Abilities = {
  parameters: words('response_format style'),
  promptLength: 4_000,
  images: 1,
  choices: {
    size: words('1024x1024 1792x1024 1024x1792'),
    quality: words('standard hd'),
    style: words('vivid natural'),
    response_format: words('url b64_json'),
  },
}

const dallE2: Abilities = {
  parameters: ['response_format'],
  promptLength: 1_000,
  images: 10,
  choices: {
    size: words('256x256 512x512 1024x1024'),
    quality: ['standard'],
    response_format: words('url b64_json'),
  },
}

const isGptImage = (model: unknown): boolean => /^(gpt|chatgpt)-image-/.test(String(model))

function abilitiesOf(model: unknown): Abilities | undefined {
  if (isGptImage(model)) return gptImage
  return model === 'dall-e-3' ? dallE3 : model === 'dall-e-2' ? dallE2 : undefined
}

/** gpt-image-2 accepts any size with sides that are multiples of 16 and a ratio of at most 3:1. */
function isFreeSize({ model, size }: Json): boolean {
  const [, width = 0, height = 0] = (/^(\d+)x(\d+)$/.exec(String(size)) ?? []).map(Number)
  const ratio = width / height
  return (
    String(model).startsWith('gpt-image-2') && width % 16 === 0 && height % 16 === 0 && ratio >= 1 / 3 && ratio <= 3
  )
}

function checkOutput({ output_format, output_compression, background }: Json): Refusal | undefined {
  if (
    output_compression !== undefined &&
    output_compression !== 100 &&
    !['jpeg', 'webp'].includes(String(output_format))
  )
    return refuse('Compression less than 100 is not supported for PNG output format', 'output_compression')
  return background === 'transparent' && output_format === 'jpeg'
    ? refuse('Transparent background is not supported for JPEG output format', 'background')
    : undefined
}

/** Validates an image request; undefined if valid. */
export function openaiImageRefusal(body: unknown): Refusal | undefined {
  if (!isObject(body)) return notJson
  const model = body['model'] ?? 'dall-e-2'
  const abilities = abilitiesOf(model)
  if (!abilities) return modelNotFound(model)
  const { parameters, promptLength, images, choices } = abilities
  const { size, ...others } = choices
  return (
    unknownParameter(Object.keys(body), [...words('prompt model n size quality user'), ...parameters]) ??
    checkText(body, 'prompt', promptLength) ??
    checkNumbers(body, [
      ['n', 1, images, true],
      ['output_compression', 0, 100, true],
    ]) ??
    checkChoices(body, isFreeSize(body) ? others : { size: size!, ...others }) ??
    checkOutput(body)
  )
}

/** Tokens of a square image by quality. */
const outputTokens: Record<string, number> = { low: 272, medium: 1_056, high: 4_160 }

const orAuto = (given: string | null | undefined, otherwise: string): string =>
  given && given !== 'auto' ? given : otherwise

/** The additional response fields of GPT image models, which always return base64: the settings used, and usage. */
function gptImageAnswer(body: ImageBody, n: number): FakeAnswer {
  const { prompt } = body
  const quality = orAuto(body.quality, 'medium')
  const format = body.output_format ?? 'png'
  const b64_json = { png: pngOf(prompt), jpeg: grayJpeg, webp: grayWebp }[format]
  const input_tokens = tokens(prompt)
  const output_tokens = outputTokens[quality]! * n
  return json({
    created: secondsNow(),
    background: orAuto(body.background, 'opaque'),
    data: Array.from({ length: n }, () => ({ b64_json })),
    output_format: format,
    quality,
    size: orAuto(body.size, '1024x1024'),
    usage: {
      input_tokens,
      input_tokens_details: { image_tokens: 0, text_tokens: input_tokens },
      output_tokens,
      total_tokens: input_tokens + output_tokens,
    },
  })
}

/** The fake's POST /images/generations: a small PNG whose color depends on the prompt. */
export function openaiImages({ body: given }: FakeRequest): FakeAnswer {
  const refusal = openaiImageRefusal(given)
  if (refusal) return refused(refusal)
  const body = given as ImageBody
  const { prompt, response_format } = body
  const n = body.n ?? 1
  if (isGptImage(body.model)) return gptImageAnswer(body, n)
  const revised = body.model === 'dall-e-3' && { revised_prompt: `A simulated revision of: ${prompt}` }
  const image = (index: number) =>
    response_format === 'b64_json' ? { b64_json: pngOf(prompt) } : { url: `https://images.invalid/${index}.png` }
  return json({
    created: secondsNow(),
    data: Array.from({ length: n }, (_, index) => ({ ...revised, ...image(index) })),
  })
}
