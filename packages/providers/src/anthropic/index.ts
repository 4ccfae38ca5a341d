/** The Anthropic family: the Messages API of api.anthropic.com and of servers that speak it. @module */
import type { Provider } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { UpstreamLimits } from '../provider.js'
import { createProvider } from '../provider.js'
import type { Transport } from '../transport.js'
import { fetchTransport } from '../transport.js'
import { errors } from './errors.js'
import { anthropicModels, isAnthropicModel } from './models.js'
import { toRequest } from './request.js'
import type { Message } from './response.js'
import { toResponse } from './response.js'
import { streamDecoder } from './stream.js'

export interface AnthropicOptions {
  apiKey: string
  /** Where the API is, without `/v1`; default `https://api.anthropic.com`. */
  baseURL?: string
  /** How callers name this provider; default `anthropic`. */
  id?: string
  /** How bytes leave; default {@link fetchTransport}. On Node, `undiciTransport()` costs a fraction of it. */
  transport?: Transport
  /** Bounds on what the upstream may send. */
  limits?: UpstreamLimits
}

/** Chat Completions as Messages, and back. */
export const anthropicChat = (provider: string): ChatAdapter => ({
  oneChoice: true,
  request: toRequest,
  response: (body, request) => toResponse(provider, body as Message, request),
  stream: (request) => streamDecoder(provider, request),
  errors,
})

/**
 * A provider of the Anthropic family.
 * @example anthropic({ apiKey: process.env.ANTHROPIC_API_KEY })
 */
export function anthropic(options: AnthropicOptions): Provider {
  const {
    apiKey,
    baseURL = 'https://api.anthropic.com',
    id = 'anthropic',
    transport = fetchTransport(),
    limits,
  } = options
  return createProvider({
    id,
    baseURL: baseURL.replace(/\/+$/, ''),
    headers: { 'x-api-key': apiKey, 'anthropic-version': '2023-06-01', 'user-agent': 'turnpike' },
    chat: anthropicChat(id),
    models: anthropicModels(id),
    owns: isAnthropicModel,
    transport,
    limits,
  })
}
