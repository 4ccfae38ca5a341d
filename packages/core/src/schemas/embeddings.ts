/** The shapes of embeddings. Loose: fields that the schemas do not name are passed through. */
import * as v from 'valibot'
import { count, integer } from './integers.js'
import { ours } from './ours.js'

/** LangChain and others send token ids, which only the OpenAI family accepts. */
const tokens = v.pipe(v.array(count), v.minLength(1), ours())
const text = v.pipe(v.string(), v.minLength(1, 'Expected a text that is not empty'))

/** OpenAI's limit. */
const MAX_INPUTS = 2_048

/** The body of POST /v1/embeddings. */
export const EmbeddingRequest = v.looseObject({
  input: v.union(
    [
      text,
      v.pipe(v.array(text), v.minLength(1), v.maxLength(MAX_INPUTS)),
      tokens,
      v.pipe(v.array(tokens), v.minLength(1), v.maxLength(MAX_INPUTS), ours()),
    ],
    `Expected a text or 1 to ${MAX_INPUTS} texts, none of them empty`,
  ),
  model: v.pipe(v.string(), v.minLength(1)),
  dimensions: v.nullish(v.pipe(integer, v.minValue(1), v.maxValue(3_072))),
  encoding_format: v.nullish(v.picklist(['float', 'base64'])),
  provider: v.nullish(v.string()),
})
export type EmbeddingRequest = v.InferOutput<typeof EmbeddingRequest>

/** The response of POST /v1/embeddings. */
export const EmbeddingResponse = v.looseObject({
  object: v.literal('list'),
  data: v.array(
    v.looseObject({
      object: v.literal('embedding'),
      index: count,
      /** Numbers, or with `encoding_format: 'base64'` little-endian 32-bit floats. */
      embedding: v.union([v.array(v.number()), v.string()]),
    }),
  ),
  model: v.string(),
  usage: v.looseObject({ prompt_tokens: count, total_tokens: count }),
})
export type EmbeddingResponse = v.InferOutput<typeof EmbeddingResponse>
