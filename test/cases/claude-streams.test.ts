// Longer than 250 lines: items 34 to 47 of one list, told with the same events.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { errors } from '../faults/wire.js'
import { fixtures, needs, recordedTraffic } from '../support/needs.js'
import type { Answer } from './pass.js'
import { chunks, pass, stream } from './pass.js'

const model = 'claude-sonnet-4-5-20250929'
/** What every event of the client has alike. */
const head = { id: 'msg_1', created: 0, model, object: 'chat.completion.chunk' }
const asked = {
  model: 'claude-sonnet-4-5',
  max_tokens: 64_000,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  stream: true,
}

// What Claude sends.
interface Event {
  type: string
}
const start = (usage: object = { input_tokens: 12, output_tokens: 1 }, id = 'msg_1') => ({
  type: 'message_start',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  },
})
const block = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, given: object) => ({ type: 'content_block_delta', index, delta: given })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const text = (index: number, ...pieces: string[]) => [
  block(index, { type: 'text', text: '' }),
  ...pieces.map((piece) => delta(index, { type: 'text_delta', text: piece })),
]
const tool = (index: number, id: string, name: string, ...pieces: string[]) => [
  block(index, { type: 'tool_use', id, name, input: {} }),
  ...pieces.map((piece) => delta(index, { type: 'input_json_delta', partial_json: piece })),
]
const end = (stop_reason: string, usage: object = { output_tokens: 30 }) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  usage,
})
const last = { type: 'message_stop' }
const ping = { type: 'ping' }
const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' }, request_id: 'req_1' }
const hello = [start(), ...text(0, 'Hello'), stop(0)]

const framed = (event: Event): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
const events = (...given: (Event | Error)[]): Answer =>
  stream(...given.map((event) => (event instanceof Error ? event : framed(event))))

// What the client sees.
const choice = (given: object, finish_reason: string | null = null) => ({ index: 0, delta: given, finish_reason })
const role = choice({ role: 'assistant', content: '' })
const says = (content: string) => choice({ content })
const calls = (index: number, id: string, name: string) =>
  choice({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
const passes = (index: number, args: string) => choice({ tool_calls: [{ index, function: { arguments: args } }] })
const finish = (reason: string) => choice({}, reason)
const done = '[DONE]'
const helloSeen = chunks(head, role, says('Hello'), finish('stop'), done)

/** The client of a stream gets `seen`, from one call of Claude. @returns the usage records */
async function expectSeen(answer: Answer, seen: string, request: object = {}) {
  const { status, headers, text: got, sent, records } = await pass('anthropic', { stream: true, ...request }, answer)
  expect(sent.map(({ body }) => body)).toEqual([asked])
  expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(got).toBe(seen)
  return records
}

interface Recorded extends Event {
  message?: { id: string }
  content_block?: { id: string; name: string }
  delta?: { text?: string }
}

it('numbers calls independently of blocks, and sends {} for no arguments', needs(recordedTraffic), async () => {
  const lines = readFileSync(new URL('anthropic/anthropic-tool-no-args.chunks.txt', fixtures), 'utf8')
    .trim()
    .split('\n')
  const recorded = lines.map((line) => JSON.parse(line) as Recorded)
  const { id } = recorded[0]!.message!
  const call = recorded[7]!.content_block!
  const texts = recorded.slice(2, 4).map((event) => says(event.delta!.text!))
  const seen = [role, ...texts, calls(0, call.id, call.name), passes(0, '{}'), finish('tool_calls'), done]
  await expectSeen(events(...recorded), chunks({ ...head, id }, ...seen))
})

it('sends nothing for a ping', async () => {
  const pinged = [...hello, end('end_turn'), last].flatMap((event) => [ping, event, ping])
  await expectSeen(events(...pinged), helloSeen)
})

it('keeps texts and calls in order, and numbers the calls from 0', async () => {
  const blocks = [
    ...text(0, 'One'),
    stop(0),
    ...tool(1, 'toolu_1', 'a', '', '{"x"', ':1}'),
    stop(1),
    ...text(2, ' two'),
    stop(2),
    ...tool(3, 'toolu_2', 'b', '', '{"y":2}'),
    stop(3),
  ]
  await expectSeen(
    events(start(), ...blocks, end('tool_use'), last),
    chunks(
      head,
      role,
      says('One'),
      calls(0, 'toolu_1', 'a'),
      passes(0, '{"x"'),
      passes(0, ':1}'),
      says(' two'),
      calls(1, 'toolu_2', 'b'),
      passes(1, '{"y":2}'),
      finish('tool_calls'),
      done,
    ),
  )
})

/** The chunks of a client that asked for usage. */
const unused = (...choices: object[]) => choices.map((one) => JSON.stringify({ ...head, choices: [one], usage: null }))
const used = (prompt: number, completion: number, total: number) =>
  `{"id":"msg_1","created":0,"model":"${model}","object":"chat.completion.chunk","choices":[],` +
  `"usage":{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${total},` +
  '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}'
const withUsage = { stream_options: { include_usage: true } }
const helloUnused = unused(role, says('Hello'), finish('stop'))

it('uses the last count of the prompt, where there is one', async () => {
  const counts: [usage: object, prompt: number, total: number][] = [
    [{ input_tokens: 61, output_tokens: 2 }, 61, 63],
    [{ input_tokens: null, output_tokens: 2 }, 43, 45],
    [{ output_tokens: 2 }, 43, 45],
  ]
  for (const [usage, prompt, total] of counts) {
    const records = await expectSeen(
      events(start({ input_tokens: 43, output_tokens: 1 }), ...hello.slice(1), end('end_turn', usage), last),
      chunks(head, ...helloUnused, used(prompt, 2, total), done),
      withUsage,
    )
    expect(records).toMatchObject([{ prompt_tokens: prompt, completion_tokens: 2, tokens: total }])
  }
})

it('sends no usage without include_usage, and records it', async () => {
  for (const stream_options of [undefined, null, {}, { include_usage: null }, { include_usage: false }]) {
    const records = await expectSeen(events(...hello, end('end_turn'), last), helloSeen, { stream_options })
    expect(records).toMatchObject([
      { prompt_tokens: 12, completion_tokens: 30, tokens: 42, accuracy: 'reported', outcome: 'complete' },
    ])
  }
})

it('sends usage once with include_usage, before [DONE], and null in every earlier chunk', async () => {
  const seen = chunks(head, ...helloUnused, used(12, 30, 42), done)
  await expectSeen(events(...hello, end('end_turn'), last), seen, withUsage)
})

it('answers an HTTP error where the first event is an error', async () => {
  for (const given of [[overloaded], [ping, overloaded]]) {
    const { status, headers, text: got, sent, records } = await pass('anthropic', { stream: true }, events(...given))
    expect(sent.map(({ body }) => body)).toEqual([asked])
    expect([status, headers.get('content-type')]).toEqual([502, 'application/json; charset=utf-8'])
    expect(got).toBe(errors.failed)
    expect(records).toEqual([])
  }
})

it('ends with an error event where an error follows three deltas', async () => {
  const records = await expectSeen(
    events(start(), ...text(0, 'One', ' two', ' three'), overloaded, ...text(1, ' four'), end('end_turn'), last),
    chunks(head, role, says('One'), says(' two'), says(' three'), errors.failed),
  )
  expect(records).toMatchObject([{ prompt_tokens: 12, accuracy: 'partial', outcome: 'upstream_error' }])
})

it('ends with an error event where the connection is cut after a delta', async () => {
  for (const cut of [[new Error('socket hang up')], []]) {
    const records = await expectSeen(
      events(start(), ...text(0, 'Hello'), ...cut),
      chunks(head, role, says('Hello'), errors.truncated),
    )
    expect(records).toMatchObject([{ prompt_tokens: 12, accuracy: 'partial', outcome: 'truncated' }])
  }
})

it('is the same with padded JSON, with CRLF, and for any split of its bytes', async () => {
  const given = [start(), ...text(0, 'Hé 👋🏽'), stop(0), ...tool(1, 'toolu_1', 'a', '{"x":"🙂"}'), end('tool_use'), last]
  const seen = chunks(
    head,
    role,
    says('Hé 👋🏽'),
    calls(0, 'toolu_1', 'a'),
    passes(0, '{"x":"🙂"}'),
    finish('tool_calls'),
    done,
  )
  const padded = given.map((event) => framed(event).replace(/\}\n\n$/, '         }\n\n')).join('')
  const singly = (bytes: Uint8Array) => Array.from(bytes, (byte) => Uint8Array.of(byte))
  // At each byte that is no letter.
  const cuts = (bytes: Uint8Array) => [...bytes.keys()].filter((at) => !/\w/.test(String.fromCharCode(bytes[at]!)))
  const inTwo = (bytes: Uint8Array) => cuts(bytes).map((at) => [bytes.subarray(0, at), bytes.subarray(at)])
  const lines = new TextEncoder().encode(padded)
  const crlf = new TextEncoder().encode(padded.replaceAll('\n', '\r\n'))
  for (const body of [[lines], singly(lines), singly(crlf), ...inTwo(crlf)])
    await expectSeen({ ...events(), body }, seen)
})

it('has one role where message_start is repeated, and an error where another message starts', async () => {
  const again = [start(), start(), ...hello.slice(1), start(), end('end_turn'), last]
  await expectSeen(events(...again), helloSeen)
  const spliced = [...hello, start(undefined, 'msg_2'), ...text(0, 'Bye'), end('end_turn'), last]
  await expectSeen(events(...spliced), chunks(head, role, says('Hello'), errors.senseless))
})

it('returns the arguments of a cut call as received', async () => {
  await expectSeen(
    events(start(), ...text(0, 'So'), stop(0), ...tool(1, 'toolu_1', 'a', '{"x": "Pa', 'r'), end('max_tokens'), last),
    chunks(
      head,
      role,
      says('So'),
      calls(0, 'toolu_1', 'a'),
      passes(0, '{"x": "Pa'),
      passes(0, 'r'),
      finish('length'),
      done,
    ),
  )
})

/** A text block with a delta in the midst of it. */
const between = (given: object): Answer =>
  events(
    start(),
    ...text(0, 'Hel'),
    delta(0, given),
    delta(0, { type: 'text_delta', text: 'lo' }),
    end('end_turn'),
    last,
  )
const helSeen = chunks(head, role, says('Hel'), says('lo'), finish('stop'), done)

it('ignores citations and unknown deltas, and passes on signatures', async () => {
  const citation = { type: 'char_location', cited_text: 'Hello', document_index: 0 }
  await expectSeen(between({ type: 'citations_delta', citation }), helSeen)
  await expectSeen(between({ type: 'compaction_delta', content: 'Summary' }), helSeen)
  await expectSeen(between({ type: 'hologram_delta', hologram: 'Hi' }), helSeen)
  await expectSeen(between({ type: 'hologram_delta', text: 'Hi' }), helSeen)
  const signed = [
    block(0, { type: 'thinking', thinking: '', signature: '' }),
    delta(0, { type: 'signature_delta', signature: 'c2lnbmVk' }),
    stop(0),
    ...text(1, 'Hello'),
    stop(1),
  ]
  const carried = choice({
    reasoning_details: [
      { type: 'reasoning.text', text: '', signature: 'c2lnbmVk', id: null, format: 'anthropic-claude-v1', index: 0 },
    ],
    thinking_blocks: [{ type: 'thinking', thinking: '', signature: 'c2lnbmVk' }],
  })
  const signedSeen = chunks(head, role, carried, says('Hello'), finish('stop'), done)
  await expectSeen(events(start(), ...signed, end('end_turn'), last), signedSeen)
})

it('reads a last event without its blank line', async () => {
  for (const final of [
    [...hello, end('end_turn')],
    [...hello, end('end_turn'), last],
  ])
    for (const close of ['', '\n', '\r\n']) {
      const body = final.map(framed).join('').trimEnd() + close
      await expectSeen({ ...events(), body: [body] }, helloSeen)
    }
})
