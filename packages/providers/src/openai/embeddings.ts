import type { EmbeddingAnswer, Note, Provider, Usage } from '@turnpike/core'
import { extend, mapInTurns } from '@turnpike/core/helpers'
import { textsOf } from '@turnpike/core/internal'
import { count } from '../answers/count.js'
import type { Refusals } from '../refusals/refusals.js'
import type { Upstream } from '../upstream/upstream.js'
import { EMBEDDINGS } from '../upstream/json.js'
import { callJson } from '../upstream/upstream.js'
import { embeddingOf, vectorMaker } from '../answers/vectors.js'
import { missing } from './errors.js'
import { route } from './routing-fields.js'

/** A response of `/embeddings`. */
interface Answer {
  data?: { index?: unknown; embedding: unknown }[]
  model?: string
  usage?: { prompt_tokens?: unknown } | null
}

function usageOf({ usage }: Answer): Usage | undefined {
  const prompt = count(usage?.prompt_tokens)
  return prompt === undefined ? undefined : { prompt_tokens: prompt, completion_tokens: 0, total_tokens: prompt }
}

/** `/embeddings`. Vectors are returned in the requested encoding, even if the server ignores `encoding_format` and sends numbers. */
export const embeddings =
  (upstream: Upstream, refusals: Refusals): NonNullable<Provider['embeddings']> =>
  (request, call) => {
    const { encoding_format: encoding, input } = request
    const expected = textsOf(input)
    const outgoing = refusals.outgoing(request, (losses) => {
      // base64 unless it is refused: as decimals, 2,048 vectors of the largest size would exceed the limit of an answer.
      const body = extend(request as Record<string, unknown>, { provider: undefined, encoding_format: 'base64' })
      const notes: Note[] = []
      route(body, notes, upstream)
      for (const field of losses) {
        if (body[field] !== undefined) notes.push({ field, action: 'dropped' })
        body[field] = undefined
      }
      return { path: '/embeddings', body, notes }
    })
    const read = async (answer: object): Promise<EmbeddingAnswer> => {
      const { data, model } = answer as Answer
      if (!data) throw missing(upstream.id, answer, 'data')
      if (data.length !== expected) throw new TypeError(`Expected ${expected} embeddings`)
      const given = await mapInTurns(data, ({ index, embedding }, position) =>
        embeddingOf(count(index) ?? position, vectorMaker(embedding, encoding)),
      )
      const vectors = given.toSorted((a, b) => a.index - b.index)
      if (vectors.some(({ index }, position) => index !== position))
        throw new TypeError('An index is not that of an input')
      return {
        object: 'list',
        data: vectors,
        model: model || request.model,
        usage: usageOf(answer),
      }
    }
    return callJson(upstream, outgoing, call, usageOf, read, upstream.headers, EMBEDDINGS)
  }
