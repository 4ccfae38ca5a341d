/** Refusals of parameters, by the vendors' words. */
import type { ChatCompletionRequest, Note, ChatProvider, UpstreamCall } from '@turnpike/core'
import { anthropic, google, openai } from '@turnpike/providers'
import type { Asked, Given } from './upstream.js'
import { scriptedUpstream } from './upstream.js'

export const schema = { type: 'object', properties: { a: { type: 'string' } } }
/** A chat request with all that may be refused. */
export const asking = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  stream: true,
  max_tokens: 5,
  max_completion_tokens: 6,
  temperature: 0.2,
  top_p: 0.5,
  frequency_penalty: 1,
  presence_penalty: 1,
  stop: ['x'],
  seed: 7,
  logprobs: true,
  verbosity: 'low',
  reasoning_effort: 'minimal',
  service_tier: 'flex',
  user: 'u',
  store: true,
  tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: schema } }],
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
} as unknown as ChatCompletionRequest

/** OpenAI's body for a message. */
export const openaiError = (message: string, param: string | null = null, code: string | null = null) =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } })
export const googleError = (message: string) =>
  JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } })
export const claudeError = (message: string) =>
  JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })
export const extra = (...loc: (string | number)[]) => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
  input: true,
})

export type Body = Record<string, unknown>

export const messages: ChatCompletionRequest['messages'] = [{ role: 'user', content: 'Hi' }]
const events = (...data: string[]): string => data.map((one) => `data: ${one}\n\n`).join('')

export const refusedBy = {
  openai: (field: string): Given => ({
    status: 400,
    body: {
      error: {
        message: `Unsupported parameter: '${field}' is not supported with this model.`,
        param: field,
        code: 'unsupported_parameter',
      },
    },
  }),
  google: (field: string): Given => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message: `Invalid JSON payload received. Unknown name "${field}" at 'generation_config': Cannot find field.`,
        status: 'INVALID_ARGUMENT',
      },
    },
  }),
  anthropic: (field: string): Given => ({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: `${field}: Extra inputs are not permitted` },
    },
  }),
}

export const good = {
  openai: (stream: boolean): Given =>
    stream
      ? {
          type: 'text/event-stream',
          body: events('{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}', '[DONE]'),
        }
      : { body: { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] } },
  google: (stream: boolean): Given => {
    const body = { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] }
    return stream ? { type: 'text/event-stream', body: events(JSON.stringify(body)) } : { body }
  },
  anthropic: (stream: boolean): Given =>
    stream
      ? {
          type: 'text/event-stream',
          body: events(
            '{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}',
            '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}',
            '{"type":"content_block_stop","index":0}',
            '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
            '{"type":"message_stop"}',
          ),
        }
      : {
          body: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' },
        },
}

const make = { openai, google, anthropic }
export type Family = keyof typeof make
export const models: Record<Family, string> = {
  openai: 'my-model',
  google: 'gemini-2.5-flash',
  anthropic: 'claude-haiku-4-5',
}

/** An upstream that refuses what `refuse` finds in a request, and answers all others. */
export function upstream(family: Family, refuse: (body: Body, asked: Asked) => Given | undefined) {
  const at = scriptedUpstream((asked) => {
    const body = asked.body as Body
    const stream = body['stream'] === true || asked.url.includes('streamGenerateContent')
    // An endless repetition would hang the test.
    return (at.asked.length < 20 ? refuse(body, asked) : undefined) ?? good[family](stream)
  })
  const provider: ChatProvider = make[family]({
    apiKey: 'sk-test',
    transport: at.transport,
    baseURL: 'https://upstream.example/v1',
  })
  const repeats = { count: 0 }
  /** Asks once. @returns what was noted last, and how many requests it took */
  const ask = async (fields: object = {}): Promise<{ calls: number; notes: string[]; sent: Body }> => {
    const before = at.asked.length
    let noted: Note[] = []
    const call: UpstreamCall = {
      ...at.call,
      onNotes: (notes) => void (noted = notes),
      onRepeat: () => void repeats.count++,
    }
    const request = { model: models[family], messages, ...fields } as ChatCompletionRequest
    if (request.stream) for await (const _ of (await provider.chat.stream(request, call)).batches);
    else await provider.chat.complete(request, call)
    return {
      calls: at.asked.length - before,
      notes: noted.map(({ field, action }) => `${action}=${field}`),
      sent: at.asked.at(-1)!.body as Body,
    }
  }
  const learnt = () => provider.learnt!().map(({ model, field }) => `${model}: ${field}`)
  return { ...at, provider, ask, learnt, repeats }
}
