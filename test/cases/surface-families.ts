import type { Answer, Family } from './pass.js'
import { chunks, stream, whole } from './pass.js'

/** What goes both ways: a text, the JSON Schema of the tool `f`, and the arguments of a call of it. Both of the latter are JSON. */
export interface Payload {
  text: string
  schema: string
  args: string
}

/** A conversation in a family's form; all of it is JSON text, because an object literal cannot have every key. */
interface Forms {
  /** The upstream body of {@link asked}. */
  sent(payload: Payload): string
  /** An answer with the text and a call. */
  answer(payload: Payload): Answer
  /** The client's bytes of it. */
  seen(payload: Payload): string
  /** The same as a stream, the text and, where they are text, the arguments in two pieces. */
  stream(payload: Payload): Answer
  streamSeen(payload: Payload): string
}

const json = JSON.stringify

/** The text in the user's message, and the arguments in a call that was made. */
export const asked = ({ text, schema, args }: Payload): object =>
  JSON.parse(
    `{"messages":[{"role":"user","content":${json(text)}},{"role":"assistant","tool_calls":[` +
      `{"id":"call_1","type":"function","function":{"name":"f","arguments":${json(args)}}}]},` +
      '{"role":"tool","tool_call_id":"call_1","content":"Done"}],' +
      `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]}`,
  ) as object

/** In two pieces, the first of them two characters long. */
const halves = (text: string): [string, string] => [text.slice(0, 2), text.slice(2)]

const event = (data: string): string => `data: ${data}\n\n`

/** A whole answer as the client gets it. */
const completion = (id: string, model: string, message: string, rest: string, usage: string): string =>
  `{"id":"${id}","object":"chat.completion","created":0,"model":"${model}","choices":[{"index":0,"message":` +
  `{"role":"assistant",${message}},${rest}"finish_reason":"tool_calls"}],"usage":${usage}}`

const called = (id: string, args: string): string =>
  `"tool_calls":[{"id":"${id}","type":"function","function":{"name":"f","arguments":${json(args)}}}]`

const next = (delta: object, finish_reason: string | null = null) => ({ index: 0, delta, finish_reason })
const begun = (id: string) =>
  next({ tool_calls: [{ index: 0, id, type: 'function', function: { name: 'f', arguments: '' } }] })
const more = (args: string) => next({ tool_calls: [{ index: 0, function: { arguments: args } }] })
const end = [next({}, 'tool_calls'), '[DONE]']

const gpt = { id: 'chatcmpl-1', created: 0, model: 'gpt-4o', object: 'chat.completion.chunk' }
const gptUsage = '{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}'

const openai: Forms = {
  sent: (payload) => json({ model: 'gpt-4o', ...asked(payload) }),
  answer: (payload) => whole(openai.seen(payload)),
  seen: ({ text, args }) =>
    completion('chatcmpl-1', 'gpt-4o', `"content":${json(text)},${called('call_1', args)}`, '', gptUsage),
  stream: (payload) => ({ ...stream(), body: openai.streamSeen(payload) }),
  streamSeen({ text, args }) {
    const [a, b] = halves(text)
    const said = [next({ role: 'assistant', content: a }), next({ content: b })]
    return chunks(gpt, ...said, begun('call_1'), ...halves(args).map(more), ...end)
  },
}

const claude = { id: 'msg_1', created: 0, model: 'claude-sonnet-4-5', object: 'chat.completion.chunk' }
const claudeMessage = (content: string, stop: string): string =>
  '{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5",' +
  `"content":[${content}],"stop_reason":${stop},"usage":{"input_tokens":3,"output_tokens":4}}`

const anthropic: Forms = {
  sent: ({ text, schema, args }) =>
    '{"model":"claude-sonnet-4-5","max_tokens":8192,"messages":[' +
    `{"role":"user","content":[{"type":"text","text":${json(text)}}]},` +
    `{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":${args}}]},` +
    '{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"Done"}]}],' +
    `"tools":[{"name":"f","input_schema":${schema}}]}`,
  answer: ({ text, args }) =>
    whole(
      claudeMessage(
        `{"type":"text","text":${json(text)}},{"type":"tool_use","id":"toolu_1","name":"f","input":${args}}`,
        '"tool_use"',
      ),
    ),
  seen: ({ text, args }) =>
    completion(
      'msg_1',
      'claude-sonnet-4-5',
      `"content":${json(text)},"refusal":null,${called('toolu_1', args)}`,
      '"logprobs":null,',
      '{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,' +
        '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}',
    ),
  stream: ({ text, args }) =>
    stream(
      event(`{"type":"message_start","message":${claudeMessage('', 'null')}}`),
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...halves(text).map((piece) => ({
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: piece },
      })),
      { type: 'content_block_stop', index: 0 },
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      },
      ...halves(args).map((piece) => ({
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: piece },
      })),
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 4 } },
      { type: 'message_stop' },
    ),
  streamSeen({ text, args }) {
    const said = halves(text).map((content) => next({ content }))
    const opening = next({ role: 'assistant', content: '' })
    return chunks(claude, opening, ...said, begun('toolu_1'), ...halves(args).map(more), ...end)
  },
}

const gemini = { id: 'chatcmpl-r1', created: 0, model: 'gemini-2.5-flash', object: 'chat.completion.chunk' }
/** An answer, or an event of a stream, with these parts. */
const geminiAnswer = (parts: string, finish = ''): string =>
  `{"responseId":"r1","candidates":[{"index":0,"content":{"role":"model","parts":[${parts}]}${finish}}],` +
  '"usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":4,"totalTokenCount":7}}'
const geminiCall = (args: string): string => `{"functionCall":{"name":"f","args":${args}}}`

const google: Forms = {
  sent: ({ text, schema, args }) =>
    `{"contents":[{"role":"user","parts":[{"text":${json(text)}}]},{"role":"model","parts":[${geminiCall(args)}]},` +
    '{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"Done"}}}]}],' +
    `"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${schema}}]}]}`,
  answer: ({ text, args }) =>
    whole(geminiAnswer(`{"text":${json(text)}},${geminiCall(args)}`, ',"finishReason":"STOP"')),
  seen: ({ text, args }) =>
    completion(
      'chatcmpl-r1',
      'gemini-2.5-flash',
      `"content":${json(text)},"refusal":null,${called('call_new', args)}`,
      '"logprobs":null,',
      '{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7,' +
        '"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}',
    ),
  stream: ({ text, args }) =>
    stream(
      ...halves(text).map((piece) => event(geminiAnswer(json({ text: piece })))),
      event(geminiAnswer(geminiCall(args), ',"finishReason":"STOP"')),
    ),
  streamSeen({ text, args }) {
    const [a, b] = halves(text)
    const said = [next({ role: 'assistant', content: a }), next({ content: b })]
    return chunks(gemini, ...said, begun('call_new'), more(args), ...end)
  },
}

export const forms: Record<Family, Forms> = { openai, anthropic, google }
