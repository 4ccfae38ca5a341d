/** The OpenAI family: api.openai.com and all servers with a compatible Chat Completions API. @module */
import type { ChatProvider } from '@turnpike/core'
import type { FamilyOptions } from '../family.js'
import { familyProvider } from '../family.js'
import { named } from '../models/named.js'
import type { Refusals } from '../refusals/refusals.js'
import type { Upstream } from '../upstream/upstream.js'
import type { ChatOptions } from './chat.js'
import { openaiChat } from './chat.js'
import { embeddings } from './embeddings.js'
import { images } from './images.js'
import { isOpenaiModel, OPENAI, openaiCatalogue } from './models.js'
import { speech } from './speech.js'
import { transcription } from './transcription.js'

export { openaiChat }
export type { ChatOptions } from './chat.js'

/** Options of {@link openai}. */
export interface OpenAIOptions extends FamilyOptions, ChatOptions {
  /** The base URL of the API, including `/v1`; default `https://api.openai.com/v1`. */
  baseURL?: string | undefined
}

const family = {
  id: 'openai',
  baseURL: OPENAI,
  options: { thinkTags: false } as const,
  credential: (apiKey: string) => ({ authorization: `Bearer ${apiKey}` }),
  endpoints: (upstream: Upstream, refusals: Refusals) => ({
    embeddings: embeddings(upstream, refusals),
    images: images(upstream),
    speech: speech(upstream),
    transcription: transcription(upstream),
  }),
  catalogue: openaiCatalogue,
  modelsPath: '/models',
  owns: isOpenaiModel,
}

/**
 * Creates a provider of the OpenAI family.
 * @example openai({ apiKey: process.env.OPENAI_API_KEY })
 */
export const openai = (options: OpenAIOptions): ChatProvider =>
  familyProvider({ ...family, chat: (provider, names) => named(openaiChat(provider, options), names) }, options)
