import type { Note, Provider, TranscriptionAnswer, TranscriptionRequest, Usage } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { count } from '../answers/count.js'
import { formData } from '../upstream/form-data.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson } from '../upstream/upstream.js'
import { missing } from './errors.js'
import { route } from './routing-fields.js'
import { areSegments, toSubtitles } from './subtitles.js'

/** A JSON response of `/audio/transcriptions`. */
interface Answer {
  text?: unknown
  duration?: unknown
  usage?: Record<string, unknown> | null
}

const seconds = (value: unknown): number | undefined => {
  const number = typeof value === 'string' ? Number(value) : value
  return typeof number === 'number' && number >= 0 && number < Infinity ? number : undefined
}

/** Converts token counts to the usage of a chat; undefined if the upstream bills by seconds. */
function usageOf({ usage }: Answer): Usage | undefined {
  const prompt = count(usage?.['input_tokens'])
  if (prompt === undefined) return undefined
  const completion = count(usage?.['output_tokens']) ?? 0
  const details = usage?.['input_token_details'] as { audio_tokens?: unknown } | null | undefined
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { audio_tokens: count(details?.audio_tokens) ?? 0 },
  }
}

function fromJson(provider: string, body: object): TranscriptionAnswer {
  const { text, duration, usage } = body as Answer
  if (typeof text !== 'string') throw missing(provider, body, 'text')
  return { text, seconds: seconds(duration) ?? seconds(usage?.['seconds']), usage: usageOf(body) }
}

const GRANULARITIES = 'timestamp_granularities[]'

/**
 * `/audio/transcriptions`. Whisper is billed by the second, so it is asked for `verbose_json`, which contains the duration; subtitles are
 * made from its segments, because a document of these ends with the last word and not with the recording.
 */
export const transcription =
  (upstream: Upstream): NonNullable<Provider['transcription']> =>
  (request: TranscriptionRequest, call) => {
    const { file, response_format: format = 'json', provider: _, [GRANULARITIES]: granularities, ...fields } = request
    // None of the four formats can hold word timestamps.
    const notes: Note[] = granularities === undefined ? [] : [{ field: 'timestamp_granularities', action: 'dropped' }]
    route(fields, notes, upstream)
    const subtitles = format === 'srt' || format === 'vtt' ? format : undefined
    const asked = subtitles || request.model.includes('whisper') ? 'verbose_json' : 'json'
    const { type, body } = formData({ ...fields, response_format: asked }, file)
    const outgoing = { path: '/audio/transcriptions', body, notes }
    const read = (body: object): TranscriptionAnswer => {
      const answer = fromJson(upstream.id, body)
      if (!subtitles) return answer
      const { segments } = body as { segments?: unknown }
      if (!areSegments(segments)) throw missing(upstream.id, body, 'segments')
      return extend(answer, { text: toSubtitles(segments, subtitles) })
    }
    return callJson(upstream, outgoing, call, usageOf, read, extend(upstream.headers, { 'content-type': type }))
  }
