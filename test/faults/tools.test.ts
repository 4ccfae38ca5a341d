import { describe, expect, it } from 'vitest'
import { chat } from '../support/raw-client.js'
import { completion, given, seen } from './openai.js'
import { expectAnswer, expectError, expectStream } from './replies.js'
import { useServer } from './server.js'
import { answer, done, errorEvent, errors, stream } from './wire.js'

const at = useServer()

/** A delta of tool calls as an upstream sends it. */
const calls = (...tool_calls: object[]): string => given({ tool_calls })
/** The first entry of a call. */
const call = (id: string, name: string, text: unknown = '', more: object = {}): object => ({
  ...more,
  id,
  type: 'function',
  function: { name, arguments: text },
})
/** A further entry of a call. */
const more = (text: unknown, index?: number): object => ({
  ...(index !== undefined && { index }),
  function: { arguments: text },
})

/** The first entry of a call as the client sees it; the first of all begins the message. */
const seenCall = (index: number, id: string, name: string): string =>
  seen({ ...(index === 0 && { role: 'assistant', content: null }), tool_calls: [{ index, ...call(id, name) }] })
const seenMore = (index: number, text: string): string => seen({ tool_calls: [more(text, index)] })

const finish = given({}, 'tool_calls')
const seenEnd = seen({}, 'tool_calls') + done
const weather = seenCall(0, 'call_a', 'weather') + seenMore(0, '{"city":') + seenMore(0, '"Rome"}') + seenEnd
const both =
  seenCall(0, 'call_a', 'weather') +
  seenMore(0, '{"city":"Rome"}') +
  seenCall(1, 'call_b', 'time') +
  seenMore(1, '{"zone":1}') +
  seenEnd

const quirks: { name: string; upstream: string[]; seen: string }[] = [
  {
    name: 'as OpenAI has it',
    upstream: [
      given({ role: 'assistant', content: null, tool_calls: [call('call_a', 'weather', '', { index: 0 })] }),
      calls(more('{"city":', 0)),
      calls(more('"Rome"}', 0)),
      finish,
    ],
    seen: weather,
  },
  {
    name: 'counted from 1',
    upstream: [
      calls(call('call_a', 'weather', '', { index: 1 })),
      calls(more('{"city":', 1)),
      calls(more('"Rome"}', 1)),
      finish,
    ],
    seen: weather,
  },
  {
    name: 'not counted',
    upstream: [calls(call('call_a', 'weather')), calls(more('{"city":')), calls(more('"Rome"}')), finish],
    seen: weather,
  },
  {
    name: 'counted as null',
    upstream: [
      calls(call('call_a', 'weather', '', { index: null })),
      calls({ ...more('{"city":'), index: null }),
      calls({ ...more('"Rome"}'), index: null }),
      finish,
    ],
    seen: weather,
  },
  {
    name: 'its name in the second delta',
    upstream: [
      calls({ index: 0, id: 'call_a', type: 'function', function: { arguments: '{"city":' } }),
      calls({ index: 0, function: { name: 'weather', arguments: '' } }),
      calls(more('"Rome"}', 0)),
      finish,
    ],
    seen: weather,
  },
  {
    name: 'its id and name in every delta',
    upstream: ['', '{"city":', '"Rome"}']
      .map((text) => calls(call('call_a', 'weather', text, { index: 0 })))
      .concat(finish),
    seen: weather,
  },
  {
    name: 'in the delta that finishes',
    upstream: [given({ tool_calls: [call('call_a', 'weather', '{"city":'), more('"Rome"}')] }, 'tool_calls')],
    seen: weather,
  },
  {
    name: 'finished as a stop',
    upstream: [calls(call('call_a', 'weather')), calls(more('{"city":')), calls(more('"Rome"}')), given({}, 'stop')],
    seen: weather,
  },
  {
    name: 'finished as function_call',
    upstream: [
      calls(call('call_a', 'weather')),
      calls(more('{"city":')),
      calls(more('"Rome"}')),
      given({}, 'function_call'),
    ],
    seen: weather,
  },
  {
    name: 'two, counted from 1',
    upstream: [
      calls(call('call_a', 'weather', '{"city":"Rome"}', { index: 1 })),
      calls(call('call_b', 'time', '{"zone":1}', { index: 2 })),
      finish,
    ],
    seen: both,
  },
  {
    name: 'two, not counted',
    upstream: [
      calls(call('call_a', 'weather', '{"city":"Rome"}')),
      calls(call('call_b', 'time', '{"zone":1}')),
      finish,
    ],
    seen: both,
  },
  {
    name: 'two in one delta, not counted',
    upstream: [calls(call('call_a', 'weather', '{"city":"Rome"}'), call('call_b', 'time', '{"zone":1}')), finish],
    seen: both,
  },
  {
    name: 'two, both counted 0',
    upstream: [
      calls(call('call_a', 'weather', '', { index: 0 })),
      calls(more('{"city":"Rome"}', 0)),
      calls(call('call_b', 'time', '', { index: 0 })),
      calls(more('{"zone":1}', 0)),
      finish,
    ],
    seen: both,
  },
  {
    name: 'two, in turns',
    upstream: [
      calls(call('call_a', 'weather', '', { index: 0 }), call('call_b', 'time', '', { index: 1 })),
      calls(more('{"zone"', 1)),
      calls(more('{}', 0)),
      calls(more(':1}', 1)),
      finish,
    ],
    seen:
      seenCall(0, 'call_a', 'weather') +
      seenCall(1, 'call_b', 'time') +
      seenMore(1, '{"zone"') +
      seenMore(0, '{}') +
      seenMore(1, ':1}') +
      seenEnd,
  },
  {
    name: 'after some text',
    upstream: [given({ role: 'assistant', content: 'Hm' }), calls(call('call_a', 'time', '{}')), finish],
    seen:
      seen({ role: 'assistant', content: 'Hm' }) +
      seen({ tool_calls: [{ index: 0, ...call('call_a', 'time') }] }) +
      seenMore(0, '{}') +
      seenEnd,
  },
  {
    name: 'empty arguments',
    upstream: [calls(call('call_a', 'time')), finish],
    seen: seenCall(0, 'call_a', 'time') + seenMore(0, '{}') + seenEnd,
  },
  {
    name: 'null arguments',
    upstream: [calls(call('call_a', 'time', null)), finish],
    seen: seenCall(0, 'call_a', 'time') + seenMore(0, '{}') + seenEnd,
  },
  {
    name: 'arguments as an object',
    upstream: [calls(call('call_a', 'time', { zone: 1 })), finish],
    seen: seenCall(0, 'call_a', 'time') + seenMore(0, '{"zone":1}') + seenEnd,
  },
  {
    name: 'arguments cut off by the length',
    upstream: [calls(call('call_a', 'time', '{"zo')), given({}, 'length')],
    seen: seenCall(0, 'call_a', 'time') + seenMore(0, '{"zo') + seen({}, 'length') + done,
  },
  {
    name: 'arguments that are not JSON',
    upstream: [calls(call('call_a', 'time', '{"zo')), finish],
    seen: seenCall(0, 'call_a', 'time') + seenMore(0, '{"zo') + errorEvent(errors.senseless),
  },
  {
    name: 'a delta after the finish',
    upstream: [calls(call('call_a', 'weather')), calls(more('{"city":')), finish, calls(more('"Rome"}'))],
    seen: weather,
  },
]

describe('a streamed tool call', () => {
  it.each(quirks)('$name', async ({ upstream, seen: wanted }) => {
    at.upstream.script = stream(...upstream, done)
    expectStream(await chat(at.server, { stream: true }), wanted)
    expect(at.upstream.requests).toBe(1)
  })
})

describe('a tool call in a whole answer', () => {
  const time = (text: unknown) => ({ content: null, tool_calls: [call('call_a', 'time', text)] })
  it.each([
    ['as OpenAI has it', completion(time('{"zone":1}'), 'tool_calls'), '{"zone":1}', 'tool_calls'],
    ['finished as a stop', completion(time('{"zone":1}'), 'stop'), '{"zone":1}', 'tool_calls'],
    ['with empty text', completion({ ...time('{}'), content: '' }, 'tool_calls'), '{}', 'tool_calls'],
    ['empty arguments', completion(time(''), 'tool_calls'), '{}', 'tool_calls'],
    ['no arguments', completion(time(undefined), 'tool_calls'), '{}', 'tool_calls'],
    ['arguments as an object', completion(time({ zone: 1 }), 'tool_calls'), '{"zone":1}', 'tool_calls'],
    ['arguments cut off by the length', completion(time('{"zo'), 'length'), '{"zo', 'length'],
  ])('%s', async (_, body, text, finish) => {
    at.upstream.script = [answer(200, body)]
    expectAnswer(await chat(at.server), completion(time(text), finish))
  })

  it('arguments that are not JSON', async () => {
    at.upstream.script = [answer(200, completion(time('{"zo'), 'tool_calls'))]
    expectError(await chat(at.server), { status: 502, body: errors.senseless, shouldRetry: 'false' })
  })

  it('none, as an empty list', async () => {
    at.upstream.script = [answer(200, completion({ content: 'Hello', tool_calls: [] }))]
    expectAnswer(await chat(at.server), completion({ content: 'Hello' }))
  })
})
