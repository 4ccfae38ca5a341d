import type { Provider, SpeechRequest } from '@turnpike/core'
import { concat, fromBase64 } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'
import { takeNotes } from '../requests/request-fields.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson, nameAt } from '../upstream/upstream.js'
import { toWav } from '../answers/wav.js'
import type { Answer } from './answer.js'
import { reportOf } from './answer.js'
import { toPath } from './models.js'
import { missing, requireEnd } from './missing-content.js'

/** The most similar Gemini voice for each of OpenAI's voices. Other names are passed through as Gemini's own. */
const voices: Record<string, string> = {
  alloy: 'Kore',
  echo: 'Charon',
  fable: 'Puck',
  onyx: 'Orus',
  nova: 'Aoede',
  shimmer: 'Leda',
}

const read = new Set(['input', 'voice', 'response_format', 'speed'])

/** Whether the requested format is WAV, the only one that is supported. */
export const canSpeak = ({ response_format }: SpeechRequest): boolean => response_format === 'wav'

/** @param name the upstream's own name of the model */
function toRequest(request: SpeechRequest, name: string) {
  const { input, voice, speed } = request
  if (!canSpeak(request)) throw unsupported('Gemini speaks in WAV only; ask for "response_format": "wav"')
  const { notes, note } = takeNotes(request, read)
  if ((speed ?? 1) !== 1) note('speed', 'dropped')
  const voiceName = voices[voice ?? 'alloy'] ?? voice
  return {
    path: toPath(name, 'generateContent'),
    body: {
      contents: [{ role: 'user', parts: [{ text: input }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
      },
    },
    notes,
  }
}

/** generateContent of the speech models. Their raw samples are returned as a WAV file. */
export const speech =
  (upstream: Upstream): NonNullable<Provider['speech']> =>
  (request, call) =>
    callJson(upstream, toRequest(request, nameAt(upstream, request)), call, reportOf, (body) => {
      const answer = body as Answer
      const parts = answer.candidates?.[0]?.content?.parts ?? []
      const audio = parts.flatMap(({ inlineData }) => (inlineData?.mimeType?.startsWith('audio/') ? [inlineData] : []))
      const rate = Number(/rate=(\d+)/.exec(audio[0]?.mimeType ?? '')?.[1] ?? 24_000)
      const samples = audio.map(({ data = '' }) => fromBase64(data))
      const size = samples.reduce((sum, { length }) => sum + length, 0)
      if (size === 0) throw missing(upstream.id, answer, 'audio')
      requireEnd(upstream.id, answer)
      return {
        contentType: 'audio/wav',
        body: (async function* () {
          yield toWav(concat(samples, size), rate)
        })(),
        usage: reportOf(answer),
      }
    })
