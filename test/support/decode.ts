import { ChatChunk } from '@turnpike/core'
import type { StreamDecoder } from '@turnpike/providers'
import * as v from 'valibot'

/** The events of one upstream read: values that are sent as JSON, and texts that are sent as they are. */
export type Read = (object | string)[]

/** The chunks that a decoder makes of each read, those reads left out that give none, and the error at the end if there is one. */
export function decodeReads(
  decoder: StreamDecoder<ChatChunk>,
  reads: Read[],
): { batches: ChatChunk[][]; error?: unknown } {
  const batches: ChatChunk[][] = []
  const keep = (chunks: ChatChunk[]): void => {
    for (const chunk of chunks) v.parse(ChatChunk, chunk)
    // As the client gets it.
    if (chunks.length > 0) batches.push(JSON.parse(JSON.stringify(chunks)) as ChatChunk[])
  }
  try {
    for (const read of reads) {
      keep(decoder.push(read.map((data) => ({ data: typeof data === 'string' ? data : JSON.stringify(data) }))))
      if (decoder.done) return { batches }
    }
    keep(decoder.end())
  } catch (error) {
    keep(decoder.rest())
    return { batches, error }
  }
  return { batches }
}
