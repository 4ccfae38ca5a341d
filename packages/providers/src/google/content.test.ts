// Longer than 250 lines: one function, which everything here is a case of.
import { describe, expect, it } from 'vitest'
import { ask, contentsOf, refusal, user } from '../../../../test/support/google.js'

const call = (id: string, name: string, text = '{}', more: object = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: text },
  ...more,
})
const assistant = (calls: object[], content: unknown = null) => ({ role: 'assistant', content, tool_calls: calls })
const result = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
const signed = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } })

describe('messages', () => {
  it('collects system messages from any position', () => {
    const messages = [
      { role: 'system', content: 'one' },
      user,
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'two' },
          { type: 'text', text: 'three' },
        ],
      },
      { role: 'system', content: '' },
    ]
    const { body } = ask({ system: 'zero', messages })
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'zero' }, { text: 'one' }, { text: 'two' }, { text: 'three' }] },
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
    })
  })

  it('refuses a conversation that says nothing', () => {
    expect(refusal({ messages: [{ role: 'system', content: '' }] })).toMatchObject({
      status: 400,
      code: 'invalid_body',
    })
  })

  it('puts system messages into the first user message for Gemma', () => {
    expect(ask({ system: 'Be kind' }, 'gemma-3-27b-it').body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be kind' }, { text: 'Hi' }] }],
    })
    const messages = [{ role: 'assistant', content: 'Hello' }]
    expect(ask({ system: 'Be kind', messages }, 'gemma-3-27b-it').body).toEqual({
      contents: [
        { role: 'user', parts: [{ text: 'Be kind' }] },
        { role: 'model', parts: [{ text: 'Hello' }] },
      ],
    })
  })

  it('merges messages of one role, and keeps at least one part', () => {
    const text = (content: unknown, role = 'user') => ({ role, content })
    expect(
      contentsOf([
        text('a'),
        text('b'),
        text('', 'assistant'),
        text([{ type: 'refusal', refusal: 'No' }], 'assistant'),
        text(''),
      ]),
    ).toEqual([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'No' }] },
      { role: 'user', parts: [{ text: '' }] },
    ])
  })

  it('keeps a refusal of an earlier answer, and reports dropped fields', () => {
    const { body, notes } = ask({
      messages: [
        { role: 'user', name: 'ann', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: null, refusal: 'No' },
      ],
    })
    expect(body['contents']).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'No' }] },
    ])
    expect(notes).toEqual([{ field: 'messages.name', action: 'dropped' }])
  })

  it('keeps text beside calls, and puts all results into one content', () => {
    const messages = [
      user,
      assistant([call('call_a', 'weather', '{"city":"Bonn"}'), call('call_b', 'time')], 'Let me see'),
      result('call_a', '22C'),
      result('call_b', '12:00'),
      { role: 'user', content: 'Thanks' },
    ]
    expect(contentsOf(messages)).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { text: 'Let me see' },
          { functionCall: { name: 'weather', args: { city: 'Bonn' } } },
          { functionCall: { name: 'time', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'weather', response: { output: '22C' } } },
          { functionResponse: { name: 'time', response: { output: '12:00' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Thanks' }] },
    ])
  })

  it('puts results in the order of their calls', () => {
    const messages = [
      user,
      assistant([call('call_a', 'weather', '{"city":"Bonn"}'), call('call_b', 'weather', '{"city":"Kiel"}')]),
      result('call_b', 'cold'),
      result('call_a', 'warm'),
      assistant([call('call_c', 'weather')]),
      result('call_c', 'mild'),
    ]
    const response = (output: string) => ({ functionResponse: { name: 'weather', response: { output } } })
    const contents = contentsOf(messages) as { role: string; parts: object[] }[]
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user', 'model', 'user'])
    expect(contents[2]!.parts).toEqual([response('warm'), response('cold')])
    expect(contents[4]!.parts).toEqual([response('mild')])
  })

  it('matches results of calls with the same id in order', () => {
    const turn = [assistant([call('', 'f'), call('', 'g')]), result('', 'of f'), result('', 'of g')]
    const response = (name: string) => ({ functionResponse: { name, response: { output: `of ${name}` } } })
    expect(contentsOf([user, ...turn, ...turn])).toMatchObject([
      {},
      {},
      { parts: [response('f'), response('g')] },
      {},
      { parts: [response('f'), response('g')] },
    ])
  })

  it('refuses a result without its call, and a second one', () => {
    const refused = { status: 400, message: 'No tool call "call_9" waits for a result' }
    const answer = result('call_9', 'x')
    expect(refusal({ messages: [user, answer] })).toMatchObject(refused)
    expect(refusal({ messages: [user, assistant([call('call_9', 'f')]), answer, answer] })).toMatchObject(refused)
  })

  it.each([
    ['call_abcdefghijklmnopqrstuvwx', undefined],
    ['toolu_01A', undefined],
    ['', undefined],
    ['function-call-17', 'function-call-17'],
  ])('returns an id only if it is from Gemini: %j', (id, sent) => {
    const contents = contentsOf([user, assistant([call(id, 'f')]), result(id, 'x')])
    const expected = sent === undefined ? {} : { id: sent }
    expect(contents).toMatchObject([{}, { parts: [{ functionCall: { name: 'f', args: {}, ...expected } }] }, {}])
    expect(JSON.stringify(contents).includes('"id"')).toBe(sent !== undefined)
    expect(contents).toMatchObject([{}, {}, { parts: [{ functionResponse: { name: 'f', ...expected } }] }])
  })

  it.each([
    ['22C', { output: '22C' }],
    ['', { output: '' }],
    ['{"temperature":22}', { temperature: 22 }],
    ['[1]', { output: '[1]' }],
    ['7', { output: '7' }],
    ['null', { output: 'null' }],
    ['{"a":{"$ref":"#/a"}}', { output: '{"a":{"$ref":"#/a"}}' }],
    [
      [
        { type: 'text', text: '2' },
        { type: 'text', text: '2C' },
      ],
      { output: '22C' },
    ],
  ])('converts the result %j of a tool', (content, response) => {
    expect(contentsOf([user, assistant([call('call_a', 'f')]), result('call_a', content)])).toMatchObject([
      {},
      {},
      { parts: [{ functionResponse: { response } }] },
    ])
  })

  it.each([
    ['an id that no call has', [user, result('call_x', '1')], '"call_x"'],
    ['arguments that are a list', [user, assistant([call('call_a', 'f', '[1]')])], '"f"'],
    ['arguments that are broken', [user, assistant([call('call_a', 'f', '{bad')])], '"f"'],
    ['a function message', [user, { role: 'function', name: 'f', content: '1' }], 'function'],
  ])('refuses %s', (_, messages, named) => {
    const message = expect.stringContaining(named) as string
    expect(refusal({ messages })).toMatchObject({ status: 400, code: 'invalid_body', message })
  })

  it.each([
    ['custom calls', assistant([{ id: 'call_a', type: 'custom', custom: { name: 'f', input: '' } }])],
    ['audio of an earlier answer', { role: 'assistant', content: null, audio: { id: 'audio_1' } }],
    [
      'an image of a tool that is none',
      result('call_a', [{ type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AA==' } }]),
    ],
  ])('refuses %s', (_, message) => {
    const messages = [user, assistant([call('call_a', 'f')]), message]
    expect(refusal({ messages })).toMatchObject({ status: 400, code: 'unsupported_parameter' })
  })

  it('keeps prototype keys as data', () => {
    const text = '{"__proto__":{"a":1},"constructor":2}'
    const contents = JSON.stringify(contentsOf([user, assistant([call('call_a', 'f', text)]), result('call_a', text)]))
    expect(contents.split(text)).toHaveLength(3)
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
  })

  it('round integers beyond a double in arguments, not in text results', () => {
    const contents = contentsOf([
      user,
      assistant([call('call_a', 'f', '{"n":12345678901234567890}')]),
      result('call_a', '12345678901234567890'),
    ])
    expect(contents).toMatchObject([
      {},
      { parts: [{ functionCall: { args: { n: 12345678901234567000 } } }] },
      { parts: [{ functionResponse: { response: { output: '12345678901234567890' } } }] },
    ])
  })

  it('accepts lone surrogates and NUL', () => {
    expect(contentsOf([{ role: 'user', content: 'a\ud800\0' }])).toEqual([
      { role: 'user', parts: [{ text: 'a\ud800\0' }] },
    ])
  })
})

describe('signatures', () => {
  const history = (first: object, second: object) => [
    user,
    assistant([call('call_a', 'f', '{}', first), call('call_b', 'g', '{}', second)], 'Wait'),
    result('call_a', '1'),
    result('call_b', '2'),
    assistant([call('call_c', 'h', '{}', first)]),
    result('call_c', '3'),
  ]
  const signatures = (model: string, first: object, second: object = {}) =>
    (contentsOf(history(first, second), model) as { parts: { thoughtSignature?: string }[] }[]).flatMap(({ parts }) =>
      parts.map(({ thoughtSignature }) => thoughtSignature ?? ''),
    )

  it('are returned with their call', () => {
    for (const model of ['gemini-2.5-flash', 'gemini-3-flash-preview'])
      expect(signatures(model, signed('abc'))).toEqual(['', '', 'abc', '', '', '', 'abc', ''])
  })

  it('are replaced on the first call of each turn for Gemini 3 only', () => {
    const stand = 'skip_thought_signature_validator'
    expect(signatures('gemini-3.1-pro-preview', {})).toEqual(['', '', stand, '', '', '', stand, ''])
    expect(signatures('gemini-2.5-pro', {}).join('')).toBe('')
  })

  it('are accepted in any form', () => {
    for (const extra_content of [null, 'x', { google: null }, { google: { thought_signature: 1 } }])
      expect(signatures('gemini-2.5-pro', { extra_content }).join('')).toBe('')
  })
})
