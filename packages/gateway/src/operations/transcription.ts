import type { FileInput, Note, Target, TranscriptionFormat, TranscriptionRequest, Units } from '@turnpike/core'
import { TranscriptionFields, TranscriptionResponse, unitsOf } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import { invalid, unsupported } from '@turnpike/core/internal'
import { bytes } from '@turnpike/http'
import * as v from 'valibot'
import { requireModel } from '../limits/allowed-models.js'
import { AUDIO_LIMIT, MOST_OUTPUT_TOKENS, MOST_SECONDS, TRANSCRIPTION_MODELS } from '../conventions.js'
import { transcriptionFields, permitted } from '../limits/documented-fields.js'
import { guarded } from '../guards/guarding.js'
import { reported } from '../records/meter.js'
import { AUDIO_TOKENS } from '../limits/prompt.js'
import { secondsOf } from '../limits/recording.js'
import { mostTokens, utf8Bytes } from '../limits/text-bytes.js'
import type { Used } from '../records/record.js'
import { estimated } from '../records/record.js'
import { whole } from '../upstream/upstream-answer.js'
import type { UpstreamOptions } from '../upstream/upstream-request.js'
import { callsUpstream, upstreamRequest } from '../upstream/upstream-request.js'
import { operation } from '../operation.js'

export interface TranscriptionOptions {
  /** Ids that callers may name; default {@link TRANSCRIPTION_MODELS}. */
  transcriptionModels?: string[]
  /** Maximum size of the file in bytes; default 25 MiB. */
  audioLimit?: number
}

/** Content types of the documented formats, by extension. */
const types = new Map(
  Object.entries({
    mp3: 'audio/mpeg',
    mp4: 'audio/mp4',
    mpeg: 'audio/mpeg',
    mpga: 'audio/mpeg',
    m4a: 'audio/mp4',
    wav: 'audio/wav',
    webm: 'audio/webm',
  }),
)

/** Extensions by content type, for files without one, such as recordings of browsers. */
const extensions = new Map(
  Object.entries({
    'audio/mpeg': 'mp3',
    'audio/mp3': 'mp3',
    'audio/mp4': 'mp4',
    'video/mp4': 'mp4',
    'audio/x-m4a': 'm4a',
    'audio/m4a': 'm4a',
    'audio/wav': 'wav',
    'audio/wave': 'wav',
    'audio/x-wav': 'wav',
    'audio/webm': 'webm',
    'video/webm': 'webm',
  }),
)

/** The file under a name with the extension of its format, which upstreams require. @throws ApiError 400 for other formats and empty files */
function audioOf(file: FileInput): FileInput {
  // An extension begins with a letter: `Meeting 10.30` has none.
  const [, given = ''] = /\.([a-z]\w*)$/.exec(file.name.toLowerCase()) ?? []
  const extension = given || (extensions.get(file.type.split(';', 1)[0]!.trim().toLowerCase()) ?? '')
  const type = types.get(extension)
  if (type === undefined) throw invalid(`file must be one of ${[...types.keys()].join(', ')}`)
  if (file.size === 0) throw invalid('The file is empty')
  return { ...file, name: given ? file.name : `${file.name.replace(/\.$/, '') || 'audio'}.${extension}`, type }
}

/** Content types of answers that are not JSON; clients read any of them as text. */
const contentTypes: Record<Exclude<TranscriptionFormat, 'json'>, string> = {
  text: 'text/plain; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  vtt: 'text/vtt; charset=utf-8',
}

/** Tokens per second of a transcript, for models that are billed by tokens. */
const TEXT_TOKENS = 3

/** Usage in OpenAI's form: seconds or tokens. */
function toldUsage({ units: { seconds }, usage: { prompt_tokens, completion_tokens } }: Used): object {
  if (seconds !== undefined) return { type: 'duration', seconds }
  const total_tokens = prompt_tokens + completion_tokens
  return { type: 'tokens', input_tokens: prompt_tokens, output_tokens: completion_tokens, total_tokens }
}

/** The answer in the format that was asked for. */
function reply(answer: TranscriptionResponse, format: TranscriptionFormat): unknown {
  if (format === 'json') return answer
  const { text } = answer
  return bytes(text.endsWith('\n') ? text : `${text}\n`, contentTypes[format])
}

export const TranscriptionForm = v.looseObject({
  ...TranscriptionFields.entries,
  file: v.pipe(
    v.custom<FileInput>(() => true),
    v.metadata({ type: 'string', contentMediaType: 'application/octet-stream' }),
  ),
})

/** POST /v1/audio/transcriptions. */
export function createTranscription(options: UpstreamOptions & TranscriptionOptions) {
  const { transcriptionModels = TRANSCRIPTION_MODELS, audioLimit = AUDIO_LIMIT } = options

  return operation({
    id: 'audio.transcriptions',
    summary: 'Writes down what is said in a recording.',
    access: 'key',
    // Audio over the limit is a 400.
    form: { file: 'file', limit: audioLimit, overLimit: 400 },
    body: TranscriptionForm,
    example: { model: 'whisper-1' },
    output: TranscriptionResponse,
    contentTypes: Object.values(contentTypes).map((type) => type.split(';', 1)[0]!),
    ...callsUpstream,
    async run(caller, { body }, call) {
      const guarding = options.guards && (await guarded(options, caller, call, 'transcription', body))
      const { stream = 'false', ...fields } = guarding?.request ?? body
      const notes: Note[] = []
      const given = permitted(options, caller, fields, transcriptionFields, notes)
      const request: TranscriptionRequest = { ...given, file: audioOf(fields.file) }
      const { response_format: format = 'json', file, model } = request
      requireModel(model, transcriptionModels)
      if (stream !== 'false') throw unsupported('Transcriptions are not streamed')
      const unitsOfSeconds = (seconds: number) => ({
        seconds,
        input_audio: seconds * AUDIO_TOKENS,
        output: seconds * TEXT_TOKENS,
      })
      const { likely: guess, usual, most } = await secondsOf(file)
      const expected = unitsOfSeconds(guess)
      const mostOf = (seconds: number, { price, limits }: Target): Units => {
        const { maxOutput = MOST_OUTPUT_TOKENS, context = Infinity } = limits?.() ?? {}
        const { input_audio, ...units } = unitsOfSeconds(seconds)
        return {
          ...units,
          // A chat model may do what the prompt or the recording says.
          ...(price?.seconds === undefined && { output: maxOutput }),
          input: mostTokens(utf8Bytes(request.prompt ?? '')),
          input_audio: Math.min(input_audio, context),
        }
      }
      const need = {
        task: 'transcription' as const,
        // Whom it is for, also where that is not sent.
        request: extend(request, { user: fields['user'] }),
        expected: () => expected,
        most: (target: Target) => mostOf(most, target),
        givenUp: (target: Target) => mostOf(usual, target),
      }
      if (guarding?.inPlace) return reply(await guarding.give(need), format)
      const upstream = await upstreamRequest(options, caller, call, need, notes)
      const { answer, used, cost } = await whole(
        upstream,
        ({ provider, model }, call) => provider.transcription!(extend(request, { model }), call),
        ({ seconds: duration = NaN, usage: told }): Used => {
          const usage = reported(told)
          const seconds = duration > 0 && duration <= MOST_SECONDS ? duration : undefined
          // Rounded up to whole seconds, as OpenAI bills it.
          const lasted = seconds === undefined ? guess : Math.ceil(seconds)
          const { price } = upstream.target
          const bySecond = price?.seconds !== undefined
          const byToken = price?.input !== undefined || price?.output !== undefined
          if (usage && (byToken || !bySecond)) return { usage, units: unitsOf(usage), accuracy: 'reported' }
          // A model that is billed by tokens, from an upstream that reports none, costs what was expected.
          if (!usage && byToken && !bySecond) return estimated(expected)
          return {
            // Credits are tokens, also of models that are billed by the second.
            usage: usage ?? estimated(unitsOfSeconds(lasted)).usage,
            units: { ...(usage && unitsOf(usage)), seconds: lasted },
            accuracy: seconds === undefined ? 'estimated' : 'reported',
          }
        },
      )
      const usage = toldUsage(used)
      const { text } = guarding ? await guarding.judge({ text: answer.text, usage }) : answer
      return reply({ text, usage: { ...usage, ...(upstream.explained && cost) } }, format)
    },
  })
}
