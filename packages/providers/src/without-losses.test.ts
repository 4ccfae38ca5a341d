import { describe, expect, it } from 'vitest'
import { asking, schema } from '../../../test/support/refusals.js'
import { withoutLosses } from './refusals/refused-parameters.js'

describe('a request without what is refused', () => {
  const without = (...losses: string[]) => {
    const { request: left, notes } = withoutLosses(asking, losses)
    return {
      left: JSON.parse(JSON.stringify(left)) as Record<string, unknown>,
      notes: notes.map(({ field, action }) => `${action}=${field}`),
    }
  }

  it('is the request itself where it has none of it', () => {
    const bare = { model: 'm', messages: asking.messages }
    const losses = [
      'temperature',
      'reasoning_effort=low',
      'reasoning_effort=beside tools',
      'strict',
      'response_format=json_schema',
      'max_tokens',
      'stream_options',
      'schemas=1-2',
    ]
    const { request: left, notes } = withoutLosses(bare, losses)
    expect(left).toBe(bare)
    expect(notes).toEqual([])
  })

  it.each<[loss: string, gone: string, notes: string[]]>([
    ['temperature', 'temperature', ['dropped=temperature']],
    ['reasoning_effort=minimal', 'reasoning_effort', ['dropped=reasoning_effort']],
    ['service_tier', 'service_tier', ['dropped=service_tier']],
  ])('%s', (loss, gone, notes) => {
    const { left, notes: noted } = without(loss)
    expect(left).not.toHaveProperty(gone)
    expect([Object.keys(left).length, noted]).toEqual([Object.keys(asking).length - 1, notes])
  })

  it('keeps a value that was not refused', () => {
    expect(without('reasoning_effort=xhigh', 'response_format=json_object')).toMatchObject({
      left: { reasoning_effort: 'minimal', response_format: asking['response_format'] },
      notes: [],
    })
  })

  it('tells the format in words', () => {
    const { left, notes } = without('response_format=json_schema')
    expect(left).not.toHaveProperty('response_format')
    expect([left['system'], notes]).toEqual([
      `Answer with JSON and nothing else, without a code fence. It must be valid by this JSON Schema: ${JSON.stringify(schema)}`,
      ['emulated=response_format'],
    ])
  })

  it('has tools and a format that are not strict', () => {
    expect(without('strict')).toMatchObject({
      left: {
        tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
        response_format: { json_schema: { name: 'x', schema } },
      },
      notes: ['dropped=tools.function.strict', 'dropped=response_format.json_schema.strict'],
    })
    expect(JSON.stringify(without('strict').left)).not.toContain('strict')
  })

  it('has the effort none beside tools', () => {
    expect(without('reasoning_effort=beside tools')).toMatchObject({
      left: { reasoning_effort: 'none' },
      notes: ['clamped=reasoning_effort'],
    })
  })

  it('keeps its limit by the other name', () => {
    const { left, notes } = without('max_tokens')
    expect([left['max_tokens'], left['max_completion_tokens'], notes]).toEqual([undefined, 6, []])
    const one = { model: 'm', messages: asking.messages, max_completion_tokens: 5 }
    expect(withoutLosses(one, ['max_completion_tokens']).request).toEqual({
      model: 'm',
      messages: asking.messages,
      max_tokens: 5,
    })
  })
})
