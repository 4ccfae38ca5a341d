import type { EventStream } from '@turnpike/http'

/** A comment of an event stream, which clients ignore. */
const PING = ': ping\n\n'

/** A stream that begins with a comment, before its events can come. */
function waiting<Batch>(opening: Promise<EventStream<Batch>>): EventStream<Batch | undefined> {
  let opened: EventStream<Batch> | undefined
  let greeted = false
  return {
    read(onBatch, onError) {
      if (!greeted) {
        greeted = true
        onBatch({ done: false, value: undefined })
      } else if (opened) opened.read(onBatch, onError)
      else opening.then((events) => (opened = events).read(onBatch, onError), onError)
    },
    encode: (batch) => (batch === undefined ? PING : opened!.encode(batch)),
    complete: () => opened!.complete(),
    fail: async (error) => (opened ? opened.fail(error) : error),
    disconnect: () => opening.then((events) => events.disconnect()).catch(() => undefined),
  }
}

/**
 * The events of a stream or, where they do not come within `ms` milliseconds, a stream that begins with a comment and continues with them. What
 * fails before is thrown; what fails later is an error event.
 * @param onEarly called before a stream begins with a comment
 */
export async function early<Batch>(
  opening: Promise<EventStream<Batch>>,
  ms: number,
  onEarly: () => void,
): Promise<EventStream<Batch | undefined>> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)))
  try {
    const events = await Promise.race([opening, late])
    if (events) return events
  } finally {
    clearTimeout(timer)
  }
  onEarly()
  return waiting(opening)
}
