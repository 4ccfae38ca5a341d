import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { anthropicRefusal } from '../../packages/providers/src/testing/anthropic-rules.js'
import { googleRefusal, isGemini3 } from '../../packages/providers/src/testing/google-rules.js'
import { openaiRefusal } from '../../packages/providers/src/testing/openai-rules.js'

/** A tool call; each vendor writes the id in its own way. */
export interface Call {
  id: string
  name: string
  input: object
}

/** What the model says next. */
export interface Turn {
  text: string
  calls: Call[]
}

/** A model that is told the results of all tools so far, in their order. */
export type Script = (results: string[]) => Turn

/** How a vendor writes what it is asked and what it answers. */
interface Vendor {
  /** Whether the vendor's own rules are met. */
  accepts(request: FakeRequest): boolean
  streams(request: FakeRequest): boolean
  /** The results of tools, oldest first. */
  results(body: never): string[]
  whole(turn: Turn, request: FakeRequest): object
  /** The stream as it goes over the wire. */
  pieces(turn: Turn, request: FakeRequest): string[]
}

const cut = (text: string): string[] => text.match(/[^]{1,8}/g) ?? []

const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

const modelOf = ({ body }: FakeRequest): string => (body as { model: string }).model

const bodyStreams = ({ body }: FakeRequest): boolean => (body as { stream?: boolean }).stream === true

const openaiFinish = ({ calls }: Turn): string => (calls.length > 0 ? 'tool_calls' : 'stop')

const openaiHead = (request: FakeRequest) => ({
  id: 'chatcmpl-scripted',
  created: 1_770_933_892,
  model: modelOf(request),
})

const openaiUsage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 }

const openai: Vendor = {
  accepts: ({ body }) => openaiRefusal(body) === undefined,
  streams: bodyStreams,
  results: ({ messages }: { messages: { role: string; content: string }[] }) =>
    messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
  whole(turn, request) {
    const tool_calls = turn.calls.map(({ id, name, input }) => ({
      id: `call_${id}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    const message = {
      role: 'assistant',
      content: turn.text || null,
      refusal: null,
      annotations: [],
      ...(tool_calls.length > 0 && { tool_calls }),
    }
    const choice = { index: 0, message, logprobs: null, finish_reason: openaiFinish(turn) }
    return { ...openaiHead(request), object: 'chat.completion', choices: [choice], usage: openaiUsage }
  },
  pieces(turn, request) {
    const chunk = (fields: object): string =>
      data({ ...openaiHead(request), object: 'chat.completion.chunk', usage: null, ...fields })
    const delta = (value: object, finish_reason: string | null = null): string =>
      chunk({ choices: [{ index: 0, delta: value, logprobs: null, finish_reason }] })
    return [
      delta({ role: 'assistant', content: turn.text ? '' : null, refusal: null }),
      ...cut(turn.text).map((content) => delta({ content })),
      ...turn.calls.flatMap(({ id, name, input }, index) => [
        delta({ tool_calls: [{ index, id: `call_${id}`, type: 'function', function: { name, arguments: '' } }] }),
        ...cut(JSON.stringify(input)).map((text) => delta({ tool_calls: [{ index, function: { arguments: text } }] })),
      ]),
      delta({}, openaiFinish(turn)),
      chunk({ choices: [], usage: openaiUsage }),
      'data: [DONE]\n\n',
    ]
  },
}

interface ClaudeBody {
  messages: { content: string | { type: string; content?: string }[] }[]
}

const claudeMessage = (request: FakeRequest, content: object[], stop_reason: string | null) => ({
  id: 'msg_scripted',
  type: 'message',
  role: 'assistant',
  model: modelOf(request),
  content,
  stop_reason,
  stop_sequence: null,
  usage: { input_tokens: 20, output_tokens: 10 },
})

const claudeStop = ({ calls }: Turn): string => (calls.length > 0 ? 'tool_use' : 'end_turn')

const anthropic: Vendor = {
  accepts: ({ body }) => anthropicRefusal(body) === undefined,
  streams: bodyStreams,
  results: ({ messages }: ClaudeBody) =>
    messages
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => content!),
  whole(turn, request) {
    const content = [
      ...(turn.text ? [{ type: 'text', text: turn.text }] : []),
      ...turn.calls.map(({ id, name, input }) => ({ type: 'tool_use', id: `toolu_${id}`, name, input })),
    ]
    return claudeMessage(request, content, claudeStop(turn))
  },
  pieces(turn, request) {
    const blocks = [
      ...(turn.text
        ? [{ start: { type: 'text', text: '' }, deltas: cut(turn.text).map((text) => ({ type: 'text_delta', text })) }]
        : []),
      ...turn.calls.map(({ id, name, input }) => ({
        start: { type: 'tool_use', id: `toolu_${id}`, name, input: {} },
        deltas: ['', ...cut(JSON.stringify(input))].map((text) => ({ type: 'input_json_delta', partial_json: text })),
      })),
    ]
    const events = [
      { type: 'message_start', message: claudeMessage(request, [], null) },
      ...blocks.flatMap(({ start, deltas }, index) => [
        { type: 'content_block_start', index, content_block: start },
        ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
        { type: 'content_block_stop', index },
      ]),
      {
        type: 'message_delta',
        delta: { stop_reason: claudeStop(turn), stop_sequence: null },
        usage: { output_tokens: 10 },
      },
      { type: 'message_stop' },
    ]
    return events.map((event) => `event: ${event.type}\n${data(event)}`)
  },
}

interface GeminiBody {
  contents: { parts: { functionResponse?: { response: { output: string } } }[] }[]
}

const geminiModel = ({ path }: FakeRequest): string => /models\/([^:]+):/.exec(path)![1]!

/** The 3rd generation gives its calls ids, and signs the first of each turn. */
const geminiParts = ({ text, calls }: Turn, request: FakeRequest): object[] => {
  const third = isGemini3(geminiModel(request))
  return [
    ...(text ? [{ text }] : []),
    ...calls.map(({ id, name, input: args }, i) => ({
      functionCall: { name, args, ...(third && { id }) },
      ...(third && i === 0 && { thoughtSignature: btoa(id) }),
    })),
  ]
}

const geminiAnswer = (request: FakeRequest, parts: object[], finishReason?: string) => ({
  candidates: [{ content: { parts, role: 'model' }, ...(finishReason && { finishReason }), index: 0 }],
  usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 },
  modelVersion: geminiModel(request),
  responseId: 'scripted',
})

const google: Vendor = {
  accepts: (request) => googleRefusal(geminiModel(request), request.body) === undefined,
  streams: ({ path }) => path.includes(':streamGenerateContent?alt=sse'),
  results: ({ contents }: GeminiBody) =>
    contents.flatMap(({ parts }) =>
      parts.flatMap(({ functionResponse }) => (functionResponse ? functionResponse.response.output : [])),
    ),
  whole: (turn, request) => geminiAnswer(request, geminiParts(turn, request), 'STOP'),
  pieces: (turn, request) =>
    [
      ...geminiParts(turn, request).map((part) => geminiAnswer(request, [part])),
      geminiAnswer(request, [{ text: '' }], 'STOP'),
    ].map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`),
}

const vendors = { openai, anthropic, google }

export type VendorName = keyof typeof vendors

/** What a vendor answers by a script; nothing to what its rules refuse, so that the fake behind it does. */
export function scripted(name: VendorName, request: FakeRequest, script: Script): FakeAnswer | undefined {
  const vendor: Vendor = vendors[name]
  if (!vendor.accepts(request)) return undefined
  const turn = script(vendor.results(request.body as never))
  if (!vendor.streams(request))
    return {
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(vendor.whole(turn, request)),
    }
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      yield* vendor.pieces(turn, request)
    })(),
  }
}
