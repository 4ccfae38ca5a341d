import type { Provider, TranscriptionAnswer, TranscriptionFields, TranscriptionRequest } from '@turnpike/core'
import { toBase64 } from '@turnpike/core/helpers'
import { unsupported } from '@turnpike/core/internal'
import { takeNotes } from '../requests/request-fields.js'
import type { Upstream } from '../upstream/upstream.js'
import { callJson, nameAt } from '../upstream/upstream.js'
import type { Answer } from './answer.js'
import { reportOf } from './answer.js'
import { toPath } from './models.js'
import { missing, requireEnd } from './missing-content.js'

const read = new Set(['file', 'language', 'prompt', 'response_format'])

async function bytesOf(file: TranscriptionRequest['file']): Promise<Uint8Array> {
  const bytes = new Uint8Array(file.size)
  let at = 0
  for await (const piece of file.read()) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** Whether the requested format needs no timestamps, as subtitles do. */
export const canTranscribe = ({ response_format: format }: TranscriptionFields): boolean =>
  format !== 'srt' && format !== 'vtt'

/** @param name the upstream's own name of the model */
async function toRequest(request: TranscriptionRequest, name: string) {
  const { file, language, prompt } = request
  if (!canTranscribe(request)) throw unsupported('Gemini gives no times; ask for json or text')
  const { notes } = takeNotes(request, read)
  const text = [
    'Write down what is said in this recording, word for word, and nothing else.',
    ...(language ? [`It is in the language with the ISO 639-1 code "${language}".`] : []),
    ...(prompt ? [`What comes before it, or words that may occur in it: ${prompt}`] : []),
  ].join('\n')
  const parts = [{ inlineData: { mimeType: file.type, data: toBase64(await bytesOf(file)) } }, { text }]
  return { path: toPath(name, 'generateContent'), body: { contents: [{ role: 'user', parts }] }, notes }
}

/** generateContent with the audio in the prompt. */
export const transcription =
  (upstream: Upstream): NonNullable<Provider['transcription']> =>
  async (request, call) =>
    callJson(
      upstream,
      await toRequest(request, nameAt(upstream, request)),
      call,
      reportOf,
      (body): TranscriptionAnswer => {
        const answer = body as Answer
        const parts = answer.candidates?.[0]?.content?.parts
        if (!parts) throw missing(upstream.id, answer, 'text')
        requireEnd(upstream.id, answer)
        const text = parts.map(({ thought, text: said }) => (thought ? '' : (said ?? ''))).join('')
        return { text: text.trim(), seconds: undefined, usage: reportOf(answer) }
      },
    )
