import type { ChatProvider, FinishReason } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, google, openai } from '@turnpike/providers'

/** All of an answer that a client acts on. */
export interface Facts {
  content: string
  reasoning: string
  refusal: string | null
  calls: { id: string; name: string; arguments: unknown; extra: unknown }[]
  finish: FinishReason
  usage: { prompt: number; completion: number; total: number; cached: number; reasoning: number }
}

/** What is particular of a family, in plain lines of our own: nothing here is made by the code under test. */
export interface Family {
  provider(transport: Transport): ChatProvider
  model: string
  /** An event as it comes over the wire. */
  frame(data: string): string
  /** The event that the recordings leave out at their end. */
  last?: string
  /** Whether the end of a stream is an event of its own, after which nothing can go wrong. */
  saysDone: boolean
  /** Whether all that matters is among `events`. */
  isWhole(events: object[]): boolean
  /** The whole answer that would have been, had it not been streamed. */
  join(events: object[]): object
  /** What a whole answer in the vendor's form says. */
  facts(answer: object): Facts
}

interface ClaudeBlock {
  type: string
  text?: string
  thinking?: string
  signature?: string
  id?: string
  name?: string
  input?: unknown
}

interface Claude {
  content: ClaudeBlock[]
  stop_reason: 'end_turn' | 'tool_use' | 'refusal'
  stop_details?: { explanation: string }
  usage: Record<string, number>
}

interface ClaudeEvent {
  type: string
  index: number
  message: Claude
  content_block: ClaudeBlock
  delta: { type: string; text: string; thinking: string; signature: string; partial_json: string; stop_reason?: string }
  usage: object
}

function joinClaude(events: ClaudeEvent[]): Claude {
  const { message } = structuredClone(events[0]!)
  const inputs = new Map<ClaudeBlock, string>()
  for (const { type, index, content_block, delta, usage } of events.slice(1)) {
    const block = message.content[index]!
    if (type === 'content_block_start') message.content[index] = { ...content_block }
    else if (type === 'message_delta') {
      Object.assign(message, delta)
      Object.assign(message.usage, usage)
    } else if (delta?.type === 'text_delta') block.text += delta.text
    else if (delta?.type === 'thinking_delta') block.thinking += delta.thinking
    else if (delta?.type === 'signature_delta') block.signature += delta.signature
    else if (delta?.type === 'input_json_delta') inputs.set(block, (inputs.get(block) ?? '') + delta.partial_json)
  }
  for (const [block, json] of inputs) block.input = JSON.parse(json || '{}')
  return message
}

function claudeFacts({ content, stop_reason, stop_details, usage }: Claude): Facts {
  const cached = usage['cache_read_input_tokens'] ?? 0
  const prompt = usage['input_tokens']! + (usage['cache_creation_input_tokens'] ?? 0) + cached
  const completion = usage['output_tokens']!
  return {
    content: content.map(({ type, text }) => (type === 'text' ? text : '')).join(''),
    reasoning: content.map(({ type, thinking }) => (type === 'thinking' ? thinking : '')).join(''),
    refusal: stop_details?.explanation ?? null,
    calls: content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id, name, input }) => ({ id: id!, name: name!, arguments: input, extra: undefined })),
    finish: ({ end_turn: 'stop', tool_use: 'tool_calls', refusal: 'content_filter' } as const)[stop_reason],
    usage: { prompt, completion, total: prompt + completion, cached, reasoning: 0 },
  }
}

interface GeminiPart {
  text?: string
  thoughtSignature?: string
  functionCall?: { name: string; args: object }
}

interface Gemini {
  candidates: [{ index: number; content: { role: string; parts: GeminiPart[] }; finishReason?: string }]
  usageMetadata: Record<string, number>
}

const joinGemini = (events: Gemini[]): Gemini => {
  const last = events.at(-1)!
  const [candidate] = last.candidates
  const parts = events.flatMap(({ candidates: [{ content }] }) => content.parts)
  return { ...last, candidates: [{ ...candidate, content: { role: 'model', parts } }] }
}

function geminiFacts({ candidates: [{ content, finishReason }], usageMetadata: usage }: Gemini): Facts {
  const calls = content.parts.filter(({ functionCall }) => functionCall)
  const reasoning = usage['thoughtsTokenCount']!
  return {
    content: content.parts.map(({ text = '' }) => text).join(''),
    reasoning: '',
    refusal: null,
    calls: calls.map(({ functionCall, thoughtSignature }) => ({
      id: 'call_new',
      name: functionCall!.name,
      arguments: functionCall!.args,
      extra: { google: { thought_signature: thoughtSignature } },
    })),
    finish: calls.length > 0 ? 'tool_calls' : ({ STOP: 'stop' } as const)[finishReason as 'STOP'],
    usage: {
      prompt: usage['promptTokenCount']!,
      completion: usage['candidatesTokenCount']! + reasoning,
      total: usage['totalTokenCount']!,
      cached: 0,
      reasoning,
    },
  }
}

interface OpenAICall {
  index?: number
  id: string
  type: string
  function: { name: string; arguments: string }
}

interface OpenAIMessage {
  content?: string
  reasoning_content?: string
  refusal?: string | null
  tool_calls?: OpenAICall[]
}

interface OpenAI {
  choices: { index: number; message: OpenAIMessage; finish_reason: FinishReason }[]
  usage: { prompt_tokens: number; total_tokens: number } & Record<string, Record<string, number>>
}

interface OpenAIChunk {
  choices: { delta: OpenAIMessage; finish_reason?: FinishReason | null }[]
  usage?: object
}

function joinOpenAI(chunks: OpenAIChunk[]): object {
  const message = { role: 'assistant', content: '', reasoning_content: '', tool_calls: [] as OpenAICall[] }
  let finish_reason: FinishReason | undefined
  for (const choice of chunks.flatMap(({ choices }) => choices)) {
    const { content = '', reasoning_content = '', tool_calls = [] } = choice.delta
    message.content += content
    message.reasoning_content += reasoning_content
    for (const call of tool_calls) {
      const begun = message.tool_calls[call.index!]
      if (begun) begun.function.arguments += call.function.arguments
      else message.tool_calls.push(structuredClone(call))
    }
    if (choice.finish_reason) ({ finish_reason } = choice)
  }
  return { ...chunks.at(-1), object: 'chat.completion', choices: [{ index: 0, message, finish_reason }] }
}

function openaiFacts({ choices, usage }: OpenAI): Facts {
  const [{ message, finish_reason: finish }] = choices as [OpenAI['choices'][0]]
  const { prompt_tokens: prompt, total_tokens: total } = usage
  return {
    content: message.content ?? '',
    reasoning: message.reasoning_content ?? '',
    refusal: message.refusal ?? null,
    calls: (message.tool_calls ?? []).map(({ id, function: call }) => ({
      id,
      name: call.name,
      arguments: JSON.parse(call.arguments),
      extra: undefined,
    })),
    finish,
    usage: {
      prompt,
      // xAI has the reasoning in the total only.
      completion: total - prompt,
      total,
      cached: usage['prompt_tokens_details']!['cached_tokens']!,
      reasoning: usage['completion_tokens_details']!['reasoning_tokens']!,
    },
  }
}

const openaiFamily: Family = {
  provider: (transport) => openai({ apiKey: 'x', transport }),
  model: 'gpt-4o',
  frame: (data) => `data: ${data}\n\n`,
  last: '[DONE]',
  saysDone: true,
  isWhole: (events) => (events as OpenAIChunk[]).some(({ choices }) => choices[0]?.finish_reason),
  join: (events) => joinOpenAI(events as OpenAIChunk[]),
  facts: (answer) => openaiFacts(answer as OpenAI),
}

/** By the folder of their recordings. */
export const families: Record<string, Family> = {
  anthropic: {
    provider: (transport) => anthropic({ apiKey: 'x', transport }),
    model: 'claude-sonnet-4-5',
    frame: (data) => `event: ${(JSON.parse(data) as ClaudeEvent).type}\ndata: ${data}\n\n`,
    saysDone: true,
    isWhole: (events) => (events as ClaudeEvent[]).some(({ delta }) => delta?.stop_reason),
    join: (events) => joinClaude(events as ClaudeEvent[]),
    facts: (answer) => claudeFacts(answer as Claude),
  },
  google: {
    provider: (transport) => google({ apiKey: 'x', transport }),
    model: 'gemini-3.1-pro-preview',
    frame: (data) => `data: ${data}\r\n\r\n`,
    saysDone: false,
    isWhole: (events) => (events as Gemini[]).some(({ candidates: [{ finishReason }] }) => finishReason),
    join: (events) => joinGemini(events as Gemini[]),
    facts: (answer) => geminiFacts(answer as Gemini),
  },
  openai: openaiFamily,
  'openai-compatible': openaiFamily,
}
