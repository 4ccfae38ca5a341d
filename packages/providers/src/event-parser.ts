/** One server-sent event of an upstream. Its name and id are left out: every family says in `data` what it is. */
export interface UpstreamEvent {
  data: string
}

/**
 * Server-sent events out of text that comes in pieces (WHATWG HTML, 9.2.6): lines end with LF, CRLF or CR, an event with a blank line.
 * @param onEvent told of each event that has data
 * @param onStray told of each line that has no data
 */
export function eventParser(onEvent: (event: UpstreamEvent) => void, onStray: (line: string) => void) {
  /** The line that has not ended. */
  let rest = ''
  /** The data of the event that has not ended; undefined before its first line. */
  let data: string | undefined
  let afterReturn = false

  const onLine = (line: string): void => {
    if (line === '') {
      if (data !== undefined) onEvent({ data })
      data = undefined
    } else if (line.startsWith('data:') || line === 'data') {
      const value = line.slice(line.startsWith(' ', 5) ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
    } else onStray(line)
  }

  return {
    /** Characters of an event that has not ended. */
    size: (): number => rest.length + (data?.length ?? 0),
    feed(piece: string): void {
      if (piece === '') return
      let text = afterReturn && piece.startsWith('\n') ? piece.slice(1) : piece
      afterReturn = piece.endsWith('\r')
      if (text.includes('\r')) text = text.replaceAll(/\r\n?/g, '\n')
      let from = 0
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        onLine(rest + text.slice(from, end))
        rest = ''
        from = end + 1
      }
      rest += text.slice(from)
    },
  }
}
