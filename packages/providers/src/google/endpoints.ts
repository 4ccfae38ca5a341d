import type { Capability, EmbeddingRequest, Provider, SpeechRequest, TranscriptionFields } from '@turnpike/core'
import type { Endpoints } from '../provider.js'
import type { Upstream } from '../upstream.js'
import { canEmbed, embeddings } from './embeddings.js'
import { images } from './images.js'
import { capabilities } from './models.js'
import { canSpeak, speech } from './speech.js'
import { canTranscribe, transcription } from './transcription.js'

/** What Gemini can be asked for besides chat, and the models that are listed for it. */
export interface GoogleEndpoints {
  of(upstream: Upstream): Endpoints
  catalogue: Record<string, Capability[]>
}

/** Options of {@link googleEndpoints}. */
export interface GoogleEndpointsOptions {
  /** Speaks and transcribes as well, by models that do so in WAV and without times; default false. */
  audio?: boolean | undefined
}

const catalogue: Record<string, Capability[]> = {
  'gemini-embedding-001': ['embeddings'],
  'gemini-2.5-flash-image': ['images'],
  'gemini-3.1-flash-image-preview': ['images'],
  'gemini-3-pro-image-preview': ['images'],
}

/** Any chat model of the family listens; one is listed for it. Made when it is asked for, as bundlers keep lists that are spread. */
const audioCatalogue = (): Record<string, Capability[]> => ({
  'gemini-2.5-flash': [...capabilities, 'transcription'],
  'gemini-2.5-flash-preview-tts': ['speech'],
  'gemini-2.5-pro-preview-tts': ['speech'],
})

/** The router hands each task its own request. */
const fits: NonNullable<Provider['fits']> = ({ task, request }) => {
  switch (task) {
    case 'embeddings':
      return canEmbed(request as EmbeddingRequest)
    case 'speech':
      return canSpeak(request as SpeechRequest)
    case 'transcription':
      return canTranscribe(request as TranscriptionFields)
    default:
      return true
  }
}

/**
 * Embeddings and images, and speech and transcription where they are asked for. Apart from `google`, so that whoever only chats does not load them.
 * @example google({ apiKey, endpoints: googleEndpoints({ audio: true }) })
 */
export const googleEndpoints = ({ audio = false }: GoogleEndpointsOptions = {}): GoogleEndpoints => ({
  of: (upstream) => ({
    embeddings: embeddings(upstream),
    images: images(upstream),
    ...(audio && { speech: speech(upstream), transcription: transcription(upstream) }),
    fits,
  }),
  catalogue: audio ? { ...catalogue, ...audioCatalogue() } : catalogue,
})
