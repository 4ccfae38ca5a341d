import type { Json } from './families/family.js'
import { parseJson } from './families/family.js'

/** A chunk of a streamed chat completion. */
export interface Chunk extends Json {
  choices?: {
    index?: number
    delta?: {
      role?: string
      content?: string | null
      refusal?: string | null
      tool_calls?: { index?: number; id?: string; type?: string; function?: { name?: string; arguments?: string } }[]
    }
    finish_reason?: string | null
  }[]
  usage?: Json | null
}

/** A stream as a client reads it. */
export interface Stream {
  chunks: Chunk[]
  /** The events that tell of an error. */
  errors: Json[]
  /** Number of `[DONE]` events. */
  done: number
  /** Number of events after the first `[DONE]` or error. */
  late: number
  /** Texts in the place of events that are none. */
  invalid: string[]
}

/** Reads server-sent events: https://html.spec.whatwg.org/multipage/server-sent-events.html. */
export function readStream(text: string): Stream {
  const stream: Stream = { chunks: [], errors: [], done: 0, late: 0, invalid: [] }
  // The last block ends with the body, and not with an empty line.
  for (const block of text.split(/(?:\r\n|\n|\r(?!\n)){2}/)) {
    const lines = block.split(/\r\n|\n|\r/).filter((line) => line !== '' && !line.startsWith(':'))
    const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice('data:'.length).trimStart())
    const unknown = lines.filter((line) => !/^(data|event|id|retry):/.test(line))
    stream.invalid.push(...unknown)
    if (data.length === 0) continue
    if (stream.done + stream.errors.length > 0) stream.late++
    const joined = data.join('\n')
    const value = parseJson(joined)
    if (joined === '[DONE]') stream.done++
    else if (!value) stream.invalid.push(joined)
    else if (value['error'] || lines.includes('event: error')) stream.errors.push(value)
    else stream.chunks.push(value as Chunk)
  }
  return stream
}
