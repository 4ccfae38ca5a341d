import { expect, it } from 'vitest'
import { expectLinear } from '../../../test/support/linear.js'
import type { ToolCall } from './turn.js'
import { add } from './turn.js'

it('threat 114: calls may have any index, and those of no function are left out', () => {
  const calls = new Map<number, ToolCall>()
  const begun = { id: 'a', type: 'function', function: { name: 'f', arguments: '{' } } as const
  add({}, calls, { tool_calls: [{ index: 4_294_967_294, ...begun }] })
  add({}, calls, { tool_calls: [{ index: 2, id: 'b', type: 'custom', custom: { name: 'c', input: '' } } as never] })
  add({}, calls, { tool_calls: [{ index: 4_294_967_294, function: { arguments: '}' } }] })
  expect([...calls.values()]).toEqual([{ ...begun, function: { name: 'f', arguments: '{}' } }])
})

it('threat 114: lists that come in many pieces take linear time', () => {
  expectLinear((n) => {
    const details = Array.from({ length: 10 }, () => 'a')
    return () => {
      const joined = {}
      for (let i = 0; i < n; i++) add(joined, new Map(), { reasoning_details: [...details] } as never)
    }
  })
})
