/** The Google family: generateContent of the Gemini API and of servers that speak it. @module */
import type { Provider } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { FamilyOptions } from '../family.js'
import { familyProvider } from '../family.js'
import type { Answer } from './answer.js'
import type { GoogleEndpoints } from './endpoints.js'
import { errors } from './errors.js'
import { googleCatalogue, isGoogleModel } from './models.js'
import { toRequest } from './request.js'
import type { RemoteContent } from './remote-content.js'
import { refuseRemote, withRemoteContent } from './remote-content.js'
import { toResponse } from './response.js'
import { streamDecoder } from './stream.js'

/** Options of {@link google}. */
export interface GoogleOptions extends FamilyOptions {
  /** Where the API is, up to and with `/v1beta`; default `https://generativelanguage.googleapis.com/v1beta`. */
  baseURL?: string
  /** Gets images at https URLs, which Gemini does not read by itself; absent, they are refused. See `@turnpike/providers/remote-content`. */
  remoteContent?: RemoteContent
  /** What it does besides chat: `googleEndpoints()`; default nothing. */
  endpoints?: GoogleEndpoints
}

export { googleEndpoints } from './endpoints.js'
export type { GoogleEndpoints, GoogleEndpointsOptions } from './endpoints.js'
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

/**
 * A provider of the Google family.
 * @example google({ apiKey: process.env.GEMINI_API_KEY })
 */
export function google(options: GoogleOptions): Provider {
  const { endpoints, remoteContent } = options
  return familyProvider(
    {
      ...family,
      chat: (provider) => googleChat(provider, remoteContent),
      endpoints: endpoints?.of,
      catalogue: { ...googleCatalogue, ...endpoints?.catalogue },
    },
    options,
  )
}
