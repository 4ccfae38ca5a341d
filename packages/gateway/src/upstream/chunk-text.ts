import type { ChunkChoice, ChunkHead, Usage } from '@turnpike/core'
import { EVENT_END, EVENT_START, sseEvent } from '@turnpike/http'

/** Characters of JSON that a head may have for each chunk to repeat all of it. One that is longer has its further fields in the first chunk alone. */
const REPEATED_HEAD = 2048

/** Writes the chunks of one stream as events. The head is the same in all of them and is serialised once. */
export interface ChunkText {
  choices(choices: ChunkChoice[]): string
  usage(usage: Usage): string
}

/** Whether a choice has only text, apart from `logprobs` that are null. */
function isText(choice: ChunkChoice): boolean {
  const { index, delta, logprobs, finish_reason } = choice
  if (!Number.isInteger(index) || typeof delta.content !== 'string' || finish_reason !== null) return false
  let fields = 0
  for (const _ in choice) fields++
  for (const _ in delta) fields++
  // index, delta, finish_reason and content
  return fields === (logprobs === null ? 5 : 4)
}

/** The JSON of a choice. Nearly all have only text: JSON.stringify takes 0.14 µs for the text alone and 0.36 µs for it within an object. */
function choiceJson(choice: ChunkChoice): string {
  if (!isText(choice)) return JSON.stringify(choice)
  const logprobs = choice.logprobs === null ? ',"logprobs":null' : ''
  return `{"index":${choice.index},"delta":{"content":${JSON.stringify(choice.delta.content)}}${logprobs},"finish_reason":null}`
}

/** @param withUsage whether the client asked for usage: every chunk then has the field `usage`, null in all but the last */
export function chunkText(head: ChunkHead, withUsage: boolean): ChunkText {
  const { id, object, created, model } = head
  const whole = JSON.stringify(head)
  const repeated = whole.length > REPEATED_HEAD ? JSON.stringify({ id, object, created, model }) : whole
  const openingOf = (json: string) => `${json.slice(0, -1)},"choices":[`
  // Joined once: joining per chunk would cost per chunk.
  const before = EVENT_START + openingOf(repeated)
  let next = EVENT_START + openingOf(whole)
  const after = (withUsage ? '],"usage":null}' : ']}') + EVENT_END
  return {
    choices(choices) {
      let text = ''
      for (const choice of choices) {
        text += next + choiceJson(choice) + after
        next = before
      }
      return text
    },
    usage: (usage) => sseEvent(`${openingOf(repeated)}],"usage":${JSON.stringify(usage)}}`),
  }
}
