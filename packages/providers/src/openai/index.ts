/** The OpenAI family: api.openai.com and every server that speaks its Chat Completions. @module */
import type { Provider } from '@turnpike/core'
import type { UpstreamLimits } from '../provider.js'
import { createProvider } from '../provider.js'
import type { Transport } from '../transport.js'
import { fetchTransport } from '../transport.js'
import { openaiChat } from './chat.js'
import { isOpenaiModel, openaiModels } from './models.js'

export { openaiChat }

export interface OpenAIOptions {
  apiKey: string
  /** Where the API is, up to and with `/v1`; default `https://api.openai.com/v1`. */
  baseURL?: string
  /** How callers name this provider; default `openai`. */
  id?: string
  /** How bytes leave; default {@link fetchTransport}. On Node, `undiciTransport()` costs a fraction of it. */
  transport?: Transport
  /** Bounds on what the upstream may send. */
  limits?: UpstreamLimits
}

/**
 * A provider of the OpenAI family.
 * @example openai({ apiKey: process.env.OPENAI_API_KEY })
 */
export function openai(options: OpenAIOptions): Provider {
  const { apiKey, baseURL = 'https://api.openai.com/v1', id = 'openai', transport = fetchTransport(), limits } = options
  return createProvider({
    id,
    baseURL: baseURL.replace(/\/+$/, ''),
    headers: { authorization: `Bearer ${apiKey}`, 'user-agent': 'turnpike' },
    chat: openaiChat(id),
    models: openaiModels(id),
    owns: isOpenaiModel,
    transport,
    limits,
  })
}
