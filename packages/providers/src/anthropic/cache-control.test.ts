import { describe, expect, it } from 'vitest'
import {
  assistant,
  body,
  call,
  hi,
  noArguments,
  result,
  text,
  tool,
  use,
  user,
} from '../../../../test/support/anthropic.js'

describe('cache_control', () => {
  it('of a message is set on its last block', () => {
    const cache_control = { type: 'ephemeral' }
    const parts = [text('a'), text('b')]
    const own = [text('a'), { ...text('b'), cache_control: { type: 'ephemeral', ttl: '1h' } }]
    const messages = [
      { role: 'system', content: 's', cache_control },
      { role: 'system', content: parts, cache_control },
      { role: 'user', content: 'u', cache_control },
      { role: 'assistant', content: parts, cache_control },
      { role: 'user', content: own, cache_control },
      { role: 'assistant', content: 'c', tool_calls: [call('x', 'f')], cache_control },
      { role: 'tool', tool_call_id: 'x', content: '1' },
      { role: 'assistant', content: null, refusal: 'no', cache_control },
      { role: 'user', content: 'u' },
    ]
    const marked = [text('a'), { ...text('b'), cache_control }]
    expect(body({ messages: messages as never })).toMatchObject({
      system: [{ ...text('s'), cache_control }, ...marked],
      messages: [
        user({ ...text('u'), cache_control }),
        assistant(...marked),
        user(...own),
        assistant(text('c'), { ...use('x', 'f'), cache_control }),
        user(result('x', '1')),
        assistant({ ...text('no'), cache_control }),
        user(text('u')),
      ],
    })
  })

  it('of a tool message is set on its result, the last one, and none within it', () => {
    const short = { type: 'ephemeral' }
    const long = { type: 'ephemeral', ttl: '1h' }
    const content = [{ ...text('a'), cache_control: short }, { ...text('b'), cache_control: long }, text('c')]
    const messages = [
      ...hi,
      { role: 'assistant', tool_calls: ['x', 'y', 'z'].map((id) => call(id, 'f')) },
      { role: 'tool', tool_call_id: 'x', content },
      { role: 'tool', tool_call_id: 'y', content: [text('d')], cache_control: short },
      { role: 'tool', tool_call_id: 'z', content: 'e' },
    ]
    const sent = body({ tools: [tool('f')], messages: messages as never })['messages'] as object[]
    expect(sent.at(-1)).toEqual(
      user(
        { ...result('x', ['a', 'b', 'c'].map(text)), cache_control: long },
        { ...result('y', [text('d')]), cache_control: short },
        result('z', 'e'),
      ),
    )
  })

  it('of a function and of a tool call is passed on', () => {
    const cache_control = { type: 'ephemeral' }
    const made = body({
      tools: [{ type: 'function', function: { name: 'f', cache_control } }],
      messages: [
        { role: 'assistant', tool_calls: [{ ...call('x', 'f'), cache_control }, call('y', 'f')] },
        { role: 'tool', tool_call_id: 'x', content: '1' },
        { role: 'tool', tool_call_id: 'y', content: '2' },
      ],
    })
    expect(made).toMatchObject({
      tools: [{ name: 'f', input_schema: noArguments, cache_control }],
      messages: [assistant({ ...use('x', 'f'), cache_control }, use('y', 'f')), {}],
    })
  })

  it('of a tool and of a part is passed on', () => {
    const cache_control = { type: 'ephemeral' }
    const made = body({
      tools: [{ ...tool('f'), cache_control }],
      messages: [
        { role: 'system', content: [{ ...text('s'), cache_control }] as never },
        { role: 'user', content: [{ ...text('u'), cache_control }] as never },
      ],
    })
    expect(made).toMatchObject({
      system: [{ ...text('s'), cache_control }],
      messages: [user({ ...text('u'), cache_control })],
      tools: [{ name: 'f', input_schema: noArguments, cache_control }],
    })
  })
})
