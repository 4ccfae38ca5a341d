import { expect, it } from 'vitest'
import { chunks, pass, stream, whole } from './pass.js'

const messages = [{ role: 'user', content: 'Hi' }]
const asked = { model: 'gpt-4o', messages, stream: true, stream_options: { include_usage: true } }
const model = 'gpt-4o-2024-08-06'
/** What every event of the client has alike. */
const head = { id: 'chatcmpl-1', created: 0, model, object: 'chat.completion.chunk' }
const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const done = 'data: [DONE]\n\n'

/** A chunk of the upstream. */
const given = (choices: object[], more: object = {}) => ({ ...head, created: 1_770_933_892, choices, ...more })
const choice = (delta: object, finish_reason: string | null = null) => ({ index: 0, delta, finish_reason })
const role = choice({ role: 'assistant', content: '' })
const hello = choice({ content: 'Hello' })

/** The client of a stream gets `seen`, from one call of the upstream. @returns the usage records */
async function expectSeen(events: (object | string)[], seen: string, request: object = {}) {
  const { status, text, sent, records } = await pass('openai', { stream: true, ...request }, stream(...events))
  expect(sent.map(({ body }) => body)).toEqual([asked])
  expect(status).toBe(200)
  expect(text).toBe(seen)
  return records
}

it('drops the empty first chunk of Azure, and keeps the first id', async () => {
  const empty = { choices: [], created: 0, id: '', model: '', object: '' }
  const preambles = [
    empty,
    { ...empty, prompt_filter_results: [{ prompt_index: 0, content_filter_results: {} }] },
    { ...empty, usage: null },
  ]
  for (const preamble of preambles)
    await expectSeen(
      [
        preamble,
        given([role], { system_fingerprint: 'fp_1' }),
        given([hello], { id: '', system_fingerprint: 'fp_1' }),
        given([choice({}, 'stop')], { id: 'chatcmpl-2' }),
        given([], { usage }),
        done,
      ],
      chunks({ ...head, system_fingerprint: 'fp_1' }, role, hello, choice({}, 'stop'), '[DONE]'),
    )
})

it('numbers calls from 0 and sends their names first, for any form of the upstream', async () => {
  const a = { id: 'call_a', type: 'function' }
  const b = { id: 'call_b', type: 'function' }
  const fromOne = [
    [{ index: 1, ...a, function: { name: 'a', arguments: '' } }],
    [{ index: 1, function: { arguments: '{"x":1}' } }],
    [{ index: 2, ...b, function: { name: 'b', arguments: '' } }],
    [{ index: 2, function: { arguments: '{"y":2}' } }],
  ]
  const namedLate = [
    [{ index: 0, ...a, function: { arguments: '' } }],
    [{ index: 0, function: { name: 'a', arguments: '{"x":1}' } }],
    [{ index: 1, ...b, function: {} }],
    [{ index: 1, function: { name: 'b', arguments: '{"y":2}' } }],
  ]
  const withoutIndex = [
    [{ ...a, function: { name: 'a', arguments: '' } }],
    [{ function: { arguments: '{"x":1}' } }],
    [{ ...b, function: { name: 'b', arguments: '' } }],
    [{ function: { arguments: '{"y":2}' } }],
  ]
  const withoutIndexAtOnce = [
    [
      { ...a, function: { name: 'a', arguments: '{"x":1}' } },
      { ...b, function: { name: 'b', arguments: '{"y":2}' } },
    ],
  ]
  const calls = (entry: object) => choice({ tool_calls: [entry] })
  const seen = chunks(
    head,
    role,
    calls({ index: 0, ...a, function: { name: 'a', arguments: '' } }),
    calls({ index: 0, function: { arguments: '{"x":1}' } }),
    calls({ index: 1, ...b, function: { name: 'b', arguments: '' } }),
    calls({ index: 1, function: { arguments: '{"y":2}' } }),
    choice({}, 'tool_calls'),
    '[DONE]',
  )
  for (const way of [fromOne, namedLate, withoutIndex, withoutIndexAtOnce]) {
    const entries = way.map((tool_calls) => given([choice({ tool_calls })]))
    await expectSeen([given([role]), ...entries, given([choice({}, 'tool_calls')]), done], seen)
  }
})

it('counts usage once that is reported with the finish reason and again alone', async () => {
  const events = [given([role]), given([hello]), given([choice({}, 'stop')], { usage }), given([], { usage }), done]
  const recorded = [{ prompt_tokens: 9, completion_tokens: 2, tokens: 11, accuracy: 'reported', outcome: 'complete' }]
  const hidden = chunks(head, role, hello, choice({}, 'stop'), '[DONE]')
  expect(await expectSeen(events, hidden)).toMatchObject(recorded)
  const shown = chunks(
    head,
    ...[role, hello, choice({}, 'stop')].map((one) => JSON.stringify({ ...head, choices: [one], usage: null })),
    JSON.stringify({ ...head, choices: [], usage }),
    '[DONE]',
  )
  expect(await expectSeen(events, shown, { stream_options: { include_usage: true } })).toMatchObject(recorded)
})

/** A model is sent `body` for `request`, and the client gets its answer as it is. */
async function expectSent(request: object, body: object): Promise<void> {
  const answer =
    '{"id":"chatcmpl-1","object":"chat.completion","created":0,"model":"o3-2025-04-16","choices":[{"index":0,' +
    '"message":{"role":"assistant","content":"Hello","refusal":null},"finish_reason":"stop"}],' +
    '"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}'
  const { status, text, sent } = await pass('openai', request, whole(answer.replace('"created":0', '"created":5')))
  expect(sent.map((one) => one.body)).toEqual([{ messages, ...body }])
  expect(status).toBe(200)
  expect(text).toBe(answer)
}

it('sends max_completion_tokens to reasoning models, and temperature to those that accept it', async () => {
  for (const model of ['gpt-5.1', 'gpt-5.4'])
    await expectSent(
      { model, max_tokens: 50, temperature: 0.5 },
      { model, max_completion_tokens: 50, temperature: 0.5 },
    )
  for (const model of ['o1', 'o3', 'o4-mini', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-5-2025-08-07', 'gpt-5.5']) {
    await expectSent({ model, max_tokens: 50, temperature: 0.5 }, { model, max_completion_tokens: 50 })
    await expectSent({ model, max_tokens: 50, max_completion_tokens: 70 }, { model, max_completion_tokens: 70 })
  }
  await expectSent({ max_tokens: 50, temperature: 0.5 }, { model: 'gpt-4o', max_tokens: 50, temperature: 0.5 })
})
