import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Messages } from '../../../../test/support/anthropic.js'
import { assistant, body, call, hi, notes, result, text, tool, use, user } from '../../../../test/support/anthropic.js'
import { anthropicChat } from './index.js'

const { request, response } = anthropicChat('anthropic')
const model = 'claude-opus-5'
const tools = [tool('f')]

const thought = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature })
const redacted = { type: 'redacted_thinking', data: 'secret' }
const format = 'anthropic-claude-v1'
const detail = (given: object) => ({ type: 'reasoning.text', format, index: 0, ...given })

/** The blocks of an assistant message with tool call `a` and some more fields, as they are sent. */
const sent = (more: object, asked = model) => {
  const said: Messages = [
    ...hi,
    { role: 'assistant', content: 'Now', tool_calls: [call('a', 'f')], ...more },
    { role: 'tool', tool_call_id: 'a', content: 'x' },
  ]
  const made = body({ tools, messages: said }, asked)['messages'] as { content: object[] }[]
  return made[1]!.content.slice(0, -1).filter(({ type }: { type?: string }) => type !== 'text')
}
const named = (more: object, asked = model) =>
  notes({ tools, messages: [...hi, { role: 'assistant', content: 'Now', ...more }, ...hi] }, asked)

describe('thoughts of earlier answers', () => {
  it('return as they came, whole', () => {
    const content = [thought('Hm', 's1'), redacted, text('Now'), thought('', 's2'), use('a', 'f'), use('b', 'f')]
    const asked = { model, messages: hi, tools } as ChatCompletionRequest
    const { message } = response({ content, stop_reason: 'tool_use' }, asked).choices[0]!
    expect(message).toMatchObject({
      content: 'Now',
      reasoning_content: 'Hm',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm', signature: 's1', id: null, format, index: 0 },
        { type: 'reasoning.encrypted', data: 'secret', id: null, format, index: 1 },
        { type: 'reasoning.text', text: '', signature: 's2', id: 'a', format, index: 2 },
      ],
      thinking_blocks: [thought('Hm', 's1'), redacted, thought('', 's2')],
    })
    const results: Messages = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'x' }))
    const messages = [...hi, message, ...results] as Messages
    expect(body({ tools, messages }, model)['messages']).toEqual([
      user(text('Hi')),
      assistant(...content),
      user(result('a', 'x'), result('b', 'x')),
    ])
    expect(notes({ tools, messages }, model)).toEqual([])
  })

  it('threat 171: have the id of the call after them up to 256 characters, as each has it', () => {
    const idsBefore = (id: string) => {
      const asked = { model, messages: hi, tools } as ChatCompletionRequest
      const content = [redacted, redacted, use(id, 'f')]
      const { message } = response({ content, stop_reason: 'tool_use' }, asked).choices[0]!
      return (message['reasoning_details'] as { id: unknown }[]).map(({ id }) => id)
    }
    expect(idsBefore('a'.repeat(256))).toEqual(['a'.repeat(256), 'a'.repeat(256)])
    expect(idsBefore('a'.repeat(257))).toEqual([null, null])
  })

  it('are absent where there is none that is signed', () => {
    const asked = { model, messages: hi } as ChatCompletionRequest
    const { message } = response({ content: [thought('Hm', ''), text('Yes')], stop_reason: 'end_turn' }, asked)
      .choices[0]!
    expect(message).toEqual({ role: 'assistant', content: 'Yes', refusal: null, reasoning_content: 'Hm' })
  })

  it.each<[client: string, message: object, blocks: object[]]>([
    ['OpenRouter', { reasoning_details: [detail({ text: 'Hm', signature: 's', id: null })] }, [thought('Hm', 's')]],
    ['LiteLLM', { reasoning_content: 'Hm', thinking_blocks: [thought('Hm', 's')] }, [thought('Hm', 's')]],
    [
      'LiteLLM, with a redacted thought',
      { thinking_blocks: [redacted, thought('Hm', 's')] },
      [redacted, thought('Hm', 's')],
    ],
    [
      'Cline, which makes details of blocks',
      { reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's', format, index: 0 }] },
      [thought('Hm', 's')],
    ],
    [
      'Open WebUI, with the fragments of a stream',
      { reasoning_details: [detail({ text: 'H' }), detail({ text: 'm' }), detail({ signature: 's' })] },
      [thought('Hm', 's')],
    ],
    [
      'a client that joins no fragments, of two thoughts',
      {
        reasoning_details: [
          detail({ text: 'a' }),
          detail({ text: '', signature: 's' }),
          detail({ text: 'b', index: 1 }),
          detail({ signature: 't', index: 1 }),
        ],
      },
      [thought('a', 's'), thought('b', 't')],
    ],
    [
      'fragments of LiteLLM',
      { thinking_blocks: [thought('H', ''), thought('m', ''), thought('', 's'), thought('b', 't')] },
      [thought('Hm', 's'), thought('b', 't')],
    ],
    [
      'a client that has both forms, but signatures in one',
      { reasoning_details: [detail({ text: 'Hm' })], thinking_blocks: [thought('Hm', 's')] },
      [thought('Hm', 's')],
    ],
    ['a signature alone', { reasoning_details: [detail({ text: '', signature: 's' })] }, [thought('', 's')]],
    [
      'a format that is unknown',
      { reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's', format: 'unknown' }] },
      [thought('Hm', 's')],
    ],
  ])('are sent as %s has them', (_, message, blocks) => {
    expect(sent(message)).toEqual(blocks)
    expect(named(message)).toEqual([])
  })

  it.each<[what: string, message: object, note: string[]]>([
    ['reasoning_content alone, as the AI SDK sends it', { reasoning_content: 'Hm' }, []],
    ['a thought without a signature', { thinking_blocks: [thought('Hm', '')] }, ['dropped messages.thinking_blocks']],
    [
      'details without a signature',
      { reasoning_details: [detail({ text: 'Hm', signature: null })] },
      ['dropped messages.reasoning_details'],
    ],
    [
      'those of Gemini',
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm', format: 'google-gemini-v1', index: 0 },
          { type: 'reasoning.encrypted', data: 'x', id: 'a', format: 'google-gemini-v1', index: 0 },
        ],
      },
      ['dropped messages.reasoning_details'],
    ],
    [
      'those of OpenAI',
      {
        reasoning_details: [
          { type: 'reasoning.summary', summary: 'Hm', format: 'openai-responses-v1' },
          { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1' },
        ],
      },
      ['dropped messages.reasoning_details'],
    ],
    [
      'encrypted ones of nobody',
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
      ['dropped messages.reasoning_details'],
    ],
    ['what is none', { reasoning_details: 'Hm', thinking_blocks: [null, 3] }, []],
  ])('are left out if they are %s', (_, message, note) => {
    expect(sent(message)).toEqual([])
    expect(named(message)).toEqual(note)
  })

  it('are left out where the model does not think, and where a message has nothing else', () => {
    const thinking_blocks = [thought('Hm', 's')]
    const dropped = ['dropped messages.thinking_blocks']
    expect(sent({ thinking_blocks }, 'claude-opus-4-8')).toEqual([])
    expect(named({ thinking_blocks }, 'claude-sonnet-4-5')).toEqual(dropped)
    expect(named({ thinking_blocks, content: null }, model)).toEqual(dropped)
    const messages: Messages = [...hi, { role: 'assistant', content: 'Now', thinking_blocks }, ...hi]
    const off = { tools, messages, reasoning_effort: 'none' }
    expect(JSON.stringify(body(off, 'claude-sonnet-5-5'))).not.toContain('Hm')
    expect(notes(off, 'claude-sonnet-5-5')).toEqual(dropped)
  })

  it('let a model with a budget go on thinking within a turn', () => {
    const round = (...ids: string[]): Messages => [
      ...hi,
      ...ids.flatMap((id, i): Messages => [
        { role: 'assistant', tool_calls: [call(id, 'f')], ...(i === 0 && { thinking_blocks: [thought('Hm', 's')] }) },
        { role: 'tool', tool_call_id: id, content: 'x' },
      ]),
    ]
    for (const messages of [round('a'), round('a', 'b')]) {
      const given = { tools, messages, reasoning_effort: 'low' }
      expect(body(given)['thinking']).toMatchObject({ type: 'enabled' })
      expect(notes(given)).toEqual([])
    }
    const [, , ...later] = round('a')
    const messages: Messages = [...hi, { role: 'assistant', tool_calls: [call('a', 'f')] }, ...later]
    expect(notes({ tools, messages, reasoning_effort: 'low' })).toEqual(['dropped reasoning_effort'])
  })

  it('of models that bind them to a conversation are left out by the API where it was changed', () => {
    const messages: Messages = [
      ...hi,
      { role: 'assistant', content: 'Now', thinking_blocks: [thought('Hm', 's')] },
      ...hi,
    ]
    const of = (asked: string, more: object = {}) => {
      const { body: made, headers } = request({ model: asked, messages, ...more } as ChatCompletionRequest)
      return [(made as { thinking?: object }).thinking, headers]
    }
    const block_binding = { prefix_mismatch_behavior: 'drop_block' }
    const headers = { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' }
    for (const asked of ['claude-fable-5-1', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-opus-6'])
      expect(of(asked)).toEqual([{ type: 'adaptive', block_binding }, headers])
    expect(of('claude-opus-5-5', { reasoning_effort: 'low' })).toEqual([
      { type: 'adaptive', display: 'summarized', block_binding },
      headers,
    ])
    expect(of('claude-opus-5')).toEqual([undefined, undefined])
    expect(of('claude-opus-5-5', { messages: hi })).toEqual([undefined, undefined])
  })
})
