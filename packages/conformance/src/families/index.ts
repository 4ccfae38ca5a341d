import { anthropic } from './anthropic.js'
import type { Family, Reply } from './family.js'
import { google } from './google.js'
import { openai } from './openai.js'
import type { Answer, Script, Step } from '../script.js'
import { cut, stream, whole } from '../script.js'

export const families: readonly Family[] = [openai, anthropic, google]

/** Plays a reply, whole or streamed as the gateway asks for it. */
export const replies =
  (family: Family, reply: Reply): Script =>
  (sent) => {
    if (!sent.asked.stream) return whole(family.body(reply, sent))
    const { begin, end } = family.events(reply, sent)
    return stream(...begin, ...end)
  }

/** Plays a streamed reply up to the last of its content, and `rest` instead of its end. */
export const begins =
  (family: Family, reply: Reply, ...rest: Step[]): Script =>
  (sent) =>
    stream(...family.events(reply, sent).begin, ...rest)

/** Plays an error of the vendor. */
export const fails =
  (family: Family, status: number, message: string, headers: Record<string, string> = {}): Script =>
  () =>
    whole(family.error(status, message), status, headers)

/** Breaks the connection before an answer. */
export const breaks = (): Answer => ({ steps: [cut] })
