import type { EmbeddingAnswer, EmbeddingRequest, Provider, Usage } from '@turnpike/core'
import { sumUsage, together, unsupported } from '@turnpike/core/internal'
import type { UpstreamRequest } from '../adapter.js'
import { count } from '../count.js'
import { malformed } from '../failures.js'
import { takeNotes } from '../request-fields.js'
import type { Upstream } from '../upstream.js'
import { callJson } from '../upstream.js'
import { embeddingOf, normalise, toVector, vectorMaker } from '../vectors.js'
import { toldError } from './errors.js'
import { toName, toPath } from './models.js'

/** Maximum number of texts per call. */
export const TEXTS_PER_CALL = 100

const read = new Set(['input', 'dimensions', 'encoding_format'])

const areTexts = (inputs: unknown[]): inputs is string[] => inputs.every((input) => typeof input === 'string')

const inputsOf = ({ input }: EmbeddingRequest): unknown[] => (typeof input === 'string' ? [input] : input)

/** Whether the input is text. Only the OpenAI family accepts token ids. */
export const canEmbed = (request: EmbeddingRequest): boolean => areTexts(inputsOf(request))

interface Batch {
  vectors: number[][]
  usage: Usage | undefined
}

/** A response of batchEmbedContents. */
interface Answer {
  embeddings?: { values: unknown }[]
  usageMetadata?: { promptTokenCount?: unknown }
}

function usageOf(body: Answer): Usage | undefined {
  const tokens = count(body.usageMetadata?.promptTokenCount)
  return tokens === undefined ? undefined : { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens }
}

/** batchEmbedContents, in as many calls as needed. If one fails, all fail. */
export const embeddings =
  (upstream: Upstream): NonNullable<Provider['embeddings']> =>
  async (request, call): Promise<EmbeddingAnswer> => {
    const { model, dimensions: outputDimensionality, encoding_format: encoding } = request
    const texts = inputsOf(request)
    if (!areTexts(texts)) throw unsupported('Gemini embeds texts, not tokens')
    const path = toPath(model, 'batchEmbedContents')
    const { notes } = takeNotes(request, read)

    const batches = await together(Math.ceil(texts.length / TEXTS_PER_CALL), (index): Promise<Batch> => {
      const some = texts.slice(index * TEXTS_PER_CALL, (index + 1) * TEXTS_PER_CALL)
      const requests = some.map((text) => ({
        model: toName(model),
        content: { parts: [{ text }] },
        outputDimensionality,
      }))
      const outgoing: UpstreamRequest = { path, body: { requests }, notes: index === 0 ? notes : [] }
      return callJson(upstream, outgoing, call, usageOf, (body) => {
        const { embeddings: given } = body as Answer
        if (!given) throw toldError(upstream.id, body, false) ?? malformed(upstream.id, 'The answer has no embeddings')
        if (given.length !== some.length) throw new TypeError(`Expected ${some.length} embeddings`)
        return { vectors: given.map(({ values }) => toVector(values)), usage: usageOf(body) }
      })
    })

    return {
      object: 'list',
      data: batches
        .flatMap(({ vectors }) => vectors)
        // Unlike OpenAI, Gemini does not normalize truncated vectors.
        .map((vector, index) => embeddingOf(index, () => vectorMaker(normalise(vector), encoding)())),
      model,
      usage: sumUsage(batches.map(({ usage }) => usage)),
    }
  }
