import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import type { LanguageModel, LanguageModelUsage } from 'ai'
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from 'ai'
import type { Answer, Ask, Client, ClientKind, Mode, Tokens } from './client.js'
import { inputSchema } from './client.js'

type Model = (id: string, usage: boolean) => LanguageModel

const tokens = ({ inputTokens, outputTokens, totalTokens }: LanguageModelUsage): Tokens | undefined =>
  inputTokens === undefined
    ? undefined
    : { prompt: inputTokens, completion: outputTokens ?? NaN, total: totalTokens ?? NaN }

const parameters = (ask: Ask, model: Model, maxRetries: number) => ({
  model: model(ask.model ?? 'gpt-4o-mini', ask.usage ?? false),
  messages: [
    {
      role: 'user' as const,
      content: [
        { type: 'text' as const, text: ask.text },
        ...(ask.image === undefined ? [] : [{ type: 'image' as const, image: ask.image }]),
      ],
    },
  ],
  maxRetries,
  ...(ask.system !== undefined && { system: ask.system }),
  ...(ask.temperature !== undefined && { temperature: ask.temperature }),
  ...(ask.maxTokens !== undefined && { maxOutputTokens: ask.maxTokens }),
  ...(ask.tools && {
    tools: Object.fromEntries(
      ask.tools.map((one) => [
        one.name,
        tool({
          description: 'Answers.',
          inputSchema: inputSchema(one),
          execute: async (input) => one.run(input),
        }),
      ]),
    ),
    stopWhen: stepCountIs(3),
  }),
})

async function generate(options: ReturnType<typeof parameters>): Promise<Answer> {
  const { text, finishReason, usage, response } = await generateText(options)
  const { modelId, headers } = response
  return {
    text,
    finish: finishReason,
    usage: tokens(usage),
    model: modelId,
    requestId: headers?.['x-request-id'],
    pieces: [],
  }
}

async function stream(options: ReturnType<typeof parameters>, onText: (piece: string) => void): Promise<Answer> {
  const result = streamText({ ...options, onError: () => undefined })
  const pieces: string[] = []
  for await (const part of result.fullStream) {
    if (part.type === 'error') throw part.error
    if (part.type !== 'text-delta') continue
    pieces.push(part.text)
    onText(part.text)
  }
  const { modelId, headers } = await result.response
  return {
    text: await result.text,
    finish: await result.finishReason,
    usage: tokens(await result.usage),
    model: modelId,
    requestId: headers?.['x-request-id'],
    pieces,
  }
}

const connect = (model: Model, maxRetries: number): Client => ({
  ask: (ask: Ask, mode: Mode) => {
    const options = parameters(ask, model, maxRetries)
    return mode.stream ? stream(options, mode.onText ?? (() => undefined)) : generate(options)
  },
  async extract(ask, schema, { stream }) {
    const options = { ...parameters(ask, model, maxRetries), output: Output.object({ schema }) }
    return stream ? streamText(options).output : (await generateText(options)).output
  },
})

interface Body {
  error?: { type?: string; code?: string }
}

const common: Pick<ClientKind, 'errorClass' | 'describe' | 'describeBreak'> = {
  errorClass: () => APICallError,
  describe(error) {
    if (!APICallError.isInstance(error)) throw error
    const { statusCode, message, responseHeaders, responseBody } = error
    const { type, code } = (JSON.parse(responseBody ?? '{}') as Body).error ?? {}
    const header = (name: string): string | undefined => responseHeaders?.[name]
    return { status: statusCode, type, code, message, requestId: header('x-request-id'), header }
  },
  // The error event's own object: these clients wrap it in no class.
  describeBreak(error) {
    const { message, code } = error as { message: string; code?: unknown }
    return { message, code }
  },
}

export const aiCompatibleClient: ClientKind = {
  ...common,
  name: 'ai with @ai-sdk/openai-compatible',
  alwaysUsage: false,
  keepsSignatures: true,
  connect: ({ url, key, maxRetries = 0 }) =>
    connect(
      (id, includeUsage) =>
        createOpenAICompatible({
          // Under any other name it does not send Gemini's signatures back.
          name: 'google',
          baseURL: url,
          apiKey: key,
          includeUsage,
          supportsStructuredOutputs: true,
        }).chatModel(id),
      maxRetries,
    ),
}

export const aiOpenaiClient: ClientKind = {
  ...common,
  name: 'ai with @ai-sdk/openai',
  alwaysUsage: true,
  keepsSignatures: false,
  connect: ({ url, key, maxRetries = 0 }) =>
    connect((id) => createOpenAI({ baseURL: url, apiKey: key }).chat(id), maxRetries),
}
