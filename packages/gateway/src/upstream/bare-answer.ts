/**
 * Answers without what stands beside their messages: some upstreams have the texts there again, such as `logprobs`, the `message` so far beside a
 * `delta`, or the ids of tokens, and guards do not see them. @module
 */
import type { ChatCompletion, ChunkChoice, ChunkHead } from '@turnpike/core'

type Choice = ChatCompletion['choices'][number]

/** Fields of answers whose values are not the model's. */
const fields = ['id', 'object', 'created', 'model', 'service_tier', 'system_fingerprint', 'choices', 'usage']

const bareFields = <T extends object>(answer: T): T =>
  Object.fromEntries(Object.entries(answer).filter(([name]) => fields.includes(name))) as T

export const bareHead: (head: ChunkHead) => ChunkHead = bareFields

export const bareAnswer = (answer: ChatCompletion): ChatCompletion => ({
  ...bareFields(answer),
  choices: answer.choices.map(({ index, message, finish_reason }): Choice => ({ index, message, finish_reason })),
})

/** The batches of a stream, each with its chunks bare. The source is not closed where the reader leaves. */
export async function* bareChunks(
  source: AsyncIterator<ChunkChoice[], undefined>,
): AsyncGenerator<ChunkChoice[], undefined> {
  for (let read = await source.next(); !read.done; read = await source.next())
    yield read.value.map(({ index, delta, finish_reason }): ChunkChoice => ({ index, delta, finish_reason }))
}
