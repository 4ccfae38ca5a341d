import type { Usage } from '@turnpike/core'
import { parseJson } from '../json.js'
import type { Answer, AnswerPart } from './answer.js'
import { hasCounts, toUsage } from './answer.js'

/** Longest event that is read by its form, in characters: most of a longer one is text, which is parsed anyway. */
const LONGEST = 4096

/** How often a stream is learnt from: thoughts are made otherwise than what is said, and some events as no other. */
const LESSONS = 4

/** An event: what is before its text, between that and its counts, and after those. */
const layout = /^(.*?"text": ?")(?:[^"\\]|\\.)*(".*?[^\\]"usageMetadata": ?\{"promptTokenCount": ?)\d.*(\}[^}]*\})$/s

/** What events have alike that differ in their text and their counts only. */
interface Form {
  before: string
  between: string
  after: string
  /** Such an event, without counts. */
  answer: Answer
  /** Where its text is. */
  part: AnswerPart
}

const firstPart = (answer: Answer | undefined): AnswerPart | undefined => answer?.candidates?.[0]?.content?.parts?.[0]

/** The form of an event; undefined unless it is proved that its text and its counts are where they seem to be: without them, all else is the same. */
function formOf(data: string, whole: Answer): Form | undefined {
  // Copied, because parts keep all of what they are parts of, here a piece of a body for as long as its stream takes.
  const [, before = '', between = '', after = ''] = JSON.parse(JSON.stringify(layout.exec(data) ?? [])) as string[]
  const answer = parseJson(`${before}${between}0${after}`) as Answer
  const part = firstPart(answer)
  if (part?.text !== '') return undefined
  // What says nothing has no text to tell by.
  part.text = firstPart(whole)?.text || '?'
  answer.usageMetadata = undefined
  const json = JSON.stringify(answer)
  // The arguments of a call are added to: no other event may have the same.
  if (json !== JSON.stringify({ ...whole, usageMetadata: undefined }) || json.includes('"functionCall"'))
    return undefined
  return { before, between, after, answer, part }
}

/** An object that ends before its text does, and not surely in a list: no member of an object is followed by these. */
const endsEarly = /\}(?!\]|,\{)./s

/**
 * Parses the events of one stream. Nearly all are made alike, and of their counts only the last ones matter. So of an event that another
 * follows in the same read, and that is made as one before, only the text is parsed, which takes a fifth of the time.
 */
export function eventReader() {
  let form: Form | undefined
  let lessons = LESSONS
  /** The last report of usage that was parsed, */
  let report: object | undefined
  /** and the last counts that came after it. */
  let counts: string | undefined

  /** An event of the known form; undefined for others. */
  const readAlike = (data: string): Answer | undefined => {
    if (!form || !data.startsWith(form.before) || !data.endsWith(form.after)) return undefined
    const { before, between, after, answer, part } = form
    const quote = data.indexOf(between, before.length)
    if (quote === -1) return undefined
    const told = data.slice(quote + between.length, data.length - after.length + 1)
    // What ends early is the report, with something else behind it.
    if (endsEarly.test(told)) return undefined
    const text = parseJson(data.slice(before.length - 1, quote + 1)) as string | undefined
    if (text === undefined) return undefined
    part.text = text
    counts = told
    return answer
  }

  return {
    /**
     * An event, with or without its report, until the next one is read; undefined where what is parsed of it is no JSON.
     * @param followed whether another event has come with it
     */
    read(data: string, followed: boolean): Answer | null | undefined {
      const short = followed && data.length <= LONGEST
      const alike = short ? readAlike(data) : undefined
      if (alike) return alike
      const answer = parseJson(data) as Answer | null | undefined
      const told = answer?.usageMetadata
      if (hasCounts(told)) {
        report = told
        counts = undefined
        if (short && lessons-- > 0) form = formOf(data, answer!) ?? form
      }
      return answer
    },
    /** The last report; where its counts are no JSON, the last that was parsed. */
    usage(): Usage | undefined {
      const last = counts === undefined ? undefined : parseJson(`{"promptTokenCount":${counts}`)
      return toUsage((last as object | undefined) ?? report)
    },
  }
}
