import type { ChunkChoice } from '@turnpike/core'
import { ChatChunk, ChatCompletion, ChatCompletionRequest } from '@turnpike/core'
import type { ChatDecoder } from '@turnpike/providers'
import * as v from 'valibot'

/** What all chunks of the OpenAI-style streams below have alike. */
export const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 5, model: 'gpt-4o' } as const

/** A chunk as an upstream sends it. */
export const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason, ...more }],
})
export const finish = (reason = 'stop') => chunk({}, reason)
export const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }

/** Fails on a chunk that is not as documented. */
export const checkChunk = (chunk: object): void => void v.parse(ChatChunk, chunk)

/** Fails on a request that the gateway would refuse. */
export const checkRequest = (request: object): void => void v.parse(ChatCompletionRequest, request)

/** Fails on a whole answer that is not as documented. */
export const checkCompletion = (answer: object): void => void v.parse(ChatCompletion, answer)

/** The events of one upstream read: values that are sent as JSON, and texts that are sent as they are. */
export type Read = (object | string)[]

/**
 * The chunks that a decoder makes of each read, those reads left out that give none, with the usage of a whole stream as the last,
 * and the error at the end if there is one.
 */
export function decodeReads(decoder: ChatDecoder, reads: Read[]): { batches: ChatChunk[][]; error?: unknown } {
  const batches: ChatChunk[][] = []
  const keep = (choices: ChunkChoice[]): void => {
    // As the client gets it.
    const chunks = choices.map(
      (choice) => JSON.parse(JSON.stringify({ ...decoder.head(), choices: [choice] })) as ChatChunk,
    )
    for (const chunk of chunks) v.parse(ChatChunk, chunk)
    if (chunks.length > 0) batches.push(chunks)
  }
  const whole = () => {
    const usage = decoder.usage()
    if (usage) batches.at(-1)!.push({ ...decoder.head(), choices: [], usage })
    return { batches }
  }
  try {
    for (const read of reads) {
      keep(decoder.push(read.map((data) => ({ data: typeof data === 'string' ? data : JSON.stringify(data) }))))
      if (decoder.done()) return whole()
    }
    keep(decoder.end())
    return whole()
  } catch (error) {
    keep(decoder.rest())
    return { batches, error }
  }
}

/**
 * What becomes of chunks that come in a read each: the choice of every chunk, or its usage where it has none.
 * @throws the error at the end if there is one
 */
export function decodeChoices(decoder: ChatDecoder, chunks: Read) {
  const { batches, error } = decodeReads(
    decoder,
    chunks.map((one) => [one]),
  )
  if (error) throw error
  return batches.flat().map(({ choices: [choice], usage: reported }) => choice ?? reported)
}
