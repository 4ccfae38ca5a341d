import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** A server that answers as Ollama does at `/v1`, without a key. Of its models, qwen3 has tools, and calls them in whole answers. */
export interface FakeOllama {
  /** Its base URL, with `/v1`. */
  url: string
  /** The models that it has; change them as `ollama pull` does. */
  models: string[]
  /** What it was asked: the method, the path and, of a request, the model. */
  asked: string[]
  /** The credentials that it was sent. */
  credentials: string[]
  /** Breaks the list, until it is unset: it hangs, or has this status. */
  fault: 'silent' | number | undefined
  close(): Promise<void>
}

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  let text = ''
  for await (const piece of request) text += String(piece)
  return JSON.parse(text) as Record<string, unknown>
}

/** Starts it, at a free port or at that of one that was closed. */
export async function startOllama(given: string[], port = 0): Promise<FakeOllama> {
  const send = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const fail = (response: ServerResponse, status: number, type: string, message: string): void =>
    send(response, status, { error: { message, type, param: null, code: null } })

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url } = request
    if (request.headers.authorization !== undefined) at.credentials.push(request.headers.authorization)
    if (method === 'GET' && url === '/v1/models') {
      at.asked.push('GET /v1/models')
      if (at.fault === 'silent') return
      if (at.fault !== undefined) return fail(response, at.fault, 'api_error', 'no list')
      const data = at.models.map((id) => ({ id, object: 'model', created: 1_764_000_000, owned_by: 'library' }))
      return send(response, 200, { object: 'list', data: data.length > 0 ? data : null })
    }
    if (method !== 'POST') return fail(response, 404, 'not_found_error', '404 page not found')
    const body = await bodyOf(request)
    const model = String(body['model'])
    at.asked.push(`POST ${url} ${model}`)
    // A name without a tag is that with `latest`.
    const full = model.includes(':') ? model : `${model}:latest`
    if (!at.models.includes(full)) return fail(response, 404, 'not_found_error', `model '${model}' not found`)
    const isEmbedding = full.includes('embed')
    if (url === '/v1/embeddings')
      return send(response, 200, {
        object: 'list',
        model,
        data: [{ object: 'embedding', index: 0, embedding: [0.6, -0.8] }],
        usage: { prompt_tokens: 2, total_tokens: 2 },
      })
    if (isEmbedding) return fail(response, 400, 'invalid_request_error', `"${model}" does not support chat`)
    const [tool] = (body['tools'] ?? []) as { function: { name: string } }[]
    if (tool && !full.startsWith('qwen3:'))
      return fail(response, 400, 'invalid_request_error', `${model} does not support tools`)
    const head = { id: 'chatcmpl-7', created: 1_764_000_001, model, system_fingerprint: 'fp_ollama' }
    const called = tool && [
      { id: 'call_7', index: 0, type: 'function', function: { name: tool.function.name, arguments: '{}' } },
    ]
    const message = {
      role: 'assistant',
      content: called ? '' : `I am ${model}.`,
      ...(called && { tool_calls: called }),
    }
    if (body['stream'] !== true)
      return send(response, 200, {
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: called ? 'tool_calls' : 'stop' }],
        usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const event = (choices: object[], more: object = {}) =>
      response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`)
    event([{ index: 0, delta: { role: 'assistant', content: 'I am ' }, finish_reason: null }])
    event([{ index: 0, delta: { role: 'assistant', content: `${model}.` }, finish_reason: null }])
    event([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: 'stop' }])
    event([], { usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } })
    response.end('data: [DONE]\n\n')
  }

  const server = createServer((request, response) => void answer(request, response))
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const at: FakeOllama = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    models: given,
    asked: [],
    credentials: [],
    fault: undefined,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return at
}
