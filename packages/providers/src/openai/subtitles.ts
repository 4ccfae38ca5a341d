import { isObject } from '@turnpike/core/helpers'

/** A part of a transcript, with its times in seconds. */
export interface Segment {
  start: number
  end: number
  text: string
}

const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value < Infinity

/** Most characters of the text of all segments: what is said in days. Their lines are worked on in one piece. */
const MOST_TEXT = 4 * 1024 * 1024

/** Whether a value of an answer is a list of segments, with no more text than recordings have. */
export function areSegments(value: unknown): value is Segment[] {
  let left = MOST_TEXT
  const isSegment = (one: unknown): boolean =>
    isObject(one) &&
    isTime(one['start']) &&
    isTime(one['end']) &&
    typeof one['text'] === 'string' &&
    (left -= one['text'].length) >= 0
  return Array.isArray(value) && value.every(isSegment)
}

/** A time as subtitles write it: `01:02:03,004`. */
function clock(seconds: number, mark: string): string {
  const ms = Math.round(seconds * 1000)
  const digits = (value: number, length = 2): string => String(Math.floor(value)).padStart(length, '0')
  const [hours, minutes] = [ms / 3_600_000, (ms / 60_000) % 60]
  return `${digits(hours)}:${digits(minutes)}:${digits((ms / 1000) % 60)}${mark}${digits(ms % 1000, 3)}`
}

/** Writes SubRip (`srt`) or WebVTT, as Whisper does: an arrow in the text would be read as a time, and an empty line as the end of a cue. */
export function toSubtitles(segments: Segment[], format: 'srt' | 'vtt'): string {
  const mark = format === 'srt' ? ',' : '.'
  const cues = segments.map(({ start, end, text }, index) => {
    const lines = text.replaceAll('-->', '->').split('\n')
    const said = lines.flatMap((line) => line.trim() || []).join('\n')
    const cue = `${clock(start, mark)} --> ${clock(end, mark)}\n${said}\n\n`
    return format === 'srt' ? `${index + 1}\n${cue}` : cue
  })
  return (format === 'srt' ? '' : 'WEBVTT\n\n') + cues.join('')
}
