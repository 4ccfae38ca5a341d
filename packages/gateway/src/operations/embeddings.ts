import type { EmbeddingAnswer, ListPage, Memory, Note, PageOptions, Target } from '@turnpike/core'
import { EmbeddingRequest, EmbeddingResponse } from '@turnpike/core'
import { extend, withoutNulls } from '@turnpike/core/helpers'
import { textsOf } from '@turnpike/core/internal'
import { jsonList } from '@turnpike/http'
import { EMBEDDED_TEXTS, EMBEDDING, NUMBER_LENGTH, VECTOR_LENGTH, VECTORS_LENGTH } from '../conventions.js'
import { embeddingFields, permitted } from '../limits/documented-fields.js'
import { guarded } from '../guards/guarding.js'
import { metered, reported } from '../records/meter.js'
import { expectedTokens, mostTokens, utf8Bytes } from '../limits/text-bytes.js'
import { whole } from '../upstream/upstream-answer.js'
import type { UpstreamOptions } from '../upstream/upstream-request.js'
import { callsUpstream, upstreamRequest } from '../upstream/upstream-request.js'
import { operation } from '../operation.js'

/** Bytes of a number of a vector in base64, as providers are asked for it. */
const BASE64_NUMBER = 16 / 3

/** Bytes that are too few to be taken ahead. */
const COUNTED = 64 * 1024

/** Tokens of the input: counted where it is given as tokens, else estimated from the bytes. */
function inputTokens(input: EmbeddingRequest['input'], tokens: (bytes: number) => number): number {
  if (typeof input === 'string') return tokens(utf8Bytes(input))
  let sum = 0
  for (const item of input)
    sum += typeof item === 'number' ? 1 : typeof item === 'string' ? tokens(utf8Bytes(item)) : item.length
  return sum
}

/**
 * Memory of which so many bytes are taken at once, before what needs them is billed.
 * @throws ApiError 503 where there are none left
 */
function ahead(memory: Memory, bytes: number): Memory {
  memory.take(bytes)
  let left = bytes
  return {
    take(wanted) {
      if (wanted > left) memory.take(wanted - left)
      left = Math.max(0, left - wanted)
    },
  }
}

/** How many vectors are sent at once, by the length of the first. */
const countAtOnce = ([first]: EmbeddingAnswer['data']): number => {
  const { embedding } = first ?? { embedding: '' }
  const length = typeof embedding === 'string' ? embedding.length : embedding.length * NUMBER_LENGTH
  return Math.max(1, Math.floor(VECTORS_LENGTH / length))
}

/** The answer, of which many vectors are sent some at a time. */
function reply(answer: Pick<EmbeddingResponse, 'object' | 'data'>): unknown {
  const { object, data, ...rest } = answer
  const atOnce = countAtOnce(data)
  if (data.length <= atOnce) return answer
  const read = async ({ after = '0' }: PageOptions): Promise<ListPage<object>> => {
    const end = Number(after) + atOnce
    return { items: data.slice(Number(after), end), ...(end < data.length && { next: String(end) }) }
  }
  return jsonList({ object }, 'data', read, () => rest)
}

/** POST /v1/embeddings. Many vectors are sent some at a time: as decimals, they are up to 131 MB. */
export function createEmbeddings(options: UpstreamOptions, preset: typeof EMBEDDING = EMBEDDING) {
  return operation({
    id: 'embeddings',
    summary: 'Turns texts into vectors.',
    access: 'key',
    body: EmbeddingRequest,
    example: { model: 'text-embedding-3-small', input: 'Hello!' },
    output: EmbeddingResponse,
    ...callsUpstream,
    async run(caller, { body }, call) {
      const guarding = options.guards && (await guarded(options, caller, call, 'embeddings', body))
      const notes: Note[] = []
      const request = permitted(options, caller, withoutNulls(guarding?.request ?? body), embeddingFields, notes)
      const expected = (): number => inputTokens(request.input, expectedTokens)
      const need = {
        task: 'embeddings' as const,
        request,
        calls: ({ provider, model }: Target) => {
          const perCall = provider.textsPerCall?.(model) ?? Infinity
          // Also where an upstream takes more at once: their vectors are megabytes, which take long to read, and as decimals to write.
          const atOnce = EMBEDDED_TEXTS[request.encoding_format === 'base64' ? 'base64' : 'float']
          return Math.ceil(textsOf(request.input) / Math.min(perCall, atOnce))
        },
        expected: () => ({ input: expected() }),
        most: () => ({ input: inputTokens(request.input, mostTokens) }),
      }
      if (guarding?.inPlace) return reply(await guarding.give(need))
      const size = textsOf(request.input) * (request.dimensions ?? VECTOR_LENGTH) * BASE64_NUMBER
      const memory = size > COUNTED ? ahead(call.memory, size) : call.memory
      const upstream = await upstreamRequest(options, caller, call, need, notes)
      const { answer, used, cost } = await whole(
        upstream,
        ({ provider, model }, upstreamCall) => {
          const dimensions =
            request.dimensions ?? (model.replace(/^models\//, '') === preset.model ? preset.dimensions : undefined)
          return provider.embeddings!(extend(request, { model, dimensions }), { ...upstreamCall, memory })
        },
        (answer) => {
          const usage = reported(answer.usage)
          if (usage) return metered(usage, 'reported')
          const input = expected()
          return metered({ prompt_tokens: input, completion_tokens: 0, total_tokens: input }, 'estimated')
        },
      )
      const { prompt_tokens, total_tokens } = used.usage
      const judged = guarding ? await guarding.judge({ ...answer, usage: { prompt_tokens, total_tokens } }) : answer
      return reply(extend(judged, { usage: { prompt_tokens, total_tokens, ...(upstream.explained && cost) } }))
    },
  })
}
