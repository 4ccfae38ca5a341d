import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Messages } from '../../../../test/support/anthropic.js'
import {
  hi,
  body,
  notes,
  refusal,
  text,
  user,
  assistant,
  call,
  use,
  result,
  tool,
  noArguments,
} from '../../../../test/support/anthropic.js'

describe('messages in the form of the Messages API', () => {
  it('collects system messages, the system field first', () => {
    const made = body({
      system: 'zero',
      messages: [
        { role: 'system', content: 'one' },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'two' },
        { role: 'assistant', content: 'Hello' },
        { role: 'system', content: 'three' },
        { role: 'user', content: 'Bye' },
      ],
    })
    expect(made['system']).toEqual(['zero', 'one', 'two', 'three'].map(text))
    expect(made['messages']).toEqual([user(text('Hi')), assistant(text('Hello')), user(text('Bye'))])
  })

  it('keeps the parts of a system message, and omits blank ones', () => {
    const made = body({
      messages: [{ role: 'system', content: [text('a'), text(' '), text('b')] as never }, ...hi],
    })
    expect(made['system']).toEqual([text('a'), text('b')])
  })

  it('merges messages of one role', () => {
    const made = body({
      messages: [
        { role: 'user', content: 'a' },
        { role: 'user', content: [text('b')] as never },
        { role: 'assistant', content: 'c' },
        { role: 'assistant', content: 'd' },
        { role: 'user', content: 'e' },
      ],
    })
    expect(made['messages']).toEqual([user(text('a'), text('b')), assistant(text('c'), text('d')), user(text('e'))])
  })

  it('puts all results of a turn at the start of one user message', () => {
    const made = body({
      tools: [tool('f')],
      messages: [
        ...hi,
        { role: 'assistant', content: null, tool_calls: [call('a', 'f'), call('b', 'f'), call('c', 'f')] },
        { role: 'tool', tool_call_id: 'c', content: '3' },
        { role: 'tool', tool_call_id: 'b', content: '' },
        { role: 'tool', tool_call_id: 'a', content: '1' },
        { role: 'user', content: 'So?' },
      ],
    })
    expect(made['messages']).toEqual([
      user(text('Hi')),
      assistant(use('a', 'f'), use('b', 'f'), use('c', 'f')),
      user(result('c', '3'), result('b', ''), result('a', '1'), text('So?')),
    ])
  })

  it('omits empty text beside a call', () => {
    const made = body({
      tools: [tool('f')],
      messages: [...hi, { role: 'assistant', content: '', tool_calls: [call('a', 'f')] }],
    })
    expect(made['messages']).toEqual([user(text('Hi')), assistant(use('a', 'f'))])
  })

  it('requires arguments to be an object', () => {
    const asked = (args: string): Partial<ChatCompletionRequest> => ({
      tools: [tool('f')],
      messages: [...hi, { role: 'assistant', content: null, tool_calls: [call('a', 'f', args)] }],
    })
    for (const none of ['', ' ', 'null'])
      expect(body(asked(none))['messages']).toEqual([user(text('Hi')), assistant(use('a', 'f', {}))])
    expect(body(asked('{"x":{"__proto__":1}}'))['messages']).toEqual(
      JSON.parse(
        '[{"role":"user","content":[{"type":"text","text":"Hi"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"x":{"__proto__":1}}}]}]',
      ),
    )
    for (const bad of ['[1]', '{bad', '"text"', '7'])
      expect(refusal(asked(bad))).toMatchObject({
        status: 400,
        code: 'invalid_body',
        message: 'The arguments of "f" are no JSON object',
      })
  })

  it('changes the id of a call and of its result alike', () => {
    const long = `call.1:2/3${'x'.repeat(50)}`
    const made = body({
      tools: [tool('f')],
      messages: [
        ...hi,
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('call.1:2/3', 'f'), call('call_1_2_3', 'f'), call(long, 'f')],
        },
        { role: 'tool', tool_call_id: long, content: 'c' },
        { role: 'tool', tool_call_id: 'call.1:2/3', content: 'a' },
        { role: 'tool', tool_call_id: 'call_1_2_3', content: 'b' },
      ],
    })
    const cut = `call_1_2_3${'x'.repeat(30)}`
    expect(made['messages']).toEqual([
      user(text('Hi')),
      assistant(use('call_1_2_3', 'f'), use('call_1_2_3_2', 'f'), use(cut, 'f')),
      user(result(cut, 'c'), result('call_1_2_3', 'a'), result('call_1_2_3_2', 'b')),
    ])
  })

  it('makes equal ids of two turns distinct', () => {
    const turn: Messages = [
      { role: 'assistant', content: null, tool_calls: [call('same', 'f')] },
      { role: 'tool', tool_call_id: 'same', content: 'x' },
    ]
    expect(body({ tools: [tool('f')], messages: [...hi, ...turn, ...turn] })['messages']).toEqual([
      user(text('Hi')),
      assistant(use('same', 'f')),
      user(result('same', 'x')),
      assistant(use('same_2', 'f')),
      user(result('same_2', 'x')),
    ])
  })

  it('matches results of calls with the same id in order', () => {
    const turn: Messages = [
      { role: 'assistant', content: null, tool_calls: [call('', 'f'), call('', 'g')] },
      { role: 'tool', tool_call_id: '', content: 'of f' },
      { role: 'tool', tool_call_id: '', content: 'of g' },
    ]
    expect(body({ tools: [tool('f'), tool('g')], messages: [...hi, ...turn] })['messages']).toEqual([
      user(text('Hi')),
      assistant(use('call', 'f'), use('call_2', 'g')),
      user(result('call', 'of f'), result('call_2', 'of g')),
    ])
  })

  it('refuses a result without its call, and a second one', () => {
    const answer: Messages = [{ role: 'tool', tool_call_id: 'call_9', content: 'x' }]
    const calls: Messages = [{ role: 'assistant', content: null, tool_calls: [call('call_9', 'f')] }]
    const refused = { status: 400, message: 'No tool call "call_9" waits for a result' }
    expect(refusal({ messages: [...hi, ...answer] })).toMatchObject(refused)
    expect(refusal({ messages: [...hi, ...calls, ...answer, ...answer] })).toMatchObject(refused)
  })

  it('declares the tools of a history without tools', () => {
    const messages: Messages = [
      ...hi,
      { role: 'assistant', content: null, tool_calls: [call('a', 'f')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    expect(body({ messages })).toMatchObject({
      tools: [{ name: 'f', input_schema: noArguments }],
      tool_choice: { type: 'none' },
    })
    expect(notes({ messages })).toEqual(['emulated tools'])
  })

  it('trims the end of an assistant message to continue', () => {
    const made = body({ messages: [...hi, { role: 'assistant', content: 'Well: \n' }] })
    expect(made['messages']).toEqual([user(text('Hi')), assistant(text('Well:'))])
  })

  it('refuses a conversation without content, or an empty user message', () => {
    expect(
      refusal({ messages: [...hi, { role: 'assistant', content: 'Yes?' }, { role: 'user', content: ' ' }] }),
    ).toMatchObject({
      status: 400,
      message: 'A user message has no content',
    })
    expect(refusal({ messages: [{ role: 'system', content: ' ' }] })).toMatchObject({
      status: 400,
      message: 'The messages have no content',
    })
  })

  it('refuses non-text parts in a system message, and invalid base64', () => {
    const image = { type: 'image_url', image_url: { url: 'https://a.example/b.png' } }
    expect(refusal({ messages: [{ role: 'system', content: [image] as never }, ...hi] })).toMatchObject({
      status: 400,
      message: 'Claude does not take more than text in system messages',
    })
    const file = { type: 'file', file: { file_data: 'data:text/plain;base64,%%%' } }
    expect(refusal({ messages: [{ role: 'user', content: [file] as never }] })).toMatchObject({
      status: 400,
      message: 'A data URL is malformed',
    })
  })
})

describe('media', () => {
  const part = (given: object) => body({ messages: [{ role: 'user', content: [given] as never }] })['messages']
  const refused = (given: object) => refusal({ messages: [{ role: 'user', content: [given] as never }] })
  const image = (url: string) => ({ type: 'image_url', image_url: { url } })

  it('accepts images as data URLs and https URLs, and no other way', () => {
    expect(part(image('data:image/jpg;base64,/9j/'))).toEqual([
      user({ type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/' } }),
    ])
    expect(part(image('https://example.com/a.png'))).toEqual([
      user({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
    ])
    for (const url of ['data:image/svg+xml;base64,AA==', 'http://169.254.169.254/latest', 'file:///etc/passwd'])
      expect(refused(image(url))).toMatchObject({ status: 400 })
  })

  it('accepts a PDF as a document', () => {
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }
    expect(part(file)).toEqual([
      user({
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'a.pdf',
      }),
    ])
    expect(part({ type: 'file', file: { file_data: 'data:text/plain;charset=utf-8,gr%C3%BC%C3%9F' } })).toEqual([
      user({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'grüß' } }),
    ])
    expect(refused({ type: 'file', file: { file_id: 'file-1' } })).toMatchObject({ code: 'unsupported_parameter' })
  })

  it('threat 171: refuses documents of text that are mostly controls, of which JSON makes six characters each', () => {
    const file = (text: string) => ({ type: 'file', file: { file_data: `data:text/plain;base64,${btoa(text)}` } })
    expect(part(file(`\u001b${'a'.repeat(9)}`))).toHaveLength(1)
    expect(refused(file(`\u001b${'a'.repeat(8)}`))).toMatchObject({ status: 400 })
  })

  it.each(['input_audio', 'audio', 'video_url'])('refuses %s', (type) => {
    expect(refused({ type })).toMatchObject({ status: 400, code: 'unsupported_parameter' })
  })
})
