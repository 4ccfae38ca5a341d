import type { ChatChunk, ChatCompletion, ChatCompletionRequest, ChatProvider, ToolCall, Usage } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { toChunks } from '@turnpike/providers'
import { expect } from 'vitest'
import type { Facts } from './families.js'

/** Answers with these pieces; an error among them breaks the connection. */
export const answering =
  (pieces: Iterable<Uint8Array | Error>, type = 'text/event-stream', status = 200): Transport =>
  async () => ({
    status,
    header: (name) => (name === 'content-type' ? type : undefined),
    body: (async function* () {
      for (const piece of pieces)
        if (piece instanceof Error) throw piece
        else yield piece
    })(),
  })

const { signal } = new AbortController()
const ask = (model: string): ChatCompletionRequest => ({ model, messages: [{ role: 'user', content: 'Hi' }] })

/** A whole answer. */
export const complete = (provider: ChatProvider, model: string) =>
  provider.chat.complete(ask(model), { signal }) as Promise<ChatCompletion>

/** The chunks of a stream, and why it failed if it did. */
export async function collect(
  provider: ChatProvider,
  model: string,
): Promise<{ chunks: ChatChunk[]; error?: unknown }> {
  const chunks: ChatChunk[] = []
  try {
    for await (const chunk of toChunks(await provider.chat.stream({ ...ask(model), stream: true }, { signal })))
      chunks.push(chunk)
    return { chunks }
  } catch (error) {
    return { chunks, error }
  }
}

/** Chunks as text, but for the time of their making and made-up ids. */
export const plain = (chunks: ChatChunk[]): string =>
  chunks
    .map((chunk) => `${JSON.stringify({ ...chunk, created: 0 }).replace(/call_\w{24}(?=")/, 'call_new')}\n`)
    .join('')

/** What a client reads in a whole answer. */
export function factsOf({ choices, usage }: ChatCompletion): Facts {
  expect(choices.map(({ index }) => index)).toEqual([0])
  const [{ message, finish_reason }] = choices as [ChatCompletion['choices'][0]]
  const { prompt_tokens_details, completion_tokens_details } = usage as Usage & Record<string, Record<string, number>>
  return {
    content: message.content ?? '',
    reasoning: (message['reasoning_content'] as string | undefined) ?? '',
    refusal: (message['refusal'] as string | null | undefined) ?? null,
    calls: ((message.tool_calls ?? []) as ToolCall[]).map(({ id, function: call, extra_content }) => ({
      id: id.replace(/^call_\w{24}$/, 'call_new'),
      name: call.name,
      arguments: JSON.parse(call.arguments) as unknown,
      extra: extra_content,
    })),
    finish: finish_reason,
    usage: {
      prompt: usage.prompt_tokens,
      completion: usage.completion_tokens,
      total: usage.total_tokens,
      cached: prompt_tokens_details!['cached_tokens']!,
      reasoning: completion_tokens_details!['reasoning_tokens']!,
    },
  }
}

/** The whole answer that a client makes of the chunks of a stream. */
export function join(chunks: ChatChunk[]): ChatCompletion {
  const choices = chunks.flatMap((chunk) => chunk.choices)
  const text = (field: string): string => choices.map(({ delta }) => (delta[field] as string | null) ?? '').join('')
  const calls: ToolCall[] = []
  for (const { index, ...entry } of choices.flatMap(({ delta }) => delta.tool_calls ?? []))
    if (index === calls.length) calls.push(structuredClone(entry) as ToolCall)
    else {
      expect(Object.keys(entry)).toEqual(['function'])
      calls[index]!.function.arguments += entry.function!.arguments
    }
  const message = {
    role: 'assistant' as const,
    content: text('content'),
    reasoning_content: text('reasoning_content'),
    refusal: text('refusal') || null,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const finish_reason = choices.flatMap((choice) => choice.finish_reason ?? [])[0]!
  const { id, created, model, usage } = chunks.at(-1)!
  const choice = { index: 0, message, finish_reason }
  return { id, object: 'chat.completion', created, model, choices: [choice], usage: usage! }
}
