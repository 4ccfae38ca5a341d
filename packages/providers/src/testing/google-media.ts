import { toBase64 } from '../base64.js'
import { isImageModel, isSpeechModel } from './google-media-rules.js'
import { pngOf } from './pictures.js'
import { pcm } from './silence.js'

/** A file within a request or an answer; its data is in base64. */
export interface InlineData {
  mimeType: string
  data: string
}

interface MediaPart {
  text?: string
  thought?: true
  inlineData?: InlineData
}

/** What an image, and what a second of speech counts as. */
export const mediaTokens = { IMAGE: 1_290, AUDIO: 25 }

const imageOf = (prompt: string): MediaPart => ({ inlineData: { mimeType: 'image/png', data: pngOf(prompt) } })

/** What a model answers that draws or speaks; undefined where it is one that writes. */
export function mediaOf(
  model: string,
  prompt: string,
  modalities: string[] = ['TEXT', 'IMAGE'],
): MediaPart[] | undefined {
  if (isSpeechModel(model))
    return [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: toBase64(pcm()) } }]
  if (!isImageModel(model) || !modalities.includes('IMAGE')) return undefined
  return [
    // The largest model shows what it tried first.
    ...(model.startsWith('gemini-3-pro') ? [{ ...imageOf(`A draft of ${prompt}`), thought: true as const }] : []),
    ...(modalities.includes('TEXT') ? [{ text: 'Here is a simulated image.' }] : []),
    imageOf(prompt),
  ]
}
