import type { ChunkChoice, ChunkHead, Usage } from '@turnpike/core'
import { sseEvent } from '@turnpike/http'

/** Writes the chunks of one stream as events. The head is the same in all of them and is put into JSON once. */
export interface ChunkText {
  choices(choices: ChunkChoice[]): string
  usage(usage: Usage): string
}

/** @param withUsage whether the client asked for usage: then every chunk has the field, null in all but the last */
export function chunkText(head: ChunkHead, withUsage: boolean): ChunkText {
  const opening = `${JSON.stringify(head).slice(0, -1)},"choices":[`
  const closing = withUsage ? '],"usage":null}' : ']}'
  return {
    choices(choices) {
      let text = ''
      for (const choice of choices) text += sseEvent(opening + JSON.stringify(choice) + closing)
      return text
    },
    usage: (usage) => sseEvent(`${opening}],"usage":${JSON.stringify(usage)}}`),
  }
}
