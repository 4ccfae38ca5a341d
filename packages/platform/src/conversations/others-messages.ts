import type { Attachment } from '../schemas.js'

/**
 * Bytes of a PDF that count as a character, and the characters that one counts as at least: a thousand pages may have 6 kB, so that there is room for
 * one; and those that a picture counts as: about what models read of it.
 */
const PDF_BYTES = 6
const PDF_LENGTH = 60_000
const PICTURE_LENGTH = 6_000

/** Characters that each file counts as besides, for the words around it. */
const FILE_LENGTH = 50

/** The length of a message with its files, in characters. */
function lengthOf({ text, attachments = [] }: Said): number {
  let length = text.length
  for (const { display_name: name, mime_type: type, size_bytes: bytes } of attachments) {
    length += name.length + FILE_LENGTH
    if (type.startsWith('image/')) length += PICTURE_LENGTH
    else length += type === 'application/pdf' ? Math.max(PDF_LENGTH, bytes / PDF_BYTES) : bytes
  }
  return length
}

interface Said {
  text: string
  attachments?: Attachment[] | undefined
}

const LEFT_OUT = '[A message of another member is left out, since too much is said by others]'

/**
 * The messages that a reply is made from, with `most` characters at most of those that others have sent or asked for, files included, the last ones: in
 * place of earlier ones stands a sentence that says so. Who asks for a reply pays for all that the model reads.
 */
export function withoutMoreOfOthers<M extends Said>(
  messages: readonly M[],
  isOfOther: (message: M) => boolean,
  most: number,
): M[] {
  let room = most
  return messages
    .toReversed()
    .map((message) => {
      if (!isOfOther(message)) return message
      room -= lengthOf(message)
      return room >= 0 ? message : { ...message, text: LEFT_OUT, attachments: undefined }
    })
    .toReversed()
}
