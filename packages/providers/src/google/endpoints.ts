import type { Capability, EmbeddingRequest, Provider, SpeechRequest, TranscriptionFields } from '@turnpike/core'
import type { Endpoints } from '../provider.js'
import type { Upstream } from '../upstream/upstream.js'
import { batchEmbedContents, canEmbed, embeddings } from './embeddings.js'
import { images } from './images.js'
import { capabilities } from './models.js'
import { canSpeak, speech } from './speech.js'
import { canTranscribe, transcription } from './transcription.js'

/** The endpoints besides chat, and the models listed for them. */
export interface GoogleEndpoints {
  of(upstream: Upstream): Endpoints
  catalogue: Record<string, Capability[]>
}

/** Options of {@link googleEndpoints}. */
export interface GoogleEndpointsOptions {
  /** Adds speech (WAV only) and transcription (without timestamps); default false. */
  audio?: boolean | undefined
}

/** They also chat, with images in what they are given and what they answer, but call no tools. */
const imageModel: Capability[] = ['chat', 'vision', 'images']

/** The models that are listed for embeddings and images. */
export const endpointsCatalogue: Record<string, Capability[]> = {
  'gemini-embedding-001': ['embeddings'],
  'gemini-embedding-2': ['embeddings'],
  'gemini-2.5-flash-image': imageModel,
  'gemini-3-pro-image': imageModel,
  'gemini-3-pro-image-preview': imageModel,
  'gemini-3.1-flash-image': imageModel,
  'gemini-3.1-flash-image-preview': imageModel,
  'gemini-3.1-flash-lite-image': imageModel,
  'gemini-nano-banana-2.1': imageModel,
}

/** All chat models accept audio; one is listed for transcription. A function, because bundlers do not remove unused literals with spreads. */
const audioCatalogue = (): Record<string, Capability[]> => ({
  'gemini-2.5-flash': [...capabilities, 'transcription'],
  'gemini-2.5-flash-preview-tts': ['speech'],
  'gemini-2.5-pro-preview-tts': ['speech'],
  'gemini-3.1-flash-tts-preview': ['speech'],
  'gemini-3.8-flash-tts': ['speech'],
  'gemini-3.8-flash-lite-tts': ['speech'],
})

/** The type of the request follows from the task. */
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
 * Adds embeddings and images, and with `audio` speech and transcription. Separate from `google`, so that bundles with only chat do not include them.
 * @example google({ apiKey, endpoints: googleEndpoints({ audio: true }) })
 */
export const googleEndpoints = ({ audio = false }: GoogleEndpointsOptions = {}): GoogleEndpoints => ({
  of: (upstream) => ({
    embeddings: embeddings(upstream),
    textsPerCall: () => batchEmbedContents.batch,
    images: images(upstream),
    ...(audio && { speech: speech(upstream), transcription: transcription(upstream) }),
    fits,
  }),
  catalogue: audio ? { ...endpointsCatalogue, ...audioCatalogue() } : endpointsCatalogue,
})
