import type OpenAI from 'openai'
import * as openai6 from 'openai'
import * as openai4 from 'openai-4'
import { makeParseableResponseFormat } from 'openai-4/lib/parser'
import { zodResponseFormat } from 'openai/helpers/zod'
import type { ChatCompletionCreateParams } from 'openai/resources/chat/completions'
import type { ResponseFormatJSONSchema } from 'openai/resources/shared'
import { z } from 'zod'
import type { Answer, Ask, ClientKind, Mode, Tokens, Tool } from './client.js'

/** The calls on chat completions, and the helpers that stand upon them. */
type Chat = OpenAI['chat']['completions']

const tokens = (usage: OpenAI.CompletionUsage | null | undefined): Tokens | undefined =>
  usage ? { prompt: usage.prompt_tokens, completion: usage.completion_tokens, total: usage.total_tokens } : undefined

const parameters = (ask: Ask): Omit<ChatCompletionCreateParams, 'stream'> => ({
  model: ask.model ?? 'gpt-4o-mini',
  messages: [
    ...(ask.system === undefined ? [] : [{ role: 'system' as const, content: ask.system }]),
    {
      role: 'user',
      content:
        ask.image === undefined
          ? ask.text
          : [
              { type: 'text', text: ask.text },
              { type: 'image_url', image_url: { url: ask.image } },
            ],
    },
  ],
  ...(ask.temperature !== undefined && { temperature: ask.temperature }),
  ...(ask.maxTokens !== undefined && { max_tokens: ask.maxTokens }),
})

async function create(chat: Chat, ask: Ask): Promise<Answer> {
  const { data, request_id } = await chat.create(parameters(ask)).withResponse()
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

async function stream(chat: Chat, ask: Ask, onText: (piece: string) => void): Promise<Answer> {
  const { data, request_id } = await chat
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
async function runTools(helpers: Chat, ask: Ask, tools: Tool[], mode: Mode): Promise<Answer> {
  const body = {
    ...parameters(ask),
    tools: tools.map((tool) => ({
      type: 'function' as const,
      function: {
        name: tool.name,
        description: 'Answers.',
        parameters: {
          type: 'object',
          properties: Object.fromEntries(tool.inputs.map((name) => [name, { type: 'string' }])),
          required: tool.inputs,
        },
        parse: (text: string) => JSON.parse(text) as Record<string, string>,
        function: (input: Record<string, string>) => tool.run(input),
      },
    })),
  }
  const pieces: string[] = []
  const runner = mode.stream
    ? helpers.runTools({ ...body, stream: true }).on('content', (delta) => pieces.push(delta))
    : helpers.runTools(body)
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

interface Version {
  name: string
  /** Typed as the newer one: both have the same calls. */
  library: typeof openai6
  /** Where the helpers are. */
  helpers(client: OpenAI): Chat
  format(schema: z.ZodType): ResponseFormatJSONSchema
  keepsSignatures: boolean
}

function kind({ name, library, helpers, format, keepsSignatures }: Version): ClientKind {
  const { default: Client, APIError } = library
  const classes = new Map<number, ReturnType<ClientKind['errorClass']>>([
    [400, library.BadRequestError],
    [401, library.AuthenticationError],
    [404, library.NotFoundError],
    [429, library.RateLimitError],
    [500, library.InternalServerError],
    [502, library.InternalServerError],
    [503, library.InternalServerError],
  ])
  return {
    name,
    alwaysUsage: false,
    keepsSignatures,
    connect({ url, key, maxRetries = 0 }) {
      const client = new Client({ baseURL: url, apiKey: key, maxRetries })
      const chat = client.chat.completions
      return {
        ask(ask, mode) {
          if (ask.tools) return runTools(helpers(client), ask, ask.tools, mode)
          return mode.stream ? stream(chat, ask, mode.onText ?? (() => undefined)) : create(chat, ask)
        },
        async extract(ask, schema, mode) {
          const body = { ...parameters(ask), response_format: format(schema) }
          const { choices } = mode.stream
            ? await helpers(client)
                .stream({ ...body, stream: true })
                .finalChatCompletion()
            : await helpers(client).parse(body)
          return choices[0]!.message.parsed
        },
      }
    },
    errorClass: (status) => classes.get(status)!,
    describe(error) {
      if (!(error instanceof APIError)) throw error
      const { status, type, code, message, requestID, headers } = error
      const { request_id = requestID } = error as { request_id?: string }
      return {
        status,
        type,
        code: code ?? undefined,
        // The client puts the status before the gateway's own words.
        message: message.replace(`${status} `, ''),
        requestId: request_id ?? undefined,
        header: (name) => new Headers(headers).get(name) ?? undefined,
      }
    },
    describeBreak(error) {
      if (!(error instanceof APIError)) throw error
      return { message: error.message, code: error.code }
    },
  }
}

export const openaiClient = kind({
  name: 'openai',
  library: openai6,
  helpers: (client) => client.chat.completions,
  format: (schema) => zodResponseFormat(schema, 'answer'),
  keepsSignatures: false,
})

export const openai4Client = kind({
  name: 'openai 4',
  library: openai4 as unknown as typeof openai6,
  helpers: (client) => (client.beta as unknown as OpenAI).chat.completions,
  // Its helper takes schemas of zod 3 only; this is what it does with them.
  format: (schema) =>
    makeParseableResponseFormat(
      { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: z.toJSONSchema(schema) } },
      (content) => schema.parse(JSON.parse(content)),
    ),
  keepsSignatures: true,
})
