import type { Usage } from '@turnpike/core'
import { parseJson } from '../json.js'
import type { Answer } from './answer.js'
import { hasCounts, toUsage } from './answer.js'

/** Longest event that the report is left out of, in characters; of a longer one it is a small part. */
const LONGEST = 16_384

/** How the report of usage begins in an event. Within a text its quotes would be escaped. */
const beginning = /,"usageMetadata": ?\{"promptTokenCount": ?/

/** How an object and with it the event end, where only words follow, such as the model. */
const ending = /\}(,"\w+": ?"[^"\\]*")+\}$/

/** Whether what a brace ends is surely in a list: no member of an object is followed by these. */
const isInList = (data: string, brace: number): boolean =>
  data.startsWith(']', brace + 1) || data.startsWith(',{', brace + 1)

/** A text of its own: a part keeps all of what it is a part of, here a piece of a body for as long as its stream takes. */
const copy = (text: string): string => JSON.parse(JSON.stringify(text)) as string

/**
 * Parses the events of one stream. Nearly every event has a report of usage, which takes a third of the time, and only the last one counts.
 * So the report is left out of an event that another follows in the same read, where it is made as the first one was: it begins and ends
 * in the same words, and no object ends within it but those of lists.
 */
export function eventReader() {
  /** The words of this stream; undefined before they are known, '' where they are others. */
  let begin: string | undefined
  let end = ''
  /** The last report that was parsed, */
  let report: object | undefined
  /** and what an event after that has from its report on. */
  let rest: string | undefined

  /** Where the report is that can be left out of an event; -1 where there is none. */
  const placeOf = (data: string): number => {
    if (!begin || data.length > LONGEST || !data.endsWith(end)) return -1
    const place = data.indexOf(begin)
    if (place === -1) return -1
    const last = data.length - end.length
    let brace = data.indexOf('}', place)
    while (brace < last && isInList(data, brace)) brace = data.indexOf('}', brace + 1)
    return brace === last ? place : -1
  }

  const learn = (data: string): void => {
    const from = beginning.exec(data)?.[0]
    const to = from && ending.exec(data)?.[0]
    begin = to ? copy(from) : ''
    end = to ? copy(to) : ''
  }

  return {
    /**
     * An event, with or without its report and the words after it; undefined where the rest of it is no JSON.
     * @param followed whether another event has come with it
     */
    read(data: string, followed: boolean): Answer | null | undefined {
      const place = followed ? placeOf(data) : -1
      const short = place === -1 ? undefined : parseJson(`${data.slice(0, place)}}`)
      if (short !== undefined) {
        rest = data.slice(place)
        return short as Answer
      }
      const answer = parseJson(data) as Answer | null | undefined
      const told = answer?.usageMetadata
      if (hasCounts(told)) {
        report = told
        rest = undefined
        // Not before the answer has begun: what follows the report, such as its id, is left out as well.
        if (begin === undefined && answer!.candidates?.length && data.length <= LONGEST) learn(data)
      }
      return answer
    },
    /** The last report that can be read. */
    usage(): Usage | undefined {
      const last = rest === undefined ? undefined : (parseJson(`{${rest.slice(1)}`) as Answer | undefined)
      return toUsage(last?.usageMetadata ?? report)
    },
  }
}
