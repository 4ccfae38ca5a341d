import { expectEqual } from '../expect.js'
import { event } from '../families/family.js'
import { anthropic, anthropicEvent } from '../families/anthropic.js'
import { google, googleEvent } from '../families/google.js'
import { openai, openaiChunk } from '../families/openai.js'
import { stream } from '../script.js'
import { argsOf, choiceOf } from '../passed.js'
import type { Draft } from './define.js'
import { casesOf, hi, time, weather } from './define.js'
import { expectUsage } from './translation-answers.js'

/** A case of events that only one vendor sends. */
const plays = (name: string, source: string, events: string[], check: Draft['check']): Draft => ({
  name,
  source,
  request: { ...hi, stream: true, stream_options: { include_usage: true }, tools: [weather, time] },
  script: () => stream(...events),
  check,
})

const hasContent: Draft['check'] = (passed) => {
  const { content, calls, finish } = choiceOf(passed)
  expectEqual('the content', content, 'Hello')
  expectEqual('the number of calls', calls.length, 0)
  expectEqual('finish_reason', finish, 'stop')
}

const hasCalls: Draft['check'] = (passed) => {
  const { calls, finish } = choiceOf(passed)
  expectEqual(
    'the calls',
    calls.map((call) => [call.name, argsOf(call)]),
    [
      ['weather', { city: 'Paris' }],
      ['time', { city: 'Rome' }],
    ],
  )
  expectEqual('finish_reason', finish, 'tool_calls')
}

const crlf = (event: string): string => event.replaceAll('\n', '\r\n')
const sse = 'HTML standard, server-sent events: parsing an event stream'

const done = 'data: [DONE]\n\n'
const ping = ': ping\n\n'
const begin = openaiChunk({ role: 'assistant', content: '' })
const stop = openaiChunk({}, 'stop')
const toolCall = (index: number, name: string, args: string) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name, arguments: args },
})

const answer = [begin, openaiChunk({ content: 'Hello' }), stop, done]

const ofOpenAI: Draft[] = [
  plays('lines that end with CRLF', sse, answer.map(crlf), hasContent),
  plays(
    'a byte order mark',
    sse,
    [`\uFEFF${openaiChunk({ role: 'assistant', content: 'Hello' })}`, stop, done],
    hasContent,
  ),
  plays(
    'blanks around [DONE]',
    sse,
    answer.map((event) => event.replace('[DONE]', ' [DONE]  ')),
    hasContent,
  ),
  plays(
    'comments are ignored',
    sse,
    answer.flatMap((event) => [ping, event]),
    hasContent,
  ),
  plays(
    'a first chunk without choices is no end',
    "Azure OpenAI's content filtering: the first chunk has prompt_filter_results and no choices",
    [
      event({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] }),
      begin,
      openaiChunk({ content: 'Hello' }),
      stop,
      done,
    ],
    hasContent,
  ),
  plays(
    'a tool call in one chunk',
    'OpenAI API reference, chat completion chunk object: delta.tool_calls',
    [
      begin,
      openaiChunk({ tool_calls: [toolCall(0, 'weather', '{"city":"Paris"}'), toolCall(1, 'time', '{"city":"Rome"}')] }),
      openaiChunk({}, 'tool_calls'),
      done,
    ],
    hasCalls,
  ),
]

const start = (usage: object): string =>
  anthropicEvent('message_start', {
    message: {
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage,
    },
  })
const block = (index: number, content_block: object, ...deltas: object[]): string[] => [
  anthropicEvent('content_block_start', { index, content_block }),
  ...deltas.map((delta) => anthropicEvent('content_block_delta', { index, delta })),
  anthropicEvent('content_block_stop', { index }),
]
const ending = (stop_reason: string, usage: object): string[] => [
  anthropicEvent('message_delta', { delta: { stop_reason, stop_sequence: null }, usage }),
  anthropicEvent('message_stop'),
]
const textBlock = { type: 'text', text: '' }
const textDelta = { type: 'text_delta', text: 'Hello' }
const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
const use = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} })
const counts = { input_tokens: 9, output_tokens: 1 }
const ended = ending('end_turn', { output_tokens: 4 })

const streamSource = 'Anthropic API reference, streaming messages'

const ofAnthropic: Draft[] = [
  plays(
    'events and deltas of unknown types are ignored',
    `${streamSource}: new event types may be added`,
    [
      start(counts),
      anthropicEvent('brand_new', { index: 0 }),
      ...block(0, textBlock, { type: 'brand_new_delta', value: 'secret' }, textDelta),
      ...ended,
    ],
    hasContent,
  ),
  plays(
    "blocks of the vendor's own tools are no calls of the client's",
    `${streamSource}: server_tool_use`,
    [
      start(counts),
      ...block(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }, json('{"query":"a"}')),
      ...block(1, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
      ...block(2, textBlock, textDelta),
      ...ended,
    ],
    hasContent,
  ),
  plays(
    'text between tool calls',
    streamSource,
    [
      start(counts),
      ...block(0, use('toolu_1', 'weather'), json(''), json('{"city":'), json('"Paris"}')),
      ...block(1, textBlock, textDelta),
      ...block(2, use('toolu_2', 'time'), json('{"city":"Rome"}')),
      ...ending('tool_use', { output_tokens: 4 }),
    ],
    hasCalls,
  ),
  plays(
    'the usage at the end is the whole one',
    `${streamSource}: the counts of message_delta are cumulative`,
    [
      start({ input_tokens: 3, cache_creation_input_tokens: 0, cache_read_input_tokens: 6, output_tokens: 1 }),
      ...block(0, textBlock, textDelta),
      ...ending('end_turn', {
        input_tokens: 3,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 6,
        output_tokens: 15,
      }),
    ],
    (passed) => expectUsage(passed, 9, 15),
  ),
  ...(
    [
      ['whose end counts no prompt', { input_tokens: 0 }],
      ['whose end counts no cached tokens', { input_tokens: 500, cache_read_input_tokens: 0 }],
      ['whose end counts the answer alone', {}],
    ] as [string, object][]
  ).map(([what, counted]) =>
    plays(
      `the usage of a stream ${what}`,
      `${streamSource}: the counts of message_delta are cumulative, so that none falls`,
      [
        start({ input_tokens: 500, cache_creation_input_tokens: 0, cache_read_input_tokens: 400, output_tokens: 1 }),
        ...block(0, textBlock, textDelta),
        ...ending('end_turn', { ...counted, output_tokens: 15 }),
      ],
      (passed) => expectUsage(passed, 900, 15),
    ),
  ),
  plays(
    'the usage of a stream that counts the prompt at its end only',
    `${streamSource}: message_delta has the whole usage`,
    [
      start({ input_tokens: 0, output_tokens: 0 }),
      ...block(0, textBlock, textDelta),
      ...ending('end_turn', { input_tokens: 500, cache_read_input_tokens: 400, output_tokens: 15 }),
    ],
    (passed) => expectUsage(passed, 900, 15),
  ),
]

const finish = (finishReason: string, usage: object): string => googleEvent([{ text: '' }], { finishReason }, usage)
const total = { promptTokenCount: 13, candidatesTokenCount: 4, totalTokenCount: 17 }
const paris = { functionCall: { name: 'weather', args: { city: 'Paris' } } }
const rome = { functionCall: { name: 'time', args: { city: 'Rome' } } }
const googleSource = 'Gemini API reference, streamGenerateContent'

const ofGoogle: Draft[] = [
  plays(
    'lines that end with CRLF',
    sse,
    [googleEvent([{ text: 'Hello' }]), finish('STOP', total)].map(crlf),
    hasContent,
  ),
  plays('a byte order mark', sse, [`\uFEFF${googleEvent([{ text: 'Hello' }])}`, finish('STOP', total)], hasContent),
  plays('calls in one event', googleSource, [googleEvent([paris, rome]), finish('STOP', total)], hasCalls),
  plays(
    'the last event has content, finish reason and usage',
    googleSource,
    [googleEvent([{ text: 'Hel' }]), googleEvent([{ text: 'lo' }], { finishReason: 'STOP' }, total)],
    hasContent,
  ),
  plays(
    'an event without candidates',
    googleSource,
    [event({ usageMetadata: { promptTokenCount: 9 } }), googleEvent([{ text: 'Hello' }]), finish('STOP', total)],
    hasContent,
  ),
  plays(
    'the usage is that of the last event',
    `${googleSource}: usageMetadata is cumulative`,
    [
      googleEvent([{ text: 'Hel' }], {}, { promptTokenCount: 16, totalTokenCount: 16 }),
      googleEvent([{ text: 'lo' }], {}, { promptTokenCount: 13, candidatesTokenCount: 2, totalTokenCount: 15 }),
      finish('STOP', total),
    ],
    (passed) => expectUsage(passed, 13, 4),
  ),
  plays(
    'reasoning tokens are part of the completion',
    'OpenAI API reference, chat completion object: usage',
    [
      googleEvent([{ text: 'Hello' }]),
      finish('STOP', { promptTokenCount: 9, candidatesTokenCount: 4, thoughtsTokenCount: 50, totalTokenCount: 63 }),
    ],
    (passed) => expectUsage(passed, 9, 54),
  ),
]

/** How events that only one vendor sends reach the client. */
export const vendorStreamCases = [
  ...casesOf('streams', openai, ofOpenAI),
  ...casesOf('streams', anthropic, ofAnthropic),
  ...casesOf('streams', google, ofGoogle),
]
