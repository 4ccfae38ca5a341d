import { isObject } from '@turnpike/core/helpers'
import type { FakeAnswer, FakeRequest } from './fake-upstream.js'
import { refused, requestId } from './openai-answers.js'
import type { Refusal } from './openai-refusals.js'
import {
  checkChoices,
  checkNumbers,
  checkText,
  missing,
  modelNotFound,
  notJson,
  unknownParameter,
} from './openai-refusals.js'
import { words } from './rules.js'
import { silence } from './silence.js'
import { paced } from './simulation.js'

const voices = words('alloy ash coral echo fable onyx nova sage shimmer')

/** The models and their voices. */
const models: Record<string, string[]> = {
  'tts-1': voices,
  'tts-1-hd': voices,
  'gpt-4o-mini-tts': [...voices, ...words('ballad verse marin cedar')],
}

const parameters = words('model input voice response_format speed instructions')

/** Validates a speech request; undefined if valid. */
export function openaiSpeechRefusal(body: unknown): Refusal | undefined {
  if (!isObject(body)) return notJson
  const { model, voice } = body
  const unknown = unknownParameter(Object.keys(body), parameters)
  if (unknown) return unknown
  const allowed = models[model as string]
  if (!allowed) return modelNotFound(model)
  return (
    checkText(body, 'input', 4_096) ??
    (voice === undefined || voice === null ? missing('voice') : undefined) ??
    checkChoices(body, { voice: allowed, response_format: Object.keys(silence) }) ??
    checkNumbers(body, [['speed', 0.25, 4, false]])
  )
}

/** Splits bytes into several pieces, like audio that is streamed during generation. */
function spoken(bytes: Uint8Array): Uint8Array[] {
  const size = Math.ceil(bytes.length / 4)
  return Array.from({ length: 4 }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

/** The fake's POST /audio/speech: a second of silence in the requested format. */
export function openaiSpeech({ body }: FakeRequest, delayMs: number): FakeAnswer {
  const refusal = openaiSpeechRefusal(body)
  if (refusal) return refused(refusal)
  const format = (body as { response_format?: keyof typeof silence | null }).response_format ?? 'mp3'
  return {
    status: 200,
    headers: { 'content-type': format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, ...requestId },
    body: paced(spoken(silence[format]()), delayMs),
  }
}
