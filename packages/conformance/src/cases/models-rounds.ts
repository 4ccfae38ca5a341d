import { expectEqual, expectThat } from '../expect.js'
import { anthropic, anthropicEvent } from '../families/anthropic.js'
import type { Family, Json } from '../families/family.js'
import { google, googleEvent } from '../families/google.js'
import { openai } from '../families/openai.js'
import { replies } from '../families/index.js'
import type { Passed } from '../passed.js'
import { choiceOf, messageIn } from '../passed.js'
import type { Script } from '../script.js'
import { stream, whole } from '../script.js'
import type { Draft } from './define.js'
import { call, casesOf, hi, user, weather } from './define.js'

const SIGNATURE = 'c2lnbmF0dXJlLW9mLXRoZS12ZW5kb3I='
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='

/** The answer of the first request, whole or streamed, and then `Hello`. */
const thenHello = (family: Family, answer: (streams: boolean) => ReturnType<Script>): Script => {
  const hello = replies(family, { texts: ['Hello'] })
  return (sent) => (isSecond(sent.body) ? hello(sent) : answer(sent.asked.stream))
}

/** Whether the conversation has an answer of the model. */
const isSecond = (body: Json): boolean =>
  ((body['contents'] ?? body['messages']) as { role?: string }[]).some(
    ({ role }) => role === 'model' || role === 'assistant',
  )

/** The next request, with the answer as it came: its calls have results, or the user says more. */
const goesOn =
  (request: { messages: Json[] }) =>
  (passed: Passed): object => {
    const message = messageIn(passed)
    const calls = (message['tool_calls'] ?? []) as { id: string }[]
    const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Sunny' }))
    return {
      ...request,
      messages: [...request.messages, message, ...(results.length > 0 ? results : [user('Go on.')])],
    }
  }

/** The parts of all turns of the model that the second request has. */
function returned({ sent }: Passed): Json[] {
  expectEqual('the number of requests', sent.length, 2)
  const { contents, messages } = sent[1]!.body as { contents?: object[]; messages?: object[] }
  const turns = (contents ?? messages) as { role: string; parts?: Json[]; content?: Json[] }[]
  return turns
    .filter(({ role }) => role === 'model' || role === 'assistant')
    .flatMap(({ parts, content }) => parts ?? content ?? [])
}

/** A part with its fields in one spelling. */
const textOf = (parts: Json[]): string => JSON.stringify(parts).replaceAll('thought_signature', 'thoughtSignature')

/** Two cases of a conversation, whole and streamed. */
const both = (draft: Draft & { request: { messages: Json[] } }): Draft[] =>
  [false, true].map((streams) => {
    const request: { messages: Json[] } = streams ? Object.assign({}, draft.request, { stream: true }) : draft.request
    return { ...draft, name: `${draft.name}${streams ? ', in a stream' : ''}`, request, next: goesOn(request) }
  })

const usage = { input_tokens: 9, output_tokens: 20 }

/** A whole message or its events. */
function claude(blocks: Json[], streams: boolean): ReturnType<Script> {
  const message = {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    stop_sequence: null,
  }
  if (!streams) return whole({ ...message, content: blocks, stop_reason: 'tool_use', usage })
  return stream(
    anthropicEvent('message_start', { message: { ...message, content: [], stop_reason: null, usage } }),
    ...blocks.flatMap((block, index) => [
      anthropicEvent('content_block_start', { index, content_block: opening(block) }),
      ...deltas(block).map((delta) => anthropicEvent('content_block_delta', { index, delta })),
      anthropicEvent('content_block_stop', { index }),
    ]),
    anthropicEvent('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
    anthropicEvent('message_stop'),
  )
}

const opening = (block: Json): Json => {
  if (block['type'] === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return block['type'] === 'tool_use' ? { ...block, input: {} } : block
}

function deltas({ type, ...block }: Json): Json[] {
  if (type === 'thinking')
    return [
      ...(block['thinking'] as string).split(/(?<= )/).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: block['signature'] },
    ]
  return type === 'tool_use' ? [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }] : []
}

const thought = { type: 'thinking', thinking: 'The user wants the weather.', signature: SIGNATURE }
const redacted = { type: 'redacted_thinking', data: SIGNATURE }
const use = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Paris' } }
const asksClaude = { ...hi, max_tokens: 16_000, tools: [weather], reasoning_effort: 'high' }
const preserved = 'Anthropic, extended thinking with tool use: thinking blocks are passed back unchanged'

const thoughts = (name: string, model: string, blocks: Json[]): Draft[] =>
  both({
    name,
    source: preserved,
    model,
    request: asksClaude,
    script: thenHello(anthropic, (streams) => claude([...blocks, use], streams)),
    check(passed) {
      expectEqual('the content', choiceOf(passed).content, 'Hello')
      const kept = returned(passed).filter(({ type }) => String(type).endsWith('thinking'))
      expectEqual('the thoughts', kept, blocks)
    },
  })

const ofAnthropic: Draft[] = [
  ...thoughts('a thought returns with its signature in a tool loop', 'claude-sonnet-4-5', [thought]),
  ...thoughts('a thought returns to a model that thinks by default', 'claude-opus-5', [thought]),
  ...thoughts('a redacted thought returns', 'claude-opus-4-8', [redacted]),
]

const candidate = (parts: Json[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
  modelVersion: 'gemini-3.1-pro-preview',
  responseId: 'scripted',
})

const gemini = (parts: Json[], streams: boolean): ReturnType<Script> =>
  streams
    ? stream(
        ...parts.map((part) => googleEvent([part])),
        googleEvent([{ text: '' }], { finishReason: 'STOP' }, candidate([]).usageMetadata),
      )
    : whole(candidate(parts))

const signatures = 'Gemini API, thought signatures: they return in the part that they came with'
const png = { inlineData: { mimeType: 'image/png', data: PNG }, thoughtSignature: SIGNATURE }

const signed = (name: string, model: string, request: { messages: Json[] }, parts: Json[], kept: string[]): Draft[] =>
  both({
    name,
    source: signatures,
    model,
    request,
    script: thenHello(google, (streams) => gemini(parts, streams)),
    check(passed) {
      expectEqual('the content', choiceOf(passed).content, 'Hello')
      const text = textOf(returned(passed))
      for (const one of kept) expectThat('the turn of the model', text.includes(one), one.slice(0, 60), text)
    },
  })

const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }
const pdf = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0xLjQK' } }

/** A tool whose result has more than text. */
const shows = (model: string, what: string, part: object, data: string, vendor: string): Draft => ({
  name: `${what} in the result of a tool reaches ${model}`,
  source: `OpenAI guide to function calling: results may have images and files; ${vendor}`,
  model,
  request: {
    messages: [
      user('Look.'),
      { role: 'assistant', content: null, tool_calls: [call('call_a', 'weather', '{"city":"Paris"}')] },
      { role: 'tool', tool_call_id: 'call_a', content: [{ type: 'text', text: 'A map' }, part] },
      user('Well?'),
    ],
    tools: [weather],
  },
  check(passed) {
    expectEqual('the content', choiceOf(passed).content, 'Hello')
    const body = JSON.stringify(passed.sent[0]?.body)
    for (const text of [data, 'A map']) expectThat('the request', body.includes(text), text, passed.sent[0]?.body)
  },
})

const responses = 'Gemini API, function calling: multimodal function responses since Gemini 3'

const ofGoogle: Draft[] = [
  ...signed(
    'a signed call returns with its signature',
    'gemini-3.1-pro-preview',
    { ...hi, tools: [weather] } as { messages: Json[] },
    [{ functionCall: { name: 'weather', args: { city: 'Paris' } }, thoughtSignature: SIGNATURE }],
    [`"thoughtSignature":"${SIGNATURE}"`, '"Paris"'],
  ),
  ...signed(
    'a signed text returns with its signature',
    'gemini-3-pro-preview',
    hi,
    [{ text: 'Well', thoughtSignature: SIGNATURE }],
    [`"thoughtSignature":"${SIGNATURE}"`, '"Well"'],
  ),
  ...signed(
    'an image of the model returns with its signature',
    'gemini-3-pro-image-preview',
    { messages: [user('Draw.')] },
    [{ text: 'Here.', thoughtSignature: SIGNATURE }, png],
    [PNG, '"Here."', `"thoughtSignature":"${SIGNATURE}"`],
  ),
  ...signed(
    'an image of a model without signatures returns',
    'gemini-2.5-flash-image',
    { messages: [user('Draw.')] },
    [{ text: 'Here.' }, { inlineData: png.inlineData }],
    [PNG],
  ),
  shows('gemini-3-flash-preview', 'an image', image, PNG, responses),
  shows('gemini-2.5-flash', 'an image', image, PNG, responses),
  shows('gemini-3.1-pro-preview', 'a PDF', pdf, 'JVBERi0xLjQK', responses),
]

/** What a model said or made returns to it with the next request, as the client was given it. */
export const roundCases = [
  ...casesOf('models', anthropic, [
    ...ofAnthropic,
    shows('claude-sonnet-4-5', 'an image', image, PNG, 'Anthropic API reference, messages: tool_result'),
  ]),
  ...casesOf('models', google, ofGoogle),
  ...casesOf('models', openai, [
    shows('gpt-4o', 'an image', image, PNG, 'OpenAI API reference: tool messages have text only'),
  ]),
]
