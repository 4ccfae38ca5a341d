import { ChatChunk, ErrorBody } from '@turnpike/core'
import * as v from 'valibot'

/** One event of a stream that the gateway sent, checked against its schema. */
export type StreamEvent =
  { type: 'chunk'; chunk: ChatChunk } | { type: 'error'; error: ErrorBody['error'] } | { type: 'done' }

/**
 * The events of a stream's exact bytes. Fails on anything that is not `data: <one line of JSON>\n\n`, a comment, or `[DONE]` at the end.
 */
export function parseStream(text: string): StreamEvent[] {
  if (!text.endsWith('\n\n')) throw new Error(`The stream ends within an event: ${JSON.stringify(text.slice(-200))}`)
  const events = text
    .slice(0, -2)
    .split('\n\n')
    .filter((block) => !block.startsWith(': '))
    .map((block): StreamEvent => {
      if (!block.startsWith('data: ') || block.includes('\n')) throw new Error(`Not an event: ${JSON.stringify(block)}`)
      const data = block.slice('data: '.length)
      if (data === '[DONE]') return { type: 'done' }
      const value: unknown = JSON.parse(data)
      if (typeof value === 'object' && value !== null && 'error' in value)
        return { type: 'error', error: v.parse(ErrorBody, value).error }
      return { type: 'chunk', chunk: v.parse(ChatChunk, value) }
    })
  const end = events.findIndex(({ type }) => type !== 'chunk')
  if (end !== -1 && end !== events.length - 1) throw new Error('Something follows the end of the stream')
  return events
}

/** The text of one choice, joined over a stream's chunks. */
export const joinText = (events: StreamEvent[], choice = 0): string =>
  events
    .flatMap((event) => (event.type === 'chunk' ? event.chunk.choices : []))
    .filter(({ index }) => index === choice)
    .map(({ delta }) => delta.content ?? '')
    .join('')
