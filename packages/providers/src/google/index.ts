/** The Google family: generateContent of the Gemini API and of servers that speak it. @module */
import type { EmbeddingRequest, Provider, SpeechRequest, TranscriptionFields } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { FamilyOptions } from '../family.js'
import { familyProvider } from '../family.js'
import type { Answer } from './answer.js'
import { canEmbed, embeddings } from './embeddings.js'
import { errors } from './errors.js'
import { images } from './images.js'
import { audioCatalogue, googleCatalogue, isGoogleModel } from './models.js'
import { toRequest } from './request.js'
import type { RemoteContent } from './remote-content.js'
import { refuseRemote, withRemoteContent } from './remote-content.js'
import { toResponse } from './response.js'
import { canSpeak, speech } from './speech.js'
import { streamDecoder } from './stream.js'
import { canTranscribe, transcription } from './transcription.js'

export interface GoogleOptions extends FamilyOptions {
  /** Where the API is, up to and with `/v1beta`; default `https://generativelanguage.googleapis.com/v1beta`. */
  baseURL?: string
  /** Gets images at https URLs, which Gemini does not read by itself; absent, they are refused. See `@turnpike/providers/remote-content`. */
  remoteContent?: RemoteContent
  /** Speaks and transcribes as well, by models that do so in WAV and without times; default false. */
  audio?: boolean
}

export type { RemoteContent, RemoteImage } from './remote-content.js'

/** Chat Completions as generateContent, and back. */
export const googleChat = (provider: string, remoteContent?: RemoteContent): ChatAdapter => ({
  // Many models refuse a candidateCount above 1.
  oneChoice: true,
  ...(remoteContent && { prepare: (request, signal) => withRemoteContent(request, remoteContent, signal) }),
  request(request) {
    if (!remoteContent) refuseRemote(request)
    return toRequest(request)
  },
  response: (body, request) => toResponse(provider, body as Answer, request),
  stream: (request) => streamDecoder(provider, request),
  errors,
})

const family = {
  id: 'google',
  baseURL: 'https://generativelanguage.googleapis.com/v1beta',
  // The key goes in a header: URLs end up in logs.
  headers: (apiKey: string) => ({ 'x-goog-api-key': apiKey }),
  owns: isGoogleModel,
}

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
 * A provider of the Google family.
 * @example google({ apiKey: process.env.GEMINI_API_KEY })
 */
export function google(options: GoogleOptions): Provider {
  const { audio, remoteContent } = options
  return familyProvider(
    {
      ...family,
      chat: (provider) => googleChat(provider, remoteContent),
      endpoints: (upstream) => ({
        embeddings: embeddings(upstream),
        images: images(upstream),
        ...(audio && { speech: speech(upstream), transcription: transcription(upstream) }),
        fits,
      }),
      catalogue: audio ? { ...googleCatalogue, ...audioCatalogue } : googleCatalogue,
    },
    options,
  )
}
