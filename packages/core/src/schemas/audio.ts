/** The shapes of audio. Loose: fields that the schemas do not name are passed through. */
import * as v from 'valibot'

const MAX_CHARACTERS = 4_096

/** Counts code points, not UTF-16 units. */
const characters = (text: string): number => {
  let n = 0
  for (const _ of text) n++
  return n
}

/** `response_format` of POST /v1/audio/speech. */
export const SpeechFormat = v.picklist(['mp3', 'opus', 'aac', 'flac', 'wav'])
export type SpeechFormat = v.InferOutput<typeof SpeechFormat>

/** The body of POST /v1/audio/speech. */
export const SpeechRequest = v.looseObject({
  input: v.pipe(
    v.string(),
    v.minLength(1),
    v.check(
      (text) => text.length <= MAX_CHARACTERS || characters(text) <= MAX_CHARACTERS,
      `Expected at most ${MAX_CHARACTERS} characters`,
    ),
    v.metadata({ maxLength: MAX_CHARACTERS }),
  ),
  model: v.pipe(v.string(), v.minLength(1)),
  voice: v.nullish(v.pipe(v.string(), v.minLength(1))),
  response_format: v.nullish(SpeechFormat),
  speed: v.nullish(v.pipe(v.number(), v.minValue(0.25), v.maxValue(4))),
  provider: v.nullish(v.string()),
})
export type SpeechRequest = v.InferOutput<typeof SpeechRequest>

/** `response_format` of POST /v1/audio/transcriptions. */
export const TranscriptionFormat = v.picklist(['json', 'text', 'srt', 'vtt'])
export type TranscriptionFormat = v.InferOutput<typeof TranscriptionFormat>

/** The text fields of the form. The file is parsed separately. */
export const TranscriptionFields = v.looseObject({
  model: v.pipe(v.string(), v.minLength(1)),
  language: v.optional(v.pipe(v.string(), v.regex(/^[a-z]{2}$/, 'Expected two letters (ISO 639-1), such as "en"'))),
  prompt: v.optional(v.string()),
  response_format: v.optional(TranscriptionFormat),
  provider: v.optional(v.string()),
})
export type TranscriptionFields = v.InferOutput<typeof TranscriptionFields>

/** The response of POST /v1/audio/transcriptions. */
export const TranscriptionResponse = v.looseObject({ text: v.string() })
export type TranscriptionResponse = v.InferOutput<typeof TranscriptionResponse>
