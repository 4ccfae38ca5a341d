import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Messages } from '../../../../test/support/anthropic.js'
import { assistant, body, call, hi, notes, text, tool, user } from '../../../../test/support/anthropic.js'
import { anthropicRefusal } from '../testing/anthropic-rules.js'
import { anthropicChat } from './index.js'

const models =
  `claude-3-5-haiku-latest claude-3-7-sonnet-latest claude-opus-4-1 claude-sonnet-4-5 claude-haiku-4-5 claude-opus-4-6 claude-sonnet-4-6
claude-opus-4-7 claude-opus-4-8 claude-opus-5 claude-sonnet-5 claude-fable-5 claude-mythos-5 claude-fable-5-1 claude-mythos-5-1 claude-fable-5-2
claude-opus-5-5 claude-sonnet-5-5 claude-haiku-5-5 claude-opus-6 claude-sonnet-6-1 claude-opus-4-5 claude-opus-latest us.anthropic.claude-opus-4-6-v1
anthropic.claude-opus-5 anthropic/claude-sonnet-5.5 anthropic/claude-opus-4.5 claude-sonnet-4-5@20250929`.split(/\s+/)

const forcedTo = { type: 'function', function: { name: 'f' } } as const
const open = { type: 'object', properties: { map: { type: 'object', additionalProperties: { type: 'number' } } } }
const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const answerIn = (given: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema: given } },
})
const signed = {
  reasoning_details: [{ type: 'reasoning.text', text: 'Hm', signature: 's', format: 'anthropic-claude-v1' }],
}
const round: Messages = [
  ...hi,
  { role: 'assistant', content: null, tool_calls: [call('a', 'f')], ...signed },
  { role: 'tool', tool_call_id: 'a', content: 'x' },
]
const prefilled: Messages = [...hi, { role: 'assistant', content: 'It is ' }]
const tools = [tool('f')]

const requests: Record<string, Partial<ChatCompletionRequest>> = {
  'no max_tokens': {},
  'a required call': { tools, tool_choice: 'required' },
  'a call of a function': { tools, tool_choice: forcedTo },
  'a required call of allowed tools': {
    tools,
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [forcedTo] } },
  },
  'one required call': { tools, tool_choice: 'required', parallel_tool_calls: false },
  'a schema': answerIn(schema),
  'a schema that cannot be enforced': answerIn(open),
  'a schema beside tools': { tools, ...answerIn(open) },
  'a prefill': { messages: prefilled },
  'a prefill with a schema': { messages: prefilled, ...answerIn(schema) },
  'thoughts in a tool loop': { tools, messages: round },
  'thoughts in a tool loop, and a required call': { tools, messages: round, tool_choice: 'required' },
  'thoughts alone': { messages: [...hi, { role: 'assistant', content: '', ...signed }, ...hi] },
}

describe('Claude takes', () => {
  const efforts = [undefined, 'none', 'minimal', 'high', 'xhigh', 'max']
  it.each(Object.entries(requests))('%s, of every model and with every effort', (_, given) => {
    for (const model of models)
      for (const reasoning_effort of efforts) {
        const asked = { model, messages: hi, ...given, reasoning_effort } as ChatCompletionRequest
        const sent = anthropicChat('anthropic').request(asked)
        const betas = sent.headers?.['anthropic-beta']
        const refusal = anthropicRefusal(JSON.parse(JSON.stringify(sent.body)), betas ? [betas] : [])
        expect(refusal, `${model} ${reasoning_effort}`).toBeUndefined()
      }
  })
})

describe('a forced call', () => {
  const asked = { tools, tool_choice: 'required' } as const

  it.each(['claude-sonnet-5', 'claude-opus-5', 'claude-haiku-5-5'])('turns the thinking of %s off', (model) => {
    for (const given of [asked, { tools, tool_choice: forcedTo }]) {
      const { thinking, tool_choice } = body(given, model)
      expect(thinking).toEqual({ type: 'disabled' })
      expect((tool_choice as { type: string }).type).toMatch(/any|tool/)
      expect(notes(given, model)).toEqual([])
    }
    expect(body(answerIn(open), model)).toMatchObject({ thinking: { type: 'disabled' }, tool_choice: { type: 'any' } })
    expect(notes({ ...asked, reasoning_effort: 'xhigh' }, model)).toEqual(['dropped reasoning_effort'])
  })

  it.each(['claude-sonnet-5-5', 'claude-opus-5-5', 'claude-fable-5-1', 'claude-mythos-5-2', 'claude-opus-7'])(
    'is left to %s, which refuses it',
    (model) => {
      for (const given of [asked, { tools, tool_choice: forcedTo }]) {
        expect(body(given, model)['tool_choice']).toEqual({ type: 'auto' })
        expect(body(given, model)).not.toHaveProperty('thinking')
        expect(notes(given, model)).toEqual(['clamped tool_choice'])
      }
      expect(body({ ...asked, parallel_tool_calls: false }, model)['tool_choice']).toEqual({
        type: 'auto',
        disable_parallel_tool_use: true,
      })
      // The effort is kept, as nothing forbids thinking.
      expect(body({ ...asked, reasoning_effort: 'max' }, model)).toMatchObject({ output_config: { effort: 'max' } })
    },
  )

  it('is left as it is where thinking is off by default, or cannot be turned off', () => {
    for (const model of ['claude-sonnet-4-6', 'claude-opus-4-8', 'claude-fable-5']) {
      expect(body(asked, model)).toMatchObject({ tool_choice: { type: 'any' } })
      expect(body(asked, model)).not.toHaveProperty('thinking')
    }
  })

  it('is not needed for a schema: it is enforced, or told', () => {
    const model = 'claude-sonnet-5-5'
    expect(body(answerIn(schema), model)).toMatchObject({ output_config: { format: { type: 'json_schema' } } })
    expect(notes(answerIn(schema), model)).toEqual([])
    const told = body(answerIn(open), model)
    expect(told).not.toHaveProperty('tools')
    expect(told['system']).toEqual([
      text(
        `Answer with JSON and nothing else, without a code fence. It must be valid by this JSON Schema: ${JSON.stringify(open)}`,
      ),
    ])
    expect(notes(answerIn(open), model)).toEqual(['emulated response_format'])
    const both = { ...asked, ...answerIn(open) }
    expect(notes(both, model)).toEqual(['clamped tool_choice', 'emulated response_format'])
  })

  it('that a decoder expects is the one that was sent', () => {
    const answer = { content: [text('{"map":{}}')], stop_reason: 'end_turn' }
    const request = { model: 'claude-sonnet-5-5', messages: hi, ...answerIn(open) } as ChatCompletionRequest
    expect(anthropicChat('anthropic').response(answer, request).choices[0]!.message.content).toBe('{"map":{}}')
  })
})

describe('a prefill', () => {
  it.each(['claude-sonnet-4-6', 'claude-opus-4-6', 'claude-opus-5', 'claude-haiku-5-5', 'claude-fable-5'])(
    'of %s becomes a user turn that asks to go on',
    (model) => {
      const sent = body({ messages: prefilled }, model)['messages'] as { content: { text: string }[] }[]
      expect(sent.slice(0, 2)).toEqual([user(text('Hi')), assistant(text('It is '))])
      expect(sent[2]).toMatchObject({ role: 'user', content: [{ type: 'text' }] })
      expect(sent).toHaveLength(3)
      expect(notes({ messages: prefilled }, model)).toEqual(['emulated messages'])
    },
  )

  it('is continued by earlier models, unless a schema is enforced', () => {
    expect(body({ messages: prefilled })['messages']).toEqual([user(text('Hi')), assistant(text('It is'))])
    expect(notes({ messages: prefilled })).toEqual([])
    expect(notes({ messages: prefilled, ...answerIn(schema) })).toEqual(['emulated messages'])
  })
})
