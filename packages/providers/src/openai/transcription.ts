import type { Note, Provider, TranscriptionAnswer, TranscriptionRequest, Usage } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { count } from '../answers/count.js'
import { formData } from '../upstream/form-data.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson } from '../upstream/upstream.js'
import { toUsage } from './answer.js'
import { missing } from './errors.js'
import { route } from './routing-fields.js'
import { rulesAt } from './servers.js'
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

/** The usage of a chat with the same token counts; undefined if the upstream tells none, as where it bills by seconds. */
function usageOf({ usage }: Answer): Usage | undefined {
  const counted = toUsage(usage)
  if (!counted) return undefined
  const { prompt_tokens, completion_tokens, total_tokens, prompt_tokens_details } = counted
  const details = (usage?.['input_token_details'] ?? prompt_tokens_details) as
    { audio_tokens?: unknown } | null | undefined
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens,
    prompt_tokens_details: { audio_tokens: count(details?.audio_tokens) ?? 0 },
  }
}

/** How long the recording was: beside the text where `verbose_json` was asked for, or in the usage, under another name at Mistral. */
const secondsOf = ({ duration, usage }: Answer): number | undefined =>
  seconds(duration) ?? seconds(usage?.['seconds']) ?? seconds(usage?.['prompt_audio_seconds'])

function fromJson(provider: string, body: object, leastSeconds: number): TranscriptionAnswer {
  const { text } = body as Answer
  if (typeof text !== 'string') throw missing(provider, body, 'text')
  const seconds = secondsOf(body)
  return { text, seconds: seconds && Math.max(seconds, leastSeconds), usage: usageOf(body) }
}

const GRANULARITIES = 'timestamp_granularities[]'

/**
 * `/audio/transcriptions`. Whisper is billed by the second, so it is asked for `verbose_json`, which contains the duration; subtitles are
 * made from its segments, because a document of these ends with the last word and not with the recording.
 */
export function transcription(upstream: Upstream): NonNullable<Provider['transcription']> {
  const rulesOf = rulesAt(upstream.baseURL)
  return (request: TranscriptionRequest, call) => {
    const { file, response_format: format = 'json', provider: _, [GRANULARITIES]: granularities, ...fields } = request
    // None of the four formats can hold word timestamps.
    const notes: Note[] = granularities === undefined ? [] : [{ field: 'timestamp_granularities', action: 'dropped' }]
    route(fields, notes, upstream)
    const subtitles = format === 'srt' || format === 'vtt' ? format : undefined
    const asked = subtitles || request.model.includes('whisper') ? 'verbose_json' : 'json'
    const { type, body } = formData({ ...fields, response_format: asked }, file)
    const outgoing = { path: '/audio/transcriptions', body, notes }
    const { leastSeconds = 0 } = rulesOf(request.model)
    const read = (body: object): TranscriptionAnswer => {
      const answer = fromJson(upstream.id, body, leastSeconds)
      if (!subtitles) return answer
      const { segments } = body as { segments?: unknown }
      if (!areSegments(segments)) throw missing(upstream.id, body, 'segments')
      return extend(answer, { text: toSubtitles(segments, subtitles) })
    }
    return callJson(upstream, outgoing, call, usageOf, read, extend(upstream.headers, { 'content-type': type }))
  }
}
