/** The Anthropic family: the Messages API of api.anthropic.com and of compatible servers. @module */
import type { ChatProvider } from '@turnpike/core'
import type { ChatAdapter } from '../adapter.js'
import type { FamilyOptions } from '../family.js'
import { familyProvider } from '../family.js'
import { named } from '../models/named.js'
import { toUsage } from './answer.js'
import { errors } from './errors.js'
import { anthropicCatalogue, isAnthropicModel } from './models.js'
import { toRequest } from './request.js'
import type { Message } from './response.js'
import { toResponse } from './response.js'
import { streamDecoder } from './stream.js'

/** Options of {@link anthropic}. */
export interface AnthropicOptions extends FamilyOptions {
  /** The base URL of the API, without `/v1`; default `https://api.anthropic.com`. */
  baseURL?: string | undefined
  /**
   * The maximum output tokens of a model that the adapter does not know, as a public table tells them; default that of the newest
   * known model for newer ones, else 4,096.
   */
  maxOutput?: (model: string) => number | undefined
}

/**
 * The adapter between Chat Completions and the Messages API.
 * @param maxOutput see {@link AnthropicOptions}
 * @param ownOutput the maximum output tokens of a model, known or not, as the configuration says
 * @example const adapter = anthropicChat('mine')
 */
export const anthropicChat = (
  provider: string,
  maxOutput?: AnthropicOptions['maxOutput'],
  ownOutput?: AnthropicOptions['maxOutput'],
): ChatAdapter => ({
  oneChoice: true,
  request: (request) => toRequest(request, maxOutput?.(request.model), ownOutput?.(request.model)),
  response: (body, request) => toResponse(provider, body as Message, request),
  usage: ({ usage }: Message) => (usage ? toUsage(usage) : undefined),
  stream: (request) => streamDecoder(provider, request),
  errors,
})

const family = {
  id: 'anthropic',
  baseURL: 'https://api.anthropic.com',
  options: { maxOutput: false } as const,
  credential: (apiKey: string) => ({ 'x-api-key': apiKey }),
  headers: { 'anthropic-version': '2023-06-01' },
  catalogue: anthropicCatalogue,
  modelsPath: '/v1/models?limit=1000',
  owns: isAnthropicModel,
}

/**
 * Creates a provider of the Anthropic family.
 * @example anthropic({ apiKey: process.env.ANTHROPIC_API_KEY })
 */
export const anthropic = (options: AnthropicOptions): ChatProvider =>
  familyProvider(
    {
      ...family,
      chat: (provider, names) => named(anthropicChat(provider, options.maxOutput, names.ownOutput), names),
    },
    options,
  )
