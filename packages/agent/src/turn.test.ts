import type { Client } from '@turnpike/client'
import { expect, it } from 'vitest'
import { expectLinear } from '../../../test/support/linear.js'
import { AgentError } from './agent-error.js'
import type { ToolCall } from './turn.js'
import { add, ask } from './turn.js'

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

it('threat 114: an answer without end is left, and not asked for again', async () => {
  let sent = 0
  let isLeft = false
  async function* endless() {
    try {
      for (; sent < 100; sent++) yield { choices: [{ delta: { content: 'x'.repeat(1_000_000) }, finish_reason: null }] }
    } finally {
      isLeft = true
    }
  }
  const client = { stream: endless } as unknown as Client
  const options = { headers: {}, signal: new AbortController().signal, onEvent: () => undefined }
  await expect(ask(client, {} as never, options)).rejects.toThrow(AgentError)
  expect([sent, isLeft]).toEqual([20, true])
})
