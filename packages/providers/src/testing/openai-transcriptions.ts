import type { FakeAnswer, FakeRequest } from './fake-upstream.js'
import { json, refused, requestId } from './openai-answers.js'
import type { Refusal } from './openai-refusals.js'
import { checkChoices, missing, modelNotFound, refuse, unknownParameter } from './openai-refusals.js'
import { words } from './rules.js'
import { tokens } from './simulation.js'

const whisperFormats = words('json text srt verbose_json vtt')

/** The models and their formats. */
const models: Record<string, string[]> = {
  'whisper-1': whisperFormats,
  'gpt-4o-transcribe': ['json', 'text'],
  'gpt-4o-mini-transcribe': ['json', 'text'],
}

const extensions = words('flac m4a mp3 mp4 mpeg mpga ogg wav webm')
const MAX_BYTES = 25 * 1_024 * 1_024

const parameters = words('file model language prompt response_format temperature timestamp_granularities[]')

const invalidFormat = `Invalid file format. Supported formats: [${extensions.map((one) => `'${one}'`).join(', ')}]`

function checkFile(file: unknown): Refusal | undefined {
  if (file === null) return missing('file')
  // All form parsers treat a part without a file name as text.
  if (!(file instanceof File) || !extensions.includes(file.name.split('.').at(-1)!.toLowerCase()))
    return refuse(invalidFormat, 'file')
  if (file.size > MAX_BYTES)
    return refuse(`413: Maximum content size limit (${MAX_BYTES}) exceeded (${file.size} bytes read)`, null, null, 413)
  return file.size === 0
    ? refuse('Audio file is too short. Minimum audio length is 0.1 seconds.', 'file', 'audio_too_short')
    : undefined
}

/** Validates a transcription form; undefined if valid. */
export function openaiTranscriptionRefusal(form: FormData): Refusal | undefined {
  const fields = Object.fromEntries(form)
  const { model, language, temperature, response_format: format = 'json' } = fields
  const unknown = unknownParameter(form.keys(), parameters)
  if (unknown) return unknown
  const formats = models[model as string]
  if (!formats) return modelNotFound(model)
  const problem = checkFile(form.get('file')) ?? checkChoices(fields, { response_format: whisperFormats })
  if (problem) return problem
  if (!formats.includes(format as string))
    return refuse(
      `response_format '${format as string}' is not compatible with model '${model as string}'. Use 'json' or 'text' instead.`,
      'response_format',
      'unsupported_value',
    )
  if (language !== undefined && !/^[a-z]{2}$/.test(language as string))
    return refuse(
      `Invalid language '${language as string}'. Language parameter must be specified in ISO-639-1 format.`,
      'language',
      'invalid_language_format',
    )
  if (temperature !== undefined && !(Number(temperature) >= 0 && Number(temperature) <= 1))
    return refuse(
      `Invalid 'temperature': expected a value between 0 and 1, but got ${temperature as string} instead.`,
      'temperature',
    )
  const granularities = form.getAll('timestamp_granularities[]')
  const odd = granularities.find((one) => one !== 'word' && one !== 'segment')
  if (odd !== undefined)
    return refuse(`Invalid value: '${odd as string}'.`, 'timestamp_granularities[]', 'invalid_value')
  return granularities.length > 0 && format !== 'verbose_json'
    ? refuse(
        "timestamp_granularities are only supported with response_format 'verbose_json'.",
        'timestamp_granularities[]',
      )
    : undefined
}

/** Formats seconds for subtitles: hours, minutes, seconds and, after a separator, milliseconds. */
function clock(seconds: number, mark: string): string {
  const [time, fraction] = new Date(Math.round(seconds * 1_000)).toISOString().slice(11, -1).split('.')
  return `${time}${mark}${fraction}`
}

const plain = (body: string): FakeAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...requestId },
  body,
})

/** The text with timestamps of words, segments or both. */
function verbose(form: FormData, text: string, duration: number): object {
  const granularities = form.getAll('timestamp_granularities[]')
  const language = (form.get('language') as string | null) ?? 'en'
  const all = text.split(' ')
  const at = (i: number): number => (duration * i) / all.length
  const segment = { id: 0, seek: 0, start: 0, end: duration, text, tokens: [1], temperature: 0 }
  const quality = { avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 }
  return {
    task: 'transcribe',
    language: new Intl.DisplayNames('en', { type: 'language' }).of(language)!.toLowerCase(),
    duration,
    text,
    ...(granularities.includes('word') && {
      words: all.map((word, i) => ({ word, start: at(i), end: at(i + 1) })),
    }),
    ...((granularities.length === 0 || granularities.includes('segment')) && {
      segments: [{ ...segment, ...quality }],
    }),
  }
}

/** The simulated transcript of an audio file. */
const transcriptOf = (name: string): string => `This is a simulated transcription of ${name}.`

/** The response to a valid form. The duration is computed from the file size at 128 kbit/s. */
function transcribed(form: FormData): FakeAnswer {
  const file = form.get('file') as File
  const text = transcriptOf(file.name)
  const duration = file.size / 16_000
  switch (form.get('response_format') ?? 'json') {
    case 'text':
      return plain(`${text}\n`)
    case 'srt':
      return plain(`1\n${clock(0, ',')} --> ${clock(duration, ',')}\n${text}\n\n`)
    case 'vtt':
      return plain(`WEBVTT\n\n${clock(0, '.')} --> ${clock(duration, '.')}\n${text}\n\n`)
  }
  const spent = { type: 'duration', seconds: Math.ceil(duration) }
  if (form.get('response_format') === 'verbose_json') return json({ ...verbose(form, text, duration), usage: spent })
  if (form.get('model') === 'whisper-1') return json({ text, usage: spent })
  // Ten tokens a second of audio.
  const audio_tokens = Math.ceil(duration * 10)
  const text_tokens = tokens((form.get('prompt') as string | null) ?? '')
  const [input_tokens, output_tokens] = [audio_tokens + text_tokens, tokens(text)]
  const input_token_details = { text_tokens, audio_tokens }
  const total_tokens = input_tokens + output_tokens
  return json({ text, usage: { type: 'tokens', input_tokens, output_tokens, total_tokens, input_token_details } })
}

/** The fake's POST /audio/transcriptions: names the file it was given. */
export async function openaiTranscription({ bytes, headers }: FakeRequest): Promise<FakeAnswer> {
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/form-data'))
    return refused(
      refuse(
        `Unsupported content type: '${type}'. This API method only accepts 'multipart/form-data' requests, but you specified the header 'Content-Type: ${type}'. Please try again with a supported content type.`,
        null,
        'unsupported_content_type',
      ),
    )
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => undefined)
  if (!form) return refused(refuse('Could not parse multipart form'))
  const refusal = openaiTranscriptionRefusal(form)
  return refusal ? refused(refusal) : transcribed(form)
}
