/** One server-sent event of an upstream. Its name and id are ignored: all families repeat the type in `data`. */
export interface UpstreamEvent {
  data: string
}

/** Characters that a line of data is reckoned with, besides those in it: it costs as much work as so many. */
const LINE_COST = 64

/**
 * Parses server-sent events from text in pieces (WHATWG HTML, 9.2.6): lines end with LF, CRLF or CR, an event with a blank line.
 * @param onEvent called for each event with data
 * @param onStray called for each line without data
 */
export function eventParser(onEvent: (event: UpstreamEvent) => void, onStray: (line: string) => void) {
  /** The incomplete line. */
  let rest = ''
  /** The data of the incomplete event; undefined before its first line of data. */
  let data: string | undefined
  /** How many lines of data it has. */
  let lines = 0
  let afterReturn = false

  const onLine = (line: string): void => {
    if (line === '') {
      if (data !== undefined) onEvent({ data })
      data = undefined
      lines = 0
    } else if (line.startsWith('data:') || line === 'data') {
      const value = line.slice(line.startsWith(' ', 5) ? 6 : 5)
      data = data === undefined ? value : `${data}\n${value}`
      lines++
    } else onStray(line)
  }

  return {
    /** Size of the incomplete event in characters, with what its lines cost. */
    size: (): number => rest.length + (data?.length ?? 0) + lines * LINE_COST,
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
