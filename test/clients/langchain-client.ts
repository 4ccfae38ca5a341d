import type { AIMessageChunk, BaseMessage, UsageMetadata } from '@langchain/core/messages'
import { HumanMessage, SystemMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { ChatOpenAI } from '@langchain/openai'
import type { Ask, Client, ClientKind, Mode, Tokens } from './client.js'
import { inputSchema } from './client.js'
import { openaiClient } from './openai-client.js'

const tokens = (usage: UsageMetadata | undefined): Tokens | undefined =>
  usage && { prompt: usage.input_tokens, completion: usage.output_tokens, total: usage.total_tokens }

const messagesOf = ({ system, text, image }: Ask): BaseMessage[] => [
  ...(system === undefined ? [] : [new SystemMessage(system)]),
  image === undefined
    ? new HumanMessage(text)
    : new HumanMessage({
        content: [
          { type: 'text', text },
          { type: 'image_url', image_url: { url: image } },
        ],
      }),
]

function connect({ url, key, maxRetries = 0 }: Parameters<ClientKind['connect']>[0]): Client {
  /** A model is made with what other clients are told with each request. */
  const modelOf = (ask: Ask, onResponse: (response: Response) => void = () => undefined) =>
    new ChatOpenAI({
      model: ask.model ?? 'gpt-4o-mini',
      apiKey: key,
      maxRetries,
      streamUsage: ask.usage ?? false,
      ...(ask.temperature !== undefined && { temperature: ask.temperature }),
      ...(ask.maxTokens !== undefined && { maxTokens: ask.maxTokens }),
      configuration: {
        baseURL: url,
        async fetch(input, init) {
          const response = await fetch(input, init)
          onResponse(response)
          return response
        },
      },
    })

  return {
    async ask(ask: Ask, mode: Mode) {
      // The library itself hands no headers out.
      let requestId: string | undefined
      const model = modelOf(ask, ({ headers }) => (requestId = headers.get('x-request-id') ?? undefined))
      const tools = (ask.tools ?? []).map((one) =>
        tool((input) => one.run(input), { name: one.name, description: 'Answers.', schema: inputSchema(one) }),
      )
      const bound = model.bindTools(tools)
      const messages = messagesOf(ask)
      const pieces: string[] = []

      const next = async (): Promise<AIMessageChunk> => {
        if (!mode.stream) return bound.invoke(messages)
        let whole: AIMessageChunk | undefined
        for await (const chunk of await bound.stream(messages)) {
          whole = whole?.concat(chunk) ?? chunk
          if (chunk.text === '') continue
          pieces.push(chunk.text)
          mode.onText?.(chunk.text)
        }
        return whole!
      }

      let answer = await next()
      while (answer.tool_calls?.length) {
        messages.push(answer)
        for (const call of answer.tool_calls)
          messages.push(await tools.find(({ name }) => name === call.name)!.invoke({ ...call, type: 'tool_call' }))
        answer = await next()
      }
      const { finish_reason, model_name } = answer.response_metadata as Record<string, string>
      return {
        text: answer.text,
        finish: finish_reason!,
        usage: tokens(answer.usage_metadata),
        model: model_name!,
        requestId,
        pieces,
      }
    },
    async extract(ask, schema, { stream }) {
      const model = modelOf(ask).withStructuredOutput(schema, { name: 'answer' })
      if (!stream) return model.invoke(messagesOf(ask))
      let last: unknown
      for await (const value of await model.stream(messagesOf(ask))) last = value
      return last
    },
  }
}

/** It throws the errors of the openai client that it is made upon, with words of its own below theirs. */
export const langchainClient: ClientKind = {
  ...openaiClient,
  name: '@langchain/openai',
  keepsSignatures: false,
  connect,
  describe(error) {
    const failure = openaiClient.describe(error)
    return { ...failure, message: failure.message.split('\n\nTroubleshooting URL: ')[0]! }
  },
}
