import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from 'openai'
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { Answer, Ask, ClientKind, Mode, Tokens, Tool } from './client.js'

const tokens = (usage: OpenAI.CompletionUsage | null | undefined): Tokens | undefined =>
  usage ? { prompt: usage.prompt_tokens, completion: usage.completion_tokens, total: usage.total_tokens } : undefined

const parameters = (ask: Ask): Omit<ChatCompletionCreateParams, 'stream'> => ({
  model: ask.model ?? 'gpt-4o-mini',
  messages: [
    ...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]),
    { role: 'user', content: ask.text },
  ],
  ...(ask.temperature !== undefined && { temperature: ask.temperature }),
  ...(ask.maxTokens !== undefined && { max_tokens: ask.maxTokens }),
})

async function create(client: OpenAI, ask: Ask): Promise<Answer> {
  const { data, request_id } = await client.chat.completions.create(parameters(ask)).withResponse()
  const [choice] = data.choices
  return {
    text: choice!.message.content!,
    finish: choice!.finish_reason,
    usage: tokens(data.usage),
    model: data.model,
    requestId: request_id ?? undefined,
    pieces: [],
  }
}

async function stream(client: OpenAI, ask: Ask, onText: (piece: string) => void): Promise<Answer> {
  const { data, request_id } = await client.chat.completions
    .create({ ...parameters(ask), stream: true, ...(ask.usage && { stream_options: { include_usage: true } }) })
    .withResponse()
  const answer: Answer = { text: '', finish: '', usage: undefined, model: '', requestId: undefined, pieces: [] }
  for await (const { choices, usage, model } of data) {
    const text = choices[0]?.delta.content
    if (text) {
      answer.pieces.push(text)
      onText(text)
    }
    answer.finish = choices[0]?.finish_reason ?? answer.finish
    answer.usage ??= tokens(usage)
    answer.model = model
  }
  return { ...answer, text: answer.pieces.join(''), requestId: request_id ?? undefined }
}

/** The client's own loop over tool calls. */
async function runTools(client: OpenAI, ask: Ask, tool: Tool, mode: Mode): Promise<Answer> {
  const body = {
    ...parameters(ask),
    tools: [
      {
        type: 'function' as const,
        function: {
          name: tool.name,
          description: 'Answers.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
          parse: (text: string) => JSON.parse(text) as { city: string },
          function: (input: { city: string }) => tool.run(input),
        },
      },
    ],
  }
  const pieces: string[] = []
  const runner = mode.stream
    ? client.chat.completions.runTools({ ...body, stream: true }).on('content', (delta) => pieces.push(delta))
    : client.chat.completions.runTools(body)
  const last = await runner.finalChatCompletion()
  return {
    text: last.choices[0]!.message.content!,
    finish: last.choices[0]!.finish_reason,
    usage: tokens(last.usage),
    model: last.model,
    requestId: undefined,
    pieces,
  }
}

const classes = new Map<number, ReturnType<ClientKind['errorClass']>>([
  [400, BadRequestError],
  [401, AuthenticationError],
  [404, NotFoundError],
  [429, RateLimitError],
  [500, InternalServerError],
  [502, InternalServerError],
])

export const openaiClient: ClientKind = {
  name: 'openai',
  alwaysUsage: false,
  connect({ url, key, maxRetries = 0 }) {
    const client = new OpenAI({ baseURL: url, apiKey: key, maxRetries })
    return {
      ask(ask, mode) {
        if (ask.tool) return runTools(client, ask, ask.tool, mode)
        return mode.stream ? stream(client, ask, mode.onText ?? (() => undefined)) : create(client, ask)
      },
    }
  },
  errorClass: (status) => classes.get(status)!,
  describe(error) {
    if (!(error instanceof APIError)) throw error
    const { status, type, code, message, requestID, headers } = error
    return {
      status,
      type,
      code: code ?? undefined,
      // The client puts the status before the gateway's own words.
      message: message.replace(`${status} `, ''),
      requestId: requestID ?? undefined,
      header: (name) => (headers as Headers | undefined)?.get(name) ?? undefined,
    }
  },
  describeBreak(error) {
    if (!(error instanceof APIError)) throw error
    return { message: error.message, code: error.code }
  },
}
