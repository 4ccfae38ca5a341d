import { openaiRefusal } from '@turnpike/providers/testing'
import type { Asked, Call, Events, Family, Json, Part, Reply, Turn } from './family.js'
import { event, finishOf, fragmentsOf, imageOf, joinTurns, parseJson, usageOf } from './family.js'

const head = { id: 'chatcmpl-scripted', created: 1_770_000_000, model: 'gpt-4o-2024-08-06' }

interface Message {
  role: string
  content?: string | Json[] | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}

interface Body {
  messages?: Message[]
  tools?: { function?: { name: string; description?: string; parameters?: unknown } }[] | null
  tool_choice?: string | { function?: { name: string } } | null
  max_tokens?: unknown
  max_completion_tokens?: unknown
  temperature?: unknown
  top_p?: unknown
  stop?: string | string[] | null
  stream?: boolean | null
  stream_options?: { include_usage?: boolean } | null
  n?: number | null
}

const partsOf = (content: Message['content']): Part[] =>
  typeof content === 'string'
    ? content === ''
      ? []
      : [{ text: content }]
    : (content ?? []).map((part) =>
        typeof part['text'] === 'string'
          ? { text: part['text'] }
          : part['type'] === 'image_url'
            ? imageOf((part['image_url'] as { url: string }).url)
            : { other: part },
      )

const textOf = (content: Message['content']): string =>
  partsOf(content)
    .map((part) => ('text' in part ? part.text : ''))
    .join('')

function read(body: Body): Asked {
  const names = new Map<string | undefined, string>()
  const { messages = [] } = body
  const turns = messages
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map(({ role, content, tool_calls = [], tool_call_id }): Turn => {
      if (role === 'tool')
        return { role: 'user', parts: [{ result: { name: names.get(tool_call_id), text: textOf(content) } }] }
      const calls = tool_calls.map(({ id, function: { name, arguments: args } }): Part => {
        names.set(id, name)
        return { call: { id, name, args: parseJson(args) ?? args } }
      })
      return { role: role === 'assistant' ? 'assistant' : 'user', parts: [...partsOf(content), ...calls] }
    })
  const { tool_choice: choice, stop } = body
  return {
    system: messages
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => textOf(content))
      .join('\n'),
    turns: joinTurns(turns),
    tools: (body.tools ?? []).map(({ function: tool }) => ({
      name: tool?.name ?? '',
      description: tool?.description,
      schema: tool?.parameters,
    })),
    choice: typeof choice === 'object' ? choice?.function : (choice as Asked['choice']),
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    stop: typeof stop === 'string' ? [stop] : (stop ?? undefined),
    stream: body.stream ?? false,
    n: body.n ?? 1,
  }
}

const idOf = ({ id }: Call, i: number): string => id ?? `call_scripted${i}`

const usage = (reply: Reply): Json => {
  const { prompt, completion, cached, reasoning } = usageOf(reply)
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  }
}

function body(reply: Reply, n: number): Json {
  const { texts = [], calls = [] } = reply
  const message = {
    role: 'assistant',
    content: texts.length > 0 ? texts.join('') : null,
    refusal: null,
    ...(calls.length > 0 && {
      tool_calls: calls.map((call, i) => ({
        id: idOf(call, i),
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.args) },
      })),
    }),
  }
  const choices = Array.from({ length: n }, (_, index) => ({
    index,
    message,
    logprobs: null,
    finish_reason: finishOf(reply),
  }))
  return { ...head, object: 'chat.completion', choices, usage: usage(reply) }
}

/** A chunk of the stream. */
export const openaiChunk = (delta: object, finish_reason: string | null = null): string =>
  event({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason }] })

function events(reply: Reply, withUsage: boolean): Events {
  const { texts = [], calls = [] } = reply
  const ofCalls = calls.flatMap((call, index) => {
    const start = { index, id: idOf(call, index), type: 'function', function: { name: call.name, arguments: '' } }
    const text = JSON.stringify(call.args)
    const fragments = fragmentsOf(text)
    return [
      openaiChunk({ tool_calls: [start] }),
      ...fragments.map((fragment) => openaiChunk({ tool_calls: [{ index, function: { arguments: fragment } }] })),
    ]
  })
  const counted = event({ ...head, object: 'chat.completion.chunk', choices: [], usage: usage(reply) })
  return {
    begin: [
      openaiChunk({ role: 'assistant', content: calls.length > 0 ? null : '' }),
      ...texts.map((content) => openaiChunk({ content })),
      ...ofCalls,
    ],
    end: [openaiChunk({}, finishOf(reply)), ...(withUsage ? [counted] : []), 'data: [DONE]\n\n'],
  }
}

const types: Record<number, [type: string, code: string | null]> = {
  400: ['invalid_request_error', null],
  401: ['invalid_request_error', 'invalid_api_key'],
  404: ['invalid_request_error', 'model_not_found'],
  429: ['requests', 'rate_limit_exceeded'],
}

const error = (status: number, message: string): Json => {
  const [type, code] = types[status] ?? ['server_error', null]
  return { error: { message, type, param: null, code } }
}

export const openai: Family = {
  name: 'openai',
  title: 'OpenAI',
  model: 'gpt-4o',
  path: /\/(chat\/completions|embeddings|images\/generations)$/,
  credential: ({ headers }) => /^Bearer (\S+)$/i.exec(headers['authorization'] ?? '')?.[1],
  refusal: ({ path, body }) => (path.endsWith('/chat/completions') ? openaiRefusal(body)?.message : undefined),
  read: ({ body }) => read(body as unknown as Body),
  body: (reply, { asked }) => body(reply, asked.n),
  events: (reply, sent) => events(reply, (sent.body as unknown as Body).stream_options?.include_usage === true),
  error,
  errorEvent: (status, message) => event(error(status, message)),
  models: {
    object: 'list',
    data: [{ id: 'gpt-4o', object: 'model', created: 1_715_367_049, owned_by: 'system' }],
  },
}
