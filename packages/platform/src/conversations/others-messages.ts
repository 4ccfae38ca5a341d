const LEFT_OUT = '[A message of another member is left out, since too much is said by others]'

/**
 * The messages that a reply is made from, with `most` characters at most of those that others have sent, the last ones: in place of earlier ones stands
 * a sentence that says so. Who asks for a reply pays for all that the model reads.
 */
export function withoutMoreOfOthers<M extends { text: string; attachments?: unknown }>(
  messages: readonly M[],
  isOfOther: (message: M) => boolean,
  most: number,
): M[] {
  let room = most
  return messages
    .toReversed()
    .map((message) => {
      if (!isOfOther(message)) return message
      room -= message.text.length
      return room >= 0 ? message : { ...message, text: LEFT_OUT, attachments: undefined }
    })
    .toReversed()
}
