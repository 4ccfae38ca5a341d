import type { Note, Target, Usage } from '@turnpike/core'
import { SpeechRequest, unitsOf } from '@turnpike/core'
import { extend, withoutNulls } from '@turnpike/core/helpers'
import { invalid, unsupported } from '@turnpike/core/internal'
import { bytes } from '@turnpike/http'
import { requireModel } from '../limits/allowed-models.js'
import { MOST_SPEECH_TOKENS, SPEECH_MODELS, VOICES } from '../conventions.js'
import { speechFields, permitted } from '../limits/documented-fields.js'
import { guarded } from '../guards/guarding.js'
import { reported } from '../records/meter.js'
import { spokenSeconds } from '../limits/recording.js'
import { expectedTokens, mostTokens, utf8Bytes } from '../limits/text-bytes.js'
import { outcomeOf } from '../records/outcome.js'
import type { Used } from '../records/record.js'
import { estimated } from '../records/record.js'
import { reasonOf } from '../records/charge.js'
import { begin, close, drain, firstToken } from '../upstream/upstream-answer.js'
import type { UpstreamOptions, AdmittedRequest } from '../upstream/upstream-request.js'
import { callsUpstream, timeOutOf, upstreamRequest } from '../upstream/upstream-request.js'
import { operation } from '../operation.js'

export interface SpeechOptions {
  /** Ids that callers may name; default {@link SPEECH_MODELS}. */
  speechModels?: string[]
  /** Voices that callers may name, the default first; default {@link VOICES}. */
  voices?: string[]
}

/** Of models that are billed by tokens: audio tokens of a second, and characters that are spoken in one. */
const TOKENS_PER_SECOND = 25
const CHARACTERS_PER_SECOND = 15
/** How many times as long speech may be as expected: the lowest `speed` is 0.25. */
const SLOWEST = 4

/** What has been spoken so far. */
interface Sound {
  first: Uint8Array
  size: number
}

/** Streams the audio; the usage record is written before the client receives the end. Where a stream is drained, what the client left is read as well. */
async function* recorded(
  upstream: AdmittedRequest,
  body: AsyncIterable<Uint8Array>,
  usedBy: (sound: Sound) => Used,
): AsyncGenerator<Uint8Array> {
  const { watch } = upstream
  const sound: Sound = { first: new Uint8Array(), size: 0 }
  const iterator = body[Symbol.asyncIterator]()
  const count = (piece: Uint8Array): void => {
    if (sound.size === 0) sound.first = piece
    sound.size += piece.length
  }
  let closed = false
  try {
    for (;;) {
      watch.expect(timeOutOf(upstream.target, 'betweenEventsMs', upstream.options))
      const { done, value } = await iterator.next()
      watch.relax()
      if (done) break
      count(value)
      yield value
    }
    closed = true
    await close(upstream, 'complete', usedBy(sound))
  } catch (error) {
    if (closed) throw error
    closed = true
    const reason = reasonOf(upstream, error)
    await close(upstream, watch.stop?.outcome ?? outcomeOf(error), usedBy(sound), reason)
    throw reason
  } finally {
    if (!closed) {
      if (watch.drainMs > 0) {
        if (!watch.disconnected) watch.disconnect()
        await drain(upstream, iterator, count)
      }
      await close(upstream, 'client_abort', usedBy(sound))
    }
  }
}

async function* once(audio: Uint8Array): AsyncGenerator<Uint8Array> {
  yield audio
}

/** POST /v1/audio/speech. */
export function createSpeech(options: UpstreamOptions & SpeechOptions) {
  const { speechModels = SPEECH_MODELS, voices = VOICES } = options

  return operation({
    id: 'audio.speech',
    summary: 'Speaks a text.',
    access: 'key',
    body: SpeechRequest,
    example: { model: 'tts-1', input: 'Hello!', voice: 'alloy' },
    contentTypes: ['audio/mpeg', 'audio/ogg', 'audio/aac', 'audio/flac', 'audio/wav'],
    ...callsUpstream,
    async run(caller, { body }, call) {
      const guarding = options.guards && (await guarded(options, caller, call, 'speech', body))
      const { stream_format: streamed = 'audio', ...fields } = withoutNulls(guarding?.request ?? body)
      const notes: Note[] = []
      const given = permitted(options, caller, fields, speechFields, notes)
      const { model } = given
      const voice = given.voice ?? voices[0]!
      requireModel(model, speechModels)
      if (!voices.includes(voice)) throw invalid(`voice must be one of ${voices.join(', ')}`)
      if (streamed !== 'audio') throw unsupported('Speech comes as audio, not as events')
      const request = extend(given, { voice })
      const characters = [...request.input].length
      const { instructions = '' } = request
      const said = utf8Bytes(request.input) + (typeof instructions === 'string' ? utf8Bytes(instructions) : 0)
      const output_audio = Math.ceil((characters / CHARACTERS_PER_SECOND) * TOKENS_PER_SECOND)
      const expected = { characters, input: expectedTokens(said), output_audio }
      const need = {
        task: 'speech' as const,
        // Whom it is for, also where that is not sent.
        request: extend(request, { user: fields['user'] }),
        streamed: true,
        expected: () => expected,
        most: ({ limits }: Target) => ({
          characters,
          input: mostTokens(said),
          output_audio:
            limits?.()?.maxOutput ?? Math.max(output_audio * SLOWEST, instructions ? MOST_SPEECH_TOKENS : 0),
        }),
      }
      if (guarding?.inPlace) {
        const { audio, contentType } = await guarding.give(need)
        return bytes(once(audio), contentType)
      }
      const upstream = await upstreamRequest(options, caller, call, need, notes)
      const usedBy = (told: Usage | undefined, { first, size }: Sound, contentType: string): Used => {
        const usage = reported(told)
        const { price } = upstream.target
        // A model that is billed by tokens, from an upstream that reports none, costs what was expected, or what was spoken: its instructions may make that longer.
        const spoken = Math.ceil(spokenSeconds(first, size, contentType) * TOKENS_PER_SECOND)
        return !usage && price && price.characters === undefined
          ? estimated({ ...expected, output_audio: Math.max(output_audio, spoken) })
          : {
              // Credits are tokens, also of models that are billed by characters.
              usage: usage ?? estimated(expected).usage,
              units: { characters, ...(usage && unitsOf(usage)) },
              accuracy: 'reported',
            }
      }
      return begin(
        upstream,
        ({ provider, model }, call) => provider.speech!(extend(request, { model }), call),
        ({ body, usage, contentType }) => {
          firstToken(upstream)
          const used = (sound: Sound): Used => usedBy(usage, sound, contentType)
          const audio = recorded(upstream, body, used)
          return bytes(guarding?.readsAnswers ? guarding.speech(audio, contentType) : audio, contentType)
        },
      )
    },
  })
}
