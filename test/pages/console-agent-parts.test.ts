import type { AgentEvent } from '@turnpike/agent'
import { describe, expect, it } from 'vitest'
import type { Run } from '../../examples/console/src/projects/agent-run-parts.js'
import { after, MOST_PARTS } from '../../examples/console/src/projects/agent-run-parts.js'

const nothing = (): void => undefined
const begun: Run = { model: 'gpt-4o', parts: [], gone: 0, kept: 0, answer: nothing, stop: nothing }
const runAfter = (...events: AgentEvent[]): Run => events.reduce(after, begun)

const step: AgentEvent = { type: 'step', agent: 'Agent', model: 'gpt-4o' }
const refused = (i: number): AgentEvent => ({ type: 'refused', id: String(i), name: 'none', reason: 'No such tool' })

describe('what is shown of a run', () => {
  it('is what the model said, and its calls with what came of them', () => {
    const { parts } = runAfter(
      step,
      { type: 'text', text: 'Let me ' },
      { type: 'text', text: 'look.' },
      { type: 'call', id: 'a', name: 'list_files', args: {} },
      { type: 'allowed', id: 'a' },
      { type: 'result', id: 'a', text: '[]', failed: false },
    )
    expect(parts).toEqual([
      { type: 'text', text: 'Let me look.' },
      { type: 'call', id: 'a', name: 'list_files', args: {}, state: 'done', result: '[]' },
    ])
  })

  it('keeps calls apart to which the model gave one id', () => {
    const call: AgentEvent = { type: 'call', id: 'a', name: 'read_file', args: {} }
    const result = (text: string): AgentEvent => ({ type: 'result', id: 'a', text, failed: false })
    const reason: AgentEvent = { type: 'refused', id: 'a', name: 'none', reason: 'No such tool' }
    const { parts } = runAfter(
      call,
      { type: 'allowed', id: 'a' },
      result('one'),
      call,
      result('two'),
      reason,
      call,
      reason,
    )
    expect(parts.map((part) => part.type === 'call' && [part.state, part.result])).toEqual([
      ['done', 'one'],
      ['done', 'two'],
      ['refused', 'No such tool'],
      ['refused', 'No such tool'],
    ])
  })

  it('is not what came before the model was asked again', () => {
    const text: AgentEvent = { type: 'text', text: 'Half' }
    expect(runAfter(refused(0), step, text, { type: 'retry', reason: 'It broke off.', seconds: 1 }).parts).toHaveLength(
      1,
    )
  })

  it('threat 114: is the end of it, so that no event costs more than that', () => {
    const calls = Array.from({ length: 3_000 }, (_, i) => refused(i))
    const { parts, gone, kept } = runAfter(...calls, step, { type: 'text', text: 'The end' })
    expect(parts).toHaveLength(MOST_PARTS)
    expect(parts.at(-1)).toEqual({ type: 'text', text: 'The end' })
    expect([gone + parts.length, kept]).toEqual([3_001, MOST_PARTS - 1])
  })
})
