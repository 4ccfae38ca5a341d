import type { ChatStream, ChunkChoice, Completion } from '@turnpike/core'
import { extend, jsonLength } from '@turnpike/core/helpers'
import type { AdmittedRequest } from '../upstream/upstream-request.js'

/** Characters of the JSON of choices that are held back at most: a stream that has more is passed on, and is not withheld. */
const HELD = 64 * 1024

/** Whether a fallback of the group is to be called where a content filter withholds the answer of the target. */
export const hasContentFallback = ({ targets, target }: AdmittedRequest): boolean =>
  target.fallback === undefined && targets.some(({ fallback }) => fallback === 'content')

/** Whether a message, or a delta of one, says anything, besides why it was refused. */
const says = (message: object): boolean =>
  Object.entries(message).some(
    ([name, value]) => name !== 'role' && name !== 'refusal' && value && (value as { length?: number }).length !== 0,
  )

/** Whether a content filter left nothing of an answer. */
export const isWithheld = ({ choices }: Completion): boolean =>
  choices.every(({ finish_reason, message }) => finish_reason === 'content_filter' && !says(message))

/**
 * Reads a stream until it says anything, is longer than {@link HELD}, or ends.
 * @returns the stream from its beginning, and whether a content filter left nothing of it
 */
export async function heldBack(opened: ChatStream): Promise<{ stream: ChatStream; isWithheld: boolean }> {
  const batches = opened.batches[Symbol.asyncIterator]()
  const held: ChunkChoice[] = []
  let [isSilent, isFiltered] = [true, false]
  let size = 0
  /** The read by which it ended, if it has. */
  let last: Promise<IteratorResult<ChunkChoice[], undefined>> | undefined
  while (isSilent) {
    const read = batches.next() as NonNullable<typeof last>
    const { done, value } = await read.catch(() => ({ done: undefined, value: undefined }))
    if (!value) {
      last = read
      // An error is the reader's.
      isSilent &&= done === true
      break
    }
    held.push(...value)
    for (const choice of value) {
      const { delta, finish_reason: end } = choice
      if (end === 'content_filter') isFiltered = true
      size += jsonLength(choice)
      if (says(delta) || (end && end !== 'content_filter') || size > HELD) isSilent = false
    }
  }
  async function* replay(): AsyncGenerator<ChunkChoice[], undefined> {
    yield held
    for (let read = await (last ?? batches.next()); !read.done; read = await batches.next()) yield read.value
  }
  return { stream: extend(opened, { batches: replay() }), isWithheld: isSilent && isFiltered }
}
