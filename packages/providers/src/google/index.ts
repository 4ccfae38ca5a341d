/** The Google family: generateContent of the Gemini API and of compatible servers. @module */
import type { ChatProvider } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { FamilyOptions } from '../family.js'
import { familyProvider } from '../family.js'
import type { Answer } from './answer.js'
import { reportOf } from './answer.js'
import type { GoogleEndpoints } from './endpoints.js'
import { errors } from './errors.js'
import { googleCatalogue, isGoogleModel } from './models.js'
import { toRequest } from './request.js'
import type { RemoteContent } from './remote-content.js'
import { refuseRemote, withRemoteContent } from './remote-content.js'
import { toResponse } from './response.js'
import { streamDecoder } from './stream.js'
import type { Upstream } from '../upstream/upstream.js'

/** Options of {@link google}. */
export interface GoogleOptions extends FamilyOptions {
  /** The base URL of the API, including `/v1beta`; default `https://generativelanguage.googleapis.com/v1beta`. */
  baseURL?: string | undefined
  /** Fetches images at https URLs, which Gemini does not do; without it they are rejected. See `@turnpike/providers/remote-content`. */
  remoteContent?: RemoteContent
  /** The endpoints besides chat, such as `googleEndpoints()`; default none. */
  endpoints?: GoogleEndpoints
}

export { googleEndpoints } from './endpoints.js'
export type { GoogleEndpoints, GoogleEndpointsOptions } from './endpoints.js'
export type { RemoteContent, RemoteImage } from './remote-content.js'

/**
 * The adapter between Chat Completions and generateContent.
 * @param nameOf the upstream's own name of a model; default its id
 * @example const adapter = googleChat('mine')
 */
export const googleChat = (
  provider: string,
  remoteContent?: RemoteContent,
  nameOf?: Upstream['nameOf'],
): ChatAdapter => ({
  // Many models reject a candidateCount above 1.
  oneChoice: true,
  ...(remoteContent && { prepare: (request, call) => withRemoteContent(request, remoteContent, call) }),
  request(request) {
    if (!remoteContent) refuseRemote(request)
    return toRequest(request, nameOf?.(request.model))
  },
  response: (body, request) => toResponse(provider, body as Answer, request),
  usage: reportOf,
  stream: (request) => streamDecoder(provider, request),
  errors,
})

const family = {
  id: 'google',
  baseURL: 'https://generativelanguage.googleapis.com/v1beta',
  options: { remoteContent: false, endpoints: false } as const,
  // The key is sent in a header and not in the query, because URLs are logged.
  credential: (apiKey: string) => ({ 'x-goog-api-key': apiKey }),
  modelsPath: '/models?pageSize=1000',
  owns: isGoogleModel,
}

/**
 * Creates a provider of the Google family.
 * @example google({ apiKey: process.env.GEMINI_API_KEY })
 */
export function google(options: GoogleOptions): ChatProvider {
  const { endpoints, remoteContent } = options
  return familyProvider(
    {
      ...family,
      chat: (provider, { nameOf }) => googleChat(provider, remoteContent, nameOf),
      endpoints: endpoints?.of,
      catalogue: { ...googleCatalogue, ...endpoints?.catalogue },
    },
    options,
  )
}
