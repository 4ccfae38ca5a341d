import { extend } from '@turnpike/core/helpers'
import type { ChatAdapter } from '../adapter.js'

/**
 * Combines the adapters of two families that one provider serves, each with its own models. An answer that does not tell by itself whose it is goes
 * by the model of its request.
 * @param of the adapter of a model
 * @param shared what the provider has in common for both
 */
export const byModel = (
  of: (model: string) => ChatAdapter,
  shared: Pick<ChatAdapter, 'errors' | 'usage'>,
): ChatAdapter => ({
  ...shared,
  oneChoice: true,
  prepare: async (request, call) => of(request.model).prepare?.(request, call) ?? request,
  request: (request, refused) => of(request.model).request(request, refused),
  response: (body, request) => of(request.model).response(body, request),
  stream: (request) => of(request.model).stream(request),
})

/** The body of a request of the Messages API where the model and whether it streams are told by the path, and the version by the body. */
export const inPath = (body: object, anthropic_version: string): object =>
  extend(body, { anthropic_version, model: undefined })
