// Longer than 250 lines: one decoder, and the events that all cases are made of.
import type { ChatCompletionRequest, UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Read } from '../../../../test/support/decode.js'
import { decodeReads } from '../../../../test/support/decode.js'
import { streamDecoder } from './stream.js'

const request: ChatCompletionRequest = { model: 'asked-for', messages: [{ role: 'user', content: 'Hi' }] }
const decode = (reads: Read[], asked: Partial<ChatCompletionRequest> = {}) =>
  decodeReads(streamDecoder('anthropic', { ...request, ...asked }), reads)

const start = (usage: object = { input_tokens: 3, output_tokens: 1 }, id = 'msg_1') => ({
  type: 'message_start',
  message: { id, model: 'claude-x', content: [], stop_reason: null, usage },
})
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, given: object) => ({ type: 'content_block_delta', index, delta: given })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const text = (index: number, ...pieces: string[]) => [
  block(index, { type: 'text', text: '' }),
  ...pieces.map((piece) => delta(index, { type: 'text_delta', text: piece })),
  stop(index),
]
const tool = (index: number, id: string, name: string, ...pieces: string[]) => [
  block(index, { type: 'tool_use', id, name, input: {} }),
  ...pieces.map((piece) => delta(index, { type: 'input_json_delta', partial_json: piece })),
  stop(index),
]
const end = (stop_reason: string | null, usage: object = { output_tokens: 4 }, more: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...more },
  usage,
})
const last = { type: 'message_stop' }

/** The deltas, the finish reason and the usage of a complete stream. */
function deltas(...events: (object | string)[]) {
  const { batches, error } = decode(events.map((event) => [event]))
  if (error) throw error
  const chunks = batches.flat()
  for (const { id, model } of chunks) expect([id, model]).toEqual(['msg_1', 'claude-x'])
  const choices = chunks.flatMap(({ choices: [choice] }) => choice ?? [])
  const finishes = choices.flatMap(({ finish_reason }) => finish_reason ?? [])
  expect(choices.at(-1)!.finish_reason).toBe(finishes.at(-1))
  expect(finishes).toHaveLength(1)
  return {
    deltas: choices.map(({ delta: given }) => given).filter((given) => Object.keys(given).length > 0),
    finish: finishes[0],
    usage: chunks.at(-1)!.usage,
  }
}
const role = { role: 'assistant', content: '' }
const toolStart = (index: number, id: string, name: string) => ({
  tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }],
})
const toolPart = (index: number, args: string) => ({ tool_calls: [{ index, function: { arguments: args } }] })

describe('a stream of Claude', () => {
  it('returns one batch per read, and the role first', () => {
    const { batches } = decode([[start()], text(0, 'Hel', 'lo'), [end('end_turn')], [last]])
    expect(batches.map((batch) => batch.map(({ choices }) => choices[0]?.delta ?? choices))).toEqual([
      [role],
      [{ content: 'Hel' }, { content: 'lo' }],
      [{}, []],
    ])
  })

  it('numbers tools independently of blocks, and sends {} for no arguments', () => {
    expect(deltas(start(), ...text(0, 'Now'), ...tool(1, 'toolu_1', 'now', ''), end('tool_use'), last)).toMatchObject({
      deltas: [role, { content: 'Now' }, toolStart(0, 'toolu_1', 'now'), toolPart(0, '{}')],
      finish: 'tool_calls',
    })
  })

  it('ends a call without arguments before the next one begins', () => {
    const calls = [...tool(0, 'x', 'now', ''), ...tool(1, 'y', 'at', '{"h":1}'), ...tool(2, 'z', 'now')]
    const now = [toolStart(0, 'x', 'now'), toolPart(0, '{}')]
    const others = [toolStart(1, 'y', 'at'), toolPart(1, '{"h":1}'), toolStart(2, 'z', 'now'), toolPart(2, '{}')]
    expect(deltas(start(), ...calls, end('tool_use'), last).deltas).toEqual([role, ...now, ...others])
  })

  it('sends {} once for a block that ends twice, or not at all', () => {
    const args = [toolStart(0, 'x', 'now'), toolPart(0, '{}')]
    const call = tool(0, 'x', 'now')
    expect(deltas(start(), ...call, stop(0), end('tool_use'), last).deltas).toEqual([role, ...args])
    expect(deltas(start(), call[0]!, end('tool_use'), last).deltas).toEqual([role, ...args])
  })

  it('ignores deltas of unknown blocks', () => {
    const stray = [delta(3, { text: 'x' }), block(4, { type: 'server_tool_use' }), delta(4, { partial_json: '{}' })]
    expect(deltas(start(), ...stray, stop(9), ...text(0, 'a'), end('end_turn'), last).deltas).toEqual([
      role,
      { content: 'a' },
    ])
  })

  it('accepts a complete answer in message_start', () => {
    const { message } = start()
    const content = [
      { type: 'code_execution_tool_result', tool_use_id: 'srvtoolu_1', content: {} },
      { type: 'tool_use', id: 'x', name: 'f', input: { q: 1 } },
    ]
    const whole = { type: 'message_start', message: { ...message, content, stop_reason: 'tool_use' } }
    expect(deltas(whole, last)).toMatchObject({
      deltas: [role, toolStart(0, 'x', 'f'), toolPart(0, '{"q":1}')],
      finish: 'tool_calls',
    })
  })

  it('returns nothing for a ping', () => {
    const ping = { type: 'ping' }
    expect(deltas(ping, start(), ping, ...text(0, 'a'), ping, end('end_turn'), ping, last).deltas).toEqual([
      role,
      { content: 'a' },
    ])
  })

  it('keeps text and tools in order', () => {
    const events = [...text(0, 'a'), ...tool(1, 'x', 'f', '{"q"', ':1}'), ...text(2, 'b'), ...tool(3, 'y', 'g', '{}')]
    expect(deltas(start(), ...events, end('tool_use'), last).deltas).toEqual([
      role,
      { content: 'a' },
      toolStart(0, 'x', 'f'),
      toolPart(0, '{"q"'),
      toolPart(0, ':1}'),
      { content: 'b' },
      toolStart(1, 'y', 'g'),
      toolPart(1, '{}'),
    ])
  })

  it('uses the last usage', () => {
    const { usage } = deltas(
      start({ input_tokens: 43, cache_read_input_tokens: 5, output_tokens: 1 }),
      ...text(0, 'a'),
      end('end_turn', { input_tokens: 61, cache_read_input_tokens: null, output_tokens: 4 }),
      last,
    )
    expect(usage).toMatchObject({
      prompt_tokens: 66,
      completion_tokens: 4,
      total_tokens: 70,
      prompt_tokens_details: { cached_tokens: 5 },
    })
  })

  it('counts tokens of the one-hour cache separately', () => {
    const written = { cache_creation_input_tokens: 9, cache_creation: { ephemeral_1h_input_tokens: 4 } }
    const { usage } = deltas(start({ input_tokens: 3, ...written }), ...text(0, 'a'), end('end_turn'), last)
    expect(usage).toMatchObject({
      prompt_tokens: 12,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 9, cache_write_1h_tokens: 4 },
    })
  })

  const thought = (index: number, thinking: string, signature: string) => [
    block(index, { type: 'thinking', thinking: '', signature: '' }),
    delta(index, { type: 'thinking_delta', thinking }),
    ...[signature.slice(0, 2), signature.slice(2)].map((part) =>
      delta(index, { type: 'signature_delta', signature: part }),
    ),
    stop(index),
  ]
  const carried = (index: number, thinking: string, signature: string, id: string | null = null) => ({
    reasoning_details: [
      { type: 'reasoning.text', text: thinking, signature, id, format: 'anthropic-claude-v1', index },
    ],
    thinking_blocks: [{ type: 'thinking', thinking, signature }],
  })

  it('returns thinking as reasoning_content, and whole with its signature', () => {
    expect(deltas(start(), ...thought(0, 'Hm', 'sig'), ...text(1, 'Yes'), end('end_turn'), last).deltas).toEqual([
      role,
      { reasoning_content: 'Hm' },
      carried(0, 'Hm', 'sig'),
      { content: 'Yes' },
    ])
  })

  it('returns a signature without a text, and a thought that is redacted', () => {
    const redacted = [block(1, { type: 'redacted_thinking', data: 'secret' }), stop(1)]
    expect(
      deltas(start(), ...thought(0, '', 'sig'), ...redacted, ...text(2, 'Yes'), end('end_turn'), last).deltas,
    ).toEqual([
      role,
      {
        reasoning_details: [
          ...carried(0, '', 'sig').reasoning_details,
          { type: 'reasoning.encrypted', data: 'secret', id: null, format: 'anthropic-claude-v1', index: 1 },
        ],
        thinking_blocks: [
          { type: 'thinking', thinking: '', signature: 'sig' },
          { type: 'redacted_thinking', data: 'secret' },
        ],
      },
      { content: 'Yes' },
    ])
  })

  it('names the call that a thought precedes', () => {
    const events = [...thought(0, 'a', 'sa'), ...text(1, 'Now'), ...thought(2, 'b', 'sb'), ...tool(3, 'x', 'f', '{}')]
    expect(deltas(start(), ...events, ...thought(4, 'c', 'sc'), end('tool_use'), last).deltas).toEqual([
      role,
      { reasoning_content: 'a' },
      carried(0, 'a', 'sa'),
      { content: 'Now' },
      { reasoning_content: 'b' },
      carried(1, 'b', 'sb', 'x'),
      toolStart(0, 'x', 'f'),
      toolPart(0, '{}'),
      { reasoning_content: 'c' },
      carried(2, 'c', 'sc'),
    ])
  })

  it('returns no thought that is not signed, or is cut', () => {
    const cut = thought(0, 'Hm', 'sig').slice(0, 3)
    expect(deltas(start(), ...cut, end('max_tokens'), last).deltas).toEqual([role, { reasoning_content: 'Hm' }])
    const unsigned = [...thought(0, 'Hm', ''), ...text(1, 'Yes')]
    expect(deltas(start(), ...unsigned, end('end_turn'), last).deltas).toEqual([
      role,
      { reasoning_content: 'Hm' },
      { content: 'Yes' },
    ])
  })

  it('reports the reason of a refusal', () => {
    const refused = end('refusal', { output_tokens: 1 }, { stop_details: { explanation: 'Not this.' } })
    expect(deltas(start(), refused, last)).toMatchObject({
      deltas: [role, { refusal: 'Not this.' }],
      finish: 'content_filter',
    })
    expect(deltas(start(), ...text(0, 'Well'), refused, last).deltas).toEqual([
      role,
      { content: 'Well' },
      { refusal: 'Not this.' },
    ])
  })

  it('accepts a repeated message_start of the same message', () => {
    expect(deltas(start(), start(), ...text(0, 'a'), end('end_turn'), last).deltas).toEqual([role, { content: 'a' }])
  })

  it('that is cut in a tool call has its arguments as received', () => {
    const open = tool(0, 'x', 'f', '{"a": 1').slice(0, -1)
    expect(deltas(start(), ...open, end('max_tokens'), last)).toMatchObject({
      deltas: [{ ...role }, toolStart(0, 'x', 'f'), toolPart(0, '{"a": 1')],
      finish: 'length',
    })
  })

  it('ignores unknown events and blocks of server tools', () => {
    const search = [
      block(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"q":1}' }),
      stop(0),
    ]
    const unknown = [
      { type: 'new_event' },
      block(1, { type: 'new_block' }),
      delta(1, { type: 'text_delta', text: 'x' }),
      delta(2, { type: 'citations_delta' }),
      delta(9, { type: 'text_delta', text: 'x' }),
    ]
    expect(deltas(start(), ...search, ...unknown, ...text(2, 'a'), end('end_turn'), last).deltas).toEqual([
      role,
      { content: 'a' },
    ])
  })

  it('accepts input in content_block_start', () => {
    const whole = [
      block(0, { type: 'tool_use', id: 'x', name: 'f', input: { a: 1 } }),
      delta(0, { type: 'input_json_delta', partial_json: '{"a":1}' }),
      stop(0),
    ]
    expect(deltas(start(), ...whole, end('tool_use'), last).deltas).toEqual([
      role,
      toolStart(0, 'x', 'f'),
      toolPart(0, '{"a":1}'),
    ])
  })

  it('is complete without message_stop', () => {
    expect(deltas(start(), ...text(0, 'a'), end('end_turn')).finish).toBe('stop')
  })

  it('returns the input of the schema tool as text', () => {
    const asked = {
      model: 'claude-3-haiku-20240307',
      tool_choice: null,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
    }
    const { batches } = decode([[start()], tool(0, 'x', 'json', '', '{"ok":', 'true}'), [end('tool_use'), last]], asked)
    const choices = batches.flat().flatMap(({ choices: [choice] }) => choice ?? [])
    expect(choices.map(({ delta: given }) => given.content ?? '').join('')).toBe('{"ok":true}')
    expect(choices.at(-1)!.finish_reason).toBe('stop')
    expect(JSON.stringify(choices)).not.toContain('tool_calls')
    // Claude sends no delta for an empty input.
    const empty = decode([[start()], tool(0, 'x', 'json'), [end('tool_use'), last]], asked).batches.flat()
    expect(empty.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('')).toBe('{}')
  })
})

describe('a stream of Claude that fails', () => {
  const failure = (...events: (object | string)[]) => {
    const { batches, error } = decode(events.map((event) => [event]))
    return { chunks: batches.flat().length, ...(error as UpstreamError).failure }
  }

  it.each([
    ['overloaded_error', 529],
    ['rate_limit_error', 429],
    ['api_error', 500],
    ['invalid_request_error', 400],
    ['new_error', 500],
  ])('in its first event, by %s, has its status', (type, status) => {
    const error = { type: 'error', error: { type, message: 'No' } }
    expect(failure(error)).toMatchObject({ kind: 'status', status, accepted: false, chunks: 0 })
    expect(failure({ type: 'ping' }, error)).toMatchObject({ status, chunks: 0 })
  })

  it('later returns what came before', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'No' } }
    expect(failure(start(), ...text(0, 'a', 'b'), error)).toMatchObject({
      kind: 'status',
      status: 529,
      accepted: true,
      chunks: 3,
    })
  })

  it.each<[what: string, events: (object | string)[]]>([
    ['stops early', [start(), ...text(0, 'a')]],
    ['says that it is done without a reason', [start(), ...text(0, 'a'), end(null), last]],
    ['is empty', []],
    ['is only pings', [{ type: 'ping' }, { type: 'ping' }]],
  ])('is truncated where it %s', (_, events) => {
    expect(failure(...events)).toMatchObject({ kind: 'truncated', accepted: true })
  })

  it('is malformed with events of another message', () => {
    expect(failure(start(), ...text(0, 'a'), start({}, 'msg_2'))).toMatchObject({ kind: 'malformed', chunks: 2 })
  })

  it.each(['{"type":', '<html>'])('is malformed by %s', (data) => {
    expect(failure(start(), data)).toMatchObject({ kind: 'malformed' })
  })

  it('is malformed with arguments that are not JSON', () => {
    expect(failure(start(), ...tool(0, 'x', 'f', '{"a":'), end('tool_use'), last)).toMatchObject({ kind: 'malformed' })
  })
})
