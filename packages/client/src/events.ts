/** An event as the server sent it. */
export interface ServerSentEvent {
  /** Its type; `message` where the server gave none. */
  event: string
  data: string
  /** The last id that the server gave; '' where it gave none. */
  id: string
}

/** Characters of one event. */
const EVENT_LIMIT = 4 * 1024 * 1024

/**
 * Reads a stream of server-sent events, as the HTML standard parses them. An event that is not followed by a blank line when the body ends is
 * dropped. Leaving the loop cancels the request.
 * @throws RangeError for an event of more than 4 Mi characters, and what reading the body throws
 * @example for await (const { data } of readEvents(response.body!)) console.log(data)
 */
export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void, undefined> {
  const reader = body.getReader()
  // Keeps what a piece has of a character that is not complete. That of Node 24 removes two byte order marks if the first is cut.
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let begun = false
  let line = ''
  let endedByCR = false
  let event = ''
  let data: string | undefined
  let id = ''

  /** @returns the event that a line completes */
  const take = (whole: string): ServerSentEvent | undefined => {
    if (whole === '') {
      const complete = data === undefined ? undefined : { event: event || 'message', data, id }
      event = ''
      data = undefined
      return complete
    }
    const colon = whole.indexOf(':')
    const field = colon === -1 ? whole : whole.slice(0, colon)
    const value = colon === -1 ? '' : whole.slice(colon + (whole[colon + 1] === ' ' ? 2 : 1))
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`
    else if (field === 'event') event = value
    else if (field === 'id' && !value.includes('\0')) id = value
    return undefined
  }

  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      let text = decoder.decode(value, { stream: true })
      if (text === '') continue
      if (!begun && text.startsWith('\uFEFF')) text = text.slice(1)
      begun = true
      // The second half of a CRLF.
      if (endedByCR && text.startsWith('\n')) text = text.slice(1)
      endedByCR = text.endsWith('\r')
      const lines = text.split(/\r\n?|\n/)
      const rest = lines.pop()!
      for (const part of lines) {
        const complete = take(line + part)
        line = ''
        if (complete) yield complete
      }
      line += rest
      if (line.length + (data?.length ?? 0) > EVENT_LIMIT)
        throw new RangeError(`An event of the stream has more than ${EVENT_LIMIT} characters`)
    }
  } finally {
    // The connection may be broken already.
    await reader.cancel().catch(() => undefined)
  }
}
