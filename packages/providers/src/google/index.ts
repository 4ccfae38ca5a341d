/** The Google family: generateContent of the Gemini API and of servers that speak it. @module */
import type { Provider } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { FamilyOptions } from '../family.js'
import { familyProvider } from '../family.js'
import type { Answer } from './answer.js'
import { errors } from './errors.js'
import { googleCatalogue, isGoogleModel } from './models.js'
import { toRequest } from './request.js'
import { toResponse } from './response.js'
import { streamDecoder } from './stream.js'

export interface GoogleOptions extends FamilyOptions {
  /** Where the API is, up to and with `/v1beta`; default `https://generativelanguage.googleapis.com/v1beta`. */
  baseURL?: string
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

const family = {
  id: 'google',
  baseURL: 'https://generativelanguage.googleapis.com/v1beta',
  // The key goes in a header: URLs end up in logs.
  headers: (apiKey: string) => ({ 'x-goog-api-key': apiKey }),
  chat: googleChat,
  catalogue: googleCatalogue,
  owns: isGoogleModel,
}

/**
 * A provider of the Google family.
 * @example google({ apiKey: process.env.GEMINI_API_KEY })
 */
export const google = (options: GoogleOptions): Provider => familyProvider(family, options)
