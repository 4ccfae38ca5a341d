import type { EmbeddingAnswer, EmbeddingRequest, Provider, Usage } from '@turnpike/core'
import { together } from '@turnpike/core/helpers'
import { sumUsage, unsupported } from '@turnpike/core/internal'
import type { UpstreamRequest } from '../adapter.js'
import { count } from '../answers/count.js'
import { malformed } from '../refusals/failures.js'
import { takeNotes } from '../requests/request-fields.js'
import { EMBEDDINGS } from '../upstream/json.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson, nameAt } from '../upstream/upstream.js'
import { embeddingOf, normalise, toVector, vectorMaker } from '../answers/vectors.js'
import { toldError } from './errors.js'
import { toName, toPath } from './models.js'

const read = new Set(['input', 'dimensions', 'encoding_format'])

const areTexts = (inputs: unknown[]): inputs is string[] => inputs.every((input) => typeof input === 'string')

const inputsOf = ({ input }: EmbeddingRequest): unknown[] => (typeof input === 'string' ? [input] : input)

/** Whether the input is text. Only the OpenAI family accepts token ids. */
export const canEmbed = (request: EmbeddingRequest): boolean => areTexts(inputsOf(request))

/** A method that embeds texts. */
export interface EmbeddingMethod {
  /** Most texts of a call. */
  batch: number
  request(
    model: string,
    texts: string[],
    outputDimensionality: number | undefined,
  ): Pick<UpstreamRequest, 'path' | 'body'>
  /** The vectors of an answer, in the order of the texts; undefined if it has none. */
  vectors(answer: object): unknown[] | undefined
  usage(answer: object): Usage | undefined
}

/** The usage of an embedding. */
export const promptUsage = (tokens: number | undefined): Usage | undefined =>
  tokens === undefined ? undefined : { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens }

/** The count of an answer with `usageMetadata`. */
export const usageOf = (answer: { usageMetadata?: { promptTokenCount?: unknown } }): Usage | undefined =>
  promptUsage(count(answer.usageMetadata?.promptTokenCount))

export const batchEmbedContents: EmbeddingMethod = {
  batch: 100,
  request: (model, texts, outputDimensionality) => ({
    path: toPath(model, 'batchEmbedContents'),
    body: {
      requests: texts.map((text) => ({ model: toName(model), content: { parts: [{ text }] }, outputDimensionality })),
    },
  }),
  vectors: ({ embeddings }: { embeddings?: { values: unknown }[] }) => embeddings?.map(({ values }) => values),
  usage: usageOf,
}

interface Batch {
  vectors: number[][]
  usage: Usage | undefined
}

/** Embeds in as many calls as needed. If one fails, all fail. @param methodOf the method for a model */
export const embeddings =
  (
    upstream: Upstream,
    methodOf: (model: string) => EmbeddingMethod = () => batchEmbedContents,
  ): NonNullable<Provider['embeddings']> =>
  async (request, call): Promise<EmbeddingAnswer> => {
    const { model, dimensions, encoding_format: encoding } = request
    const texts = inputsOf(request)
    if (!areTexts(texts)) throw unsupported('Gemini embeds texts, not tokens')
    const { batch, usage, ...method } = methodOf(model)
    const { notes } = takeNotes(request, read)

    const batches = await together(Math.ceil(texts.length / batch), (index): Promise<Batch> => {
      const some = texts.slice(index * batch, (index + 1) * batch)
      const outgoing = {
        ...method.request(nameAt(upstream, request), some, dimensions ?? undefined),
        notes: index === 0 ? notes : [],
      }
      return callJson(
        upstream,
        outgoing,
        call,
        usage,
        (body) => {
          const given = method.vectors(body)
          if (!given)
            throw toldError(upstream.id, body, false) ?? malformed(upstream.id, 'The answer has no embeddings')
          if (given.length !== some.length) throw new TypeError(`Expected ${some.length} embeddings`)
          return { vectors: given.map(toVector), usage: usage(body) }
        },
        undefined,
        EMBEDDINGS,
      )
    })

    return {
      object: 'list',
      data: batches
        .flatMap(({ vectors }) => vectors)
        // Unlike OpenAI, Gemini does not normalize truncated vectors.
        .map((vector, index) => embeddingOf(index, () => vectorMaker(normalise(vector), encoding)())),
      model,
      usage: sumUsage(batches.map((one) => one.usage)),
    }
  }
