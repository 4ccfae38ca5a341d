import { toBase64 } from '@turnpike/core/helpers'
import { isImageModel, isSpeechModel } from './google-media-rules.js'
import { pngOf } from './pictures.js'
import { pcm } from './silence.js'

/** A file in a request or response; its data is base64. */
export interface InlineData {
  mimeType: string
  data: string
}

interface MediaPart {
  text?: string
  thought?: true
  inlineData?: InlineData
}

/** Tokens of an image, and of a second of speech. */
export const mediaTokens = { IMAGE: 1_290, AUDIO: 25 }

const imageOf = (prompt: string): MediaPart => ({ inlineData: { mimeType: 'image/png', data: pngOf(prompt) } })

/** The answer of an image or speech model; undefined for text models. */
export function mediaOf(
  model: string,
  prompt: string,
  modalities: string[] = ['TEXT', 'IMAGE'],
): MediaPart[] | undefined {
  if (isSpeechModel(model))
    return [{ inlineData: { mimeType: 'audio/L16;codec=pcm;rate=24000', data: toBase64(pcm()) } }]
  if (!isImageModel(model) || !modalities.includes('IMAGE')) return undefined
  return [
    // The largest model includes its drafts.
    ...(model.startsWith('gemini-3-pro') ? [{ ...imageOf(`A draft of ${prompt}`), thought: true as const }] : []),
    ...(modalities.includes('TEXT') ? [{ text: 'Here is a simulated image.' }] : []),
    imageOf(prompt),
  ]
}
