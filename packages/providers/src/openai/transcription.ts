import type { Note, Provider, TranscriptionAnswer, TranscriptionRequest, Usage } from '@turnpike/core'
import { extend } from '@turnpike/core/internal'
import { count } from '../count.js'
import { formData } from '../form-data.js'
import { parseJson } from '../json.js'
import type { Upstream } from '../upstream.js'
import { callJson, send, wholeText } from '../upstream.js'
import { missing } from './errors.js'
import { dropRouting } from './routing-fields.js'

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

/** The end time of the last subtitle cue (`00:01:02,500` or `01:02.500`), in seconds. */
function lastCue(document: string): number | undefined {
  const [end] = [...document.matchAll(/-->\s*(?:(\d+):)?(\d\d):(\d\d)[.,](\d{3})/g)].slice(-1)
  if (!end) return undefined
  const [, hours = '0', minutes, rest, ms] = end
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(rest) + Number(ms) / 1000
}

/**
 * `/audio/transcriptions`. Whisper is billed by the second, so unless subtitles are requested it is asked for `verbose_json`, which
 * contains the duration.
 */
export const transcription =
  (upstream: Upstream): NonNullable<Provider['transcription']> =>
  async (request: TranscriptionRequest, call) => {
    const { file, response_format: format = 'json', provider: _, [GRANULARITIES]: granularities, ...fields } = request
    // None of the four formats can hold word timestamps.
    const notes: Note[] = granularities === undefined ? [] : [{ field: 'timestamp_granularities', action: 'dropped' }]
    dropRouting(fields, notes)
    const subtitles = format === 'srt' || format === 'vtt'
    const asked = subtitles ? format : request.model.includes('whisper') ? 'verbose_json' : 'json'
    const { type, body } = formData({ ...fields, response_format: asked }, file)
    const outgoing = { path: '/audio/transcriptions', body, notes }
    const headers = extend(upstream.headers, { 'content-type': type })
    if (!subtitles)
      return callJson(upstream, outgoing, call, usageOf, (answer) => fromJson(upstream.id, answer), headers)
    const answer = await send(upstream, outgoing, call, extend(headers, { accept: 'text/plain' }))
    const text = await wholeText(upstream, answer, call)
    // Servers use various content types for subtitles, but none of these.
    if (/json|html/i.test(answer.header('content-type') ?? '')) throw missing(upstream.id, parseJson(text), 'subtitles')
    return { text, seconds: lastCue(text), usage: undefined }
  }
