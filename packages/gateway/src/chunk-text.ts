import type { ChunkChoice, ChunkHead, Usage } from '@turnpike/core'
import { EVENT_END, EVENT_START, sseEvent } from '@turnpike/http'

/** Writes the chunks of one stream as events. The head is the same in all of them and is put into JSON once. */
export interface ChunkText {
  choices(choices: ChunkChoice[]): string
  usage(usage: Usage): string
}

/** @param withUsage whether the client asked for usage: then every chunk has the field, null in all but the last */
export function chunkText(head: ChunkHead, withUsage: boolean): ChunkText {
  const opening = `${JSON.stringify(head).slice(0, -1)},"choices":[`
  // In one piece each: what is joined per chunk costs per chunk.
  const before = EVENT_START + opening
  const after = (withUsage ? '],"usage":null}' : ']}') + EVENT_END
  return {
    choices(choices) {
      let text = ''
      for (const choice of choices) text += before + JSON.stringify(choice) + after
      return text
    },
    usage: (usage) => sseEvent(`${opening}],"usage":${JSON.stringify(usage)}}`),
  }
}
