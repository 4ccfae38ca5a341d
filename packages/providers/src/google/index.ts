/** The Google family: generateContent of the Gemini API and of servers that speak it. @module */
import type { Provider } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { UpstreamLimits } from '../provider.js'
import { createProvider } from '../provider.js'
import type { Transport } from '../transport.js'
import { fetchTransport } from '../transport.js'
import type { Answer } from './answer.js'
import { errors } from './errors.js'
import { googleModels, isGoogleModel } from './models.js'
import { toRequest } from './request.js'
import { toResponse } from './response.js'
import { streamDecoder } from './stream.js'

export interface GoogleOptions {
  apiKey: string
  /** Where the API is, up to and with `/v1beta`; default `https://generativelanguage.googleapis.com/v1beta`. */
  baseURL?: string
  /** How callers name this provider; default `google`. */
  id?: string
  /** How bytes leave; default {@link fetchTransport}. On Node, `undiciTransport()` costs a fraction of it. */
  transport?: Transport
  /** Bounds on what the upstream may send. */
  limits?: UpstreamLimits
}

/** Chat Completions as generateContent, and back. */
export const googleChat = (provider: string): ChatAdapter => ({
  // Many models refuse a candidateCount above 1.
  oneChoice: true,
  request: toRequest,
  response: (body, request) => toResponse(provider, body as Answer, request),
  stream: (request) => streamDecoder(provider, request),
  errors,
})

/**
 * A provider of the Google family.
 * @example google({ apiKey: process.env.GEMINI_API_KEY })
 */
export function google(options: GoogleOptions): Provider {
  const {
    apiKey,
    baseURL = 'https://generativelanguage.googleapis.com/v1beta',
    id = 'google',
    transport = fetchTransport(),
    limits,
  } = options
  return createProvider({
    id,
    baseURL: baseURL.replace(/\/+$/, ''),
    // The key goes in a header: URLs end up in logs.
    headers: { 'x-goog-api-key': apiKey, 'user-agent': 'turnpike' },
    chat: googleChat(id),
    models: googleModels(id),
    owns: isGoogleModel,
    transport,
    limits,
  })
}
