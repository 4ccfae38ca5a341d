import type { EmbeddingAnswer, EmbeddingRequest, Provider } from '@turnpike/core'
import { extend, UpstreamError } from '@turnpike/core'
import type { UpstreamRequest } from '../adapter.js'
import { count } from '../count.js'
import { unsupported } from '../invalid.js'
import { takeNotes } from '../request-fields.js'
import type { Upstream } from '../upstream.js'
import { callJson } from '../upstream.js'
import { encodeVector, normalise, toVector } from '../vectors.js'
import { toName, toPath } from './models.js'

/** Most texts of one call. */
const BATCH = 100

const read = new Set(['input', 'dimensions', 'encoding_format'])

/** The texts of a request. @throws ApiError 400 for tokens, which only OpenAI's family can read */
function textsOf({ input }: EmbeddingRequest): string[] {
  const inputs = typeof input === 'string' ? [input] : input
  return inputs.map((text) => {
    if (typeof text !== 'string') throw unsupported('Gemini embeds texts, not tokens')
    return text
  })
}

/** What calls that belong together come to. @throws what one of them failed of, told as accepted where another one was */
async function all<T>(calls: Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(calls)
  const failed = settled.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined
  if (failed === undefined) return settled.map((one) => (one as PromiseFulfilledResult<T>).value)
  const error: unknown = failed.reason
  // Who asked again would pay again for what was embedded (ruling 16).
  const spent = settled.some((one) =>
    one.status === 'fulfilled' ? true : UpstreamError.is(one.reason) && one.reason.failure.accepted,
  )
  if (spent && UpstreamError.is(error))
    throw new UpstreamError(error.message, extend(error.failure, { accepted: true }))
  throw error
}

interface Batch {
  vectors: number[][]
  tokens: number | undefined
}

/** An answer of batchEmbedContents. */
interface Answer {
  embeddings: { values: unknown }[]
  usageMetadata?: { promptTokenCount?: unknown }
}

/** batchEmbedContents, as many calls as the texts need; they succeed or fail together. */
export const embeddings =
  (upstream: Upstream): NonNullable<Provider['embeddings']> =>
  async (request, call): Promise<EmbeddingAnswer> => {
    const { model, dimensions: outputDimensionality, encoding_format: encoding } = request
    const texts = textsOf(request)
    const path = toPath(model, 'batchEmbedContents')
    const { notes } = takeNotes(request, read)

    const embed = (some: string[], first: boolean): Promise<Batch> => {
      const requests = some.map((text) => ({
        model: toName(model),
        content: { parts: [{ text }] },
        outputDimensionality,
      }))
      const outgoing: UpstreamRequest = { path, body: { requests }, notes: first ? notes : [] }
      return callJson(upstream, outgoing, call, (body) => {
        const { embeddings: given, usageMetadata } = body as Answer
        if (given.length !== some.length) throw new TypeError(`Expected ${some.length} embeddings`)
        return { vectors: given.map(({ values }) => toVector(values)), tokens: count(usageMetadata?.promptTokenCount) }
      })
    }
    const calls: Promise<Batch>[] = []
    for (let i = 0; i < texts.length; i += BATCH) calls.push(embed(texts.slice(i, i + BATCH), i === 0))
    const batches = await all(calls)

    const tokens = batches.reduce<number | undefined>((sum, batch) => addKnown(sum, batch.tokens), 0)
    return {
      object: 'list',
      data: batches
        .flatMap(({ vectors }) => vectors)
        .map((vector, index) => ({
          object: 'embedding' as const,
          index,
          // Shortened vectors of Gemini are not of length 1, as those of OpenAI are.
          embedding: encodeVector(normalise(vector), encoding),
        })),
      model,
      usage: tokens === undefined ? undefined : { prompt_tokens: tokens, completion_tokens: 0, total_tokens: tokens },
    }
  }

/** A sum that is known only if all its parts are. */
const addKnown = (sum: number | undefined, part: number | undefined): number | undefined =>
  sum === undefined || part === undefined ? undefined : sum + part
