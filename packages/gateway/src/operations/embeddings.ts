import type { Note } from '@turnpike/core'
import { EmbeddingRequest, EmbeddingResponse } from '@turnpike/core'
import { extend, withoutNulls } from '@turnpike/core/internal'
import { EMBEDDING } from '../conventions.js'
import { embeddingFields, permitted } from '../documented-fields.js'
import { metered, reported } from '../meter.js'
import { expectedTokens, mostTokens, utf8Bytes } from '../text-bytes.js'
import { whole } from '../upstream-answer.js'
import type { UpstreamOptions } from '../upstream-request.js'
import { callsUpstream, upstreamRequest } from '../upstream-request.js'
import { operation } from '../operation.js'

/** Tokens of the input: counted where it is given as tokens, else estimated from the bytes. */
function inputTokens(input: EmbeddingRequest['input'], tokens: (bytes: number) => number): number {
  if (typeof input === 'string') return tokens(utf8Bytes(input))
  let sum = 0
  for (const item of input)
    sum += typeof item === 'number' ? 1 : typeof item === 'string' ? tokens(utf8Bytes(item)) : item.length
  return sum
}

/** POST /v1/embeddings. */
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
      const notes: Note[] = []
      const request = permitted(options, caller, withoutNulls(body), embeddingFields, notes)
      const expected = (): number => inputTokens(request.input, expectedTokens)
      const need = {
        task: 'embeddings' as const,
        request,
        expected: () => ({ input: expected() }),
        most: () => ({ input: inputTokens(request.input, mostTokens) }),
      }
      const upstream = await upstreamRequest(options, caller, call, need, notes)
      const { answer, used, cost } = await whole(
        upstream,
        ({ provider, model }, call) => {
          const dimensions =
            request.dimensions ?? (model.replace(/^models\//, '') === preset.model ? preset.dimensions : undefined)
          return provider.embeddings!(extend(request, { model, dimensions }), call)
        },
        (answer) => {
          const usage = reported(answer.usage)
          if (usage) return metered(usage, 'reported')
          const input = expected()
          return metered({ prompt_tokens: input, completion_tokens: 0, total_tokens: input }, 'estimated')
        },
      )
      const { prompt_tokens, total_tokens } = used.usage
      return extend(answer, { usage: { prompt_tokens, total_tokens, ...(upstream.explained && cost) } })
    },
  })
}
