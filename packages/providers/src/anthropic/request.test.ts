import { describe, expect, it } from 'vitest'
import type { Messages } from '../../../../test/support/anthropic.js'
import { hi, body, notes, refusal, text, call, tool, noArguments } from '../../../../test/support/anthropic.js'
import { anthropic } from './index.js'

describe('parameters', () => {
  it('accept stop as a string or a list, and omit blanks', () => {
    expect(body({ stop: 'X' })['stop_sequences']).toEqual(['X'])
    expect(body({ stop: ['\n', 'X'] })['stop_sequences']).toEqual(['X'])
    expect(notes({ stop: ['\n', 'X'] })).toEqual(['clamped stop'])
    expect(body({})).not.toHaveProperty('stop_sequences')
    expect(notes({ stop: ' ' })).toEqual(['dropped stop'])
  })

  it.each<[given: object, model: string, most: number]>([
    [{}, 'claude-sonnet-4-5', 8_192],
    [{ stream: true }, 'claude-sonnet-4-5', 64_000],
    [{ stream: true }, 'claude-sonnet-4-5-20250929', 64_000],
    [{ stream: true }, 'claude-sonnet-4-0', 64_000],
    [{}, 'claude-3-haiku-20240307', 4_096],
    [{ stream: true }, 'claude-unheard-of', 4_096],
    // Models that think by default have room for it.
    [{}, 'claude-opus-5', 24_576],
    [{}, 'claude-sonnet-5', 24_576],
    [{ reasoning_effort: 'max' }, 'claude-opus-4-8', 40_960],
    [{ reasoning_effort: 'none' }, 'claude-sonnet-5', 8_192],
    [{ max_tokens: 100, reasoning_effort: 'high' }, 'claude-opus-4-8', 100],
    // What is newer than known is as the newest known.
    [{ stream: true }, 'claude-opus-4-9', 128_000],
    [{ stream: true }, 'claude-haiku-6', 128_000],
    [{ stream: true }, 'claude-opus-6', 128_000],
    [{}, 'claude-saga-7-1', 24_576],
    [{}, 'claude-fable-6-2', 24_576],
    [{ max_tokens: 999_999 }, 'claude-sonnet-7-20270101', 128_000],
    [{ max_tokens: 100 }, 'claude-sonnet-4-5', 100],
    [{ max_tokens: 100, max_completion_tokens: 50 }, 'claude-sonnet-4-5', 50],
    [{ max_tokens: 999_999 }, 'claude-sonnet-4-5', 64_000],
    [{ max_tokens: 999_999 }, 'claude-unheard-of', 999_999],
  ])('always include max_tokens: %j for %s is %i', (given, model, most) => {
    expect(body(given, model)['max_tokens']).toBe(most)
  })

  it('include what is told of a model that is not known', () => {
    const told: Record<string, number> = { 'claude-nano-6': 32_000, 'claude-sonnet-4-5': 1, 'claude-unheard-of': 9_000 }
    const { chat } = anthropic({ apiKey: 'none', maxOutput: (model) => told[model] })
    const most = (model: string, max_tokens?: number) =>
      chat!.maxOutput!({
        model,
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
        ...(max_tokens && { max_tokens }),
      })
    expect(Object.keys(told).map((model) => most(model))).toEqual([32_000, 64_000, 9_000])
    expect([most('claude-nano-6', 50_000), most('claude-opus-6')]).toEqual([32_000, 128_000])
  })

  it('report which of two limits is used', () => {
    expect(body({ max_tokens: 5, max_completion_tokens: 7 })['max_tokens']).toBe(7)
    expect(notes({ max_tokens: 5, max_completion_tokens: 7 })).toEqual(['dropped max_tokens'])
  })

  it('clamp temperature, and have no default', () => {
    expect(body({ temperature: 1.7 })['temperature']).toBe(1)
    expect(notes({ temperature: 1.7 })).toEqual(['clamped temperature'])
    expect(body({ temperature: 0.3 })['temperature']).toBe(0.3)
    expect(body({})).not.toHaveProperty('temperature')
    expect(body({ temperature: 0.3, top_p: 0.5 }, 'claude-opus-4-8')).not.toHaveProperty('temperature')
    expect(notes({ temperature: 0.3, top_p: 0.5 }, 'claude-opus-4-8')).toEqual(['dropped temperature', 'dropped top_p'])
    expect(notes({ temperature: 1 }, 'claude-fable-5')).toEqual([])
  })

  it('sends temperature or top_p, and both where the model takes them', () => {
    expect(body({ temperature: 0.2, top_p: 0.9 })).toMatchObject({ temperature: 0.2 })
    expect(body({ temperature: 0.2, top_p: 0.9 })).not.toHaveProperty('top_p')
    expect(notes({ temperature: 0.2, top_p: 0.9 })).toEqual(['dropped top_p'])
    expect(body({ top_p: 0.9 })['top_p']).toBe(0.9)
    expect(body({ temperature: 0.2, top_p: 0.9 }, 'claude-sonnet-4-0')).toMatchObject({ temperature: 0.2, top_p: 0.9 })
  })

  it.each<[choice: unknown, made: unknown]>([
    ['required', { type: 'any' }],
    ['none', { type: 'none' }],
    ['auto', { type: 'auto' }],
    [
      { type: 'function', function: { name: 'f' } },
      { type: 'tool', name: 'f' },
    ],
    [undefined, undefined],
  ])('translate tool_choice %j to %j and keep the tools', (tool_choice, made) => {
    const sent = body({ tools: [tool('f')], tool_choice } as never)
    expect(sent['tool_choice']).toEqual(made)
    expect(sent['tools']).toEqual([{ name: 'f', input_schema: noArguments }])
  })

  it('refuse a tool choice that is not declared', () => {
    expect(refusal({ tools: [tool('f')], tool_choice: { type: 'function', function: { name: 'g' } } })).toMatchObject({
      status: 400,
    })
    expect(refusal({ tool_choice: 'required' })).toMatchObject({ status: 400, message: 'tool_choice needs tools' })
  })

  it('apply allowed_tools', () => {
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] }
    const sent = body({ tools: [tool('f'), tool('g')], tool_choice: { type: 'allowed_tools', allowed_tools } })
    expect(sent).toMatchObject({ tools: [{ name: 'g' }], tool_choice: { type: 'any' } })
  })

  it('disable parallel calls', () => {
    expect(body({ tools: [tool('f')], parallel_tool_calls: false })['tool_choice']).toEqual({
      type: 'auto',
      disable_parallel_tool_use: true,
    })
    expect(body({ tools: [tool('f')], tool_choice: 'none', parallel_tool_calls: false })['tool_choice']).toEqual({
      type: 'none',
    })
    expect(notes({ parallel_tool_calls: false })).toEqual(['dropped parallel_tool_calls'])
  })

  it('keep a schema unchanged', () => {
    const parameters = {
      type: 'object',
      $defs: { unit: { enum: ['C', 'F'] } },
      properties: { at: { anyOf: [{ type: 'string' }, { type: 'null' }] }, unit: { $ref: '#/$defs/unit' } },
      required: ['at'],
      additionalProperties: false,
    }
    expect(body({ tools: [tool('f', parameters)] })['tools']).toEqual([{ name: 'f', input_schema: parameters }])
  })

  it('give a tool without parameters an empty object schema', () => {
    expect(body({ tools: [tool('f'), tool('g', {})] })['tools']).toEqual([
      { name: 'f', input_schema: noArguments },
      { name: 'g', input_schema: noArguments },
    ])
  })

  it('use a thinking budget, within max_tokens', () => {
    const sent = body({ reasoning_effort: 'high', max_tokens: 500, temperature: 0.5 })
    expect(sent).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 16_384 }, max_tokens: 16_884 })
    expect(sent).not.toHaveProperty('temperature')
  })

  it.each([
    ['max', { max_tokens: 63_500 }, 32_000, 64_000],
    ['high', { max_tokens: 63_500 }, 16_384, 64_000],
    ['high', { stream: true }, 16_384, 64_000],
    ['high', {}, 16_384, 24_576],
    ['minimal', { max_tokens: 64_000 }, 1_024, 64_000],
  ])(
    'use a thinking budget for effort %s where %j leaves little room',
    (reasoning_effort, fields, budget_tokens, max_tokens) => {
      expect(body({ reasoning_effort, ...fields })).toMatchObject({ thinking: { budget_tokens }, max_tokens })
      expect(notes({ reasoning_effort, ...fields })).toEqual([])
    },
  )

  it('use an effort where the model accepts one', () => {
    const of = (reasoning_effort: string, model: string) => {
      const { thinking, output_config } = body({ reasoning_effort }, model)
      return [thinking, output_config]
    }
    const adaptive = { type: 'adaptive', display: 'summarized' }
    expect(of('minimal', 'claude-opus-4-8')).toEqual([adaptive, { effort: 'low' }])
    expect(of('xhigh', 'claude-opus-4-6')).toEqual([adaptive, { effort: 'max' }])
    expect(of('xhigh', 'claude-opus-5')).toEqual([adaptive, { effort: 'xhigh' }])
    expect(of('none', 'claude-sonnet-5')).toEqual([{ type: 'disabled' }, undefined])
    expect(of('none', 'claude-3-5-haiku-latest')).toEqual([undefined, undefined])
    expect(of('none', 'claude-sonnet-5-5')).toEqual([{ type: 'between_tools' }, undefined])
    expect(of('none', 'claude-haiku-5-5')).toEqual([{ type: 'disabled' }, undefined])
    for (const model of [
      'claude-fable-5',
      'claude-mythos-preview',
      'claude-opus-5-5',
      'claude-fable-5-2',
      'claude-x-7',
    ]) {
      // Thinking cannot be disabled in these models.
      expect(of('none', model)).toEqual([{ type: 'adaptive' }, { effort: 'low' }])
      expect(notes({ temperature: 0.5 }, model)).toEqual(['dropped temperature'])
      expect(notes({ reasoning_effort: 'none' }, model)).toEqual(['clamped reasoning_effort'])
    }
    expect(refusal({ reasoning_effort: 'a lot' })).toMatchObject({ status: 400 })
  })

  it('disable thinking where a call is forced or the answer continues a turn', () => {
    expect(notes({ reasoning_effort: 'high', tools: [tool('f')], tool_choice: 'required' })).toEqual([
      'dropped reasoning_effort',
    ])
    const messages: Messages = [
      ...hi,
      { role: 'assistant', content: null, tool_calls: [call('a', 'f')] },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    expect(notes({ reasoning_effort: 'high', tools: [tool('f')], messages })).toEqual(['dropped reasoning_effort'])
    const begun: Messages = [...hi, { role: 'assistant', content: 'It is' }]
    expect(notes({ reasoning_effort: 'high', messages: begun })).toEqual(['dropped reasoning_effort'])
    // Only thinking with a budget requires the earlier thoughts.
    const goesOn = body({ reasoning_effort: 'low', tools: [tool('f')], messages }, 'claude-opus-4-8')
    expect(goesOn['output_config']).toEqual({ effort: 'low' })
  })

  it('report images of earlier answers, which Claude does not take', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }]
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', images },
      { role: 'user', content: 'c' },
    ]
    expect(notes({ messages: messages as never })).toEqual(['dropped messages.images'])
  })

  it('report the names of dropped fields', () => {
    const given = { logit_bias: { 1: 2 }, store: true, metadata: { a: 'b' }, seed: 7, made_up: 1 }
    expect(Object.keys(body(given))).toEqual(['model', 'max_tokens', 'messages'])
    expect(notes(given)).toEqual([
      'dropped logit_bias',
      'dropped store',
      'dropped metadata',
      'dropped seed',
      'dropped made_up',
    ])
  })

  it('do not include provider and system', () => {
    const sent = body({ provider: 'anthropic', system: 'S' })
    expect(sent).not.toHaveProperty('provider')
    expect(sent['system']).toEqual([text('S')])
  })

  it('include the end user, unless it is an e-mail address', () => {
    expect(body({ user: 'u-1' })['metadata']).toEqual({ user_id: 'u-1' })
    expect(body({ user: 'a@example.com' })).not.toHaveProperty('metadata')
    expect(notes({ user: 'a@example.com' })).toEqual(['dropped user'])
  })
})
