import { ApiError } from '@turnpike/core'
import type { Head, Reply } from '@turnpike/http'
import { localExchange } from '@turnpike/http'
import type { UserGateway } from '../browser-gateway.js'
import { noModel } from '../errors.js'
import type { ReplyChunk, ReplyRequest, Responder } from './responder.js'

/** The chunks of a streamed answer of the gateway, whose pieces are whole events. @throws ApiError for an error event */
async function* chunksOf(body: Promise<AsyncIterable<string>>): AsyncGenerator<ReplyChunk> {
  for await (const piece of await body)
    for (const event of piece.split('\n\n')) {
      if (!event.startsWith('data: {')) continue
      const chunk = JSON.parse(event.slice('data: '.length)) as ReplyChunk | { error: { message: string } | null }
      if ('error' in chunk && chunk.error)
        throw new ApiError(502, 'upstream_error', chunk.error.message, { code: 'upstream_error' })
      yield chunk as ReplyChunk
    }
}

/** The error that the gateway answered, as one of the platform. */
function errorOf({ status, headers, body }: Reply): ApiError {
  const { error } = JSON.parse(body as string) as { error: Pick<ApiError, 'type' | 'code' | 'message'> }
  const retryAfter = headers['retry-after']
  return new ApiError(status, error.type, error.message, {
    code: error.code,
    ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
    ...(headers['x-should-retry'] === 'false' && { shouldRetry: false }),
  })
}

/** Whether another model may do what one did not: it was not there or not able to, and has not been paid for. */
const mayTryNext = ({ status, code, shouldRetry }: ApiError): boolean =>
  (status >= 500 || status === 429 || code === 'model_not_found') && shouldRetry !== false

/**
 * Replies by a gateway in the same process, without HTTP between them: a chat completion of the user, streamed, and tagged with the project and the
 * conversation. Of several models, the next is tried where one fails before its first chunk and nothing was paid.
 * @param options.models the models for agents without one of their own, such as `() => router.agentModels()`
 * @example createPlatform({ kv, gateway, identity, responder: gatewayResponder(gateway, { models: () => router.agentModels() }) })
 */
export function gatewayResponder(
  gateway: UserGateway,
  { models }: { models: () => Promise<readonly string[]> },
): Responder {
  const userIds = new WeakMap<Head, string>()
  const { handle } = gateway.as({ authenticate: (head) => ({ userId: userIds.get(head)!, via: 'custom' }) })

  const ask = async (
    model: string,
    { user, project, conversation_id, messages, signal }: ReplyRequest,
  ): Promise<Reply> => {
    const exchange = localExchange({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {
        'content-type': 'application/json',
        'x-project-id': project.id,
        'x-conversation-id': conversation_id,
        // The usage of the last chunk has its cost then.
        'x-gateway-explain': 'true',
      },
      body: JSON.stringify({ model, messages, stream: true, stream_options: { include_usage: true } }),
      signal,
    })
    userIds.set(exchange, user.id)
    return (await handle(exchange))!
  }

  const begin = async (request: ReplyRequest): Promise<AsyncIterable<string>> => {
    let refusal = noModel()
    for (const model of [...request.models, ...(await models())]) {
      const reply = await ask(model, request)
      if (reply.status === 200) return reply.body as AsyncIterable<string>
      refusal = errorOf(reply)
      if (!mayTryNext(refusal)) break
    }
    throw refusal
  }
  // The request, whose messages may be megabytes, is not kept while its reply is read.
  return (request) => chunksOf(begin(request))
}
