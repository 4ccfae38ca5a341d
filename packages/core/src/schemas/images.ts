/** The shapes of images. Loose: fields that the schemas do not name are passed through. */
import * as v from 'valibot'
import { count, integer } from './integers.js'
import { ours } from './ours.js'

/** The words of DALL·E and, as our own, those of the GPT image models; each family maps them to its own. */
const withOwn = <const Shown extends string, const Own extends string>(shown: Shown[], own: Own[]) =>
  v.union(
    [v.picklist(shown), v.pipe(v.picklist(own), ours())],
    `Expected one of ${[...shown, ...own].map((word) => `"${word}"`).join(', ')}`,
  )

/** The body of POST /v1/images/generations. */
export const ImageRequest = v.looseObject({
  prompt: v.pipe(v.string(), v.minLength(1)),
  model: v.nullish(v.pipe(v.string(), v.minLength(1))),
  n: v.nullish(v.pipe(integer, v.minValue(1), v.maxValue(10))),
  size: v.nullish(
    withOwn(['256x256', '512x512', '1024x1024', '1024x1792', '1792x1024'], ['1536x1024', '1024x1536', 'auto']),
  ),
  quality: v.nullish(withOwn(['standard', 'hd'], ['low', 'medium', 'high', 'auto'])),
  style: v.nullish(v.picklist(['natural', 'vivid'])),
  response_format: v.nullish(v.picklist(['url', 'b64_json'])),
  provider: v.nullish(v.string()),
})
export type ImageRequest = v.InferOutput<typeof ImageRequest>

/** The answer of POST /v1/images/generations. */
export const ImageResponse = v.looseObject({
  created: count,
  data: v.array(
    v.looseObject({
      /** A data URL. */
      url: v.optional(v.string()),
      b64_json: v.optional(v.string()),
      revised_prompt: v.optional(v.string()),
    }),
  ),
})
export type ImageResponse = v.InferOutput<typeof ImageResponse>
