import type { Usage } from '@turnpike/core'
import { parseJson } from '../json.js'
import type { Answer } from './answer.js'
import { hasCounts, toUsage } from './answer.js'

/** How the report of usage begins in an event. Within a text its quotes would be escaped. */
const beginning = /,"usageMetadata": ?\{"promptTokenCount": ?/

/** How the report and the event end, where only words follow, such as the model. */
const ending = /\}(,"\w+": ?"[^"\\]*")+\}$/

/**
 * Parses the events of one stream. Nearly every event has a report of usage, which takes a third of the time, and only the last one counts.
 * So the report is left out of an event that is made as one before it: it begins and ends in the same words, and no other object ends in it.
 */
export function eventReader() {
  /** The words of this stream; '' before they are known, and where they are others. */
  let begin = ''
  let end = ''
  /** The last report, */
  let report: object | undefined
  /** and what an event after that has from its report on. */
  let rest: string | undefined

  /** Where the report is that can be left out of an event; -1 where there is none. */
  const placeOf = (data: string): number => {
    const place = end !== '' && data.endsWith(end) ? data.indexOf(begin) : -1
    return place !== -1 && data.indexOf('},"', place) === data.length - end.length ? place : -1
  }

  const learn = (data: string): void => {
    begin = beginning.exec(data)?.[0] ?? ''
    end = begin && (ending.exec(data)?.[0] ?? '')
  }

  return {
    /** An event, with or without its report; undefined where it is no JSON. */
    read(data: string): Answer | null | undefined {
      const place = placeOf(data)
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
        if (answer!.candidates?.length) learn(data)
      }
      return answer
    },
    /** The last report. */
    usage(): Usage | undefined {
      const last = rest === undefined ? undefined : (parseJson(`{${rest.slice(1)}`) as Answer | undefined)
      return toUsage(last?.usageMetadata ?? report)
    },
  }
}
