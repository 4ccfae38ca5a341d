import type { ChatDelta, ChunkChoice, ChunkHead } from '@turnpike/core'
import { expect, it } from 'vitest'
import { assembly } from './assembly.js'

const head: ChunkHead = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm' }
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const delta = (delta: object): ChunkChoice => ({ index: 0, delta: delta as ChatDelta, finish_reason: null })

it('joins the pieces of entries by their index, also within entries, and keeps those without one apart', () => {
  const whole = assembly()
  const parts = (...items: object[]) => whole.add(delta({ reasoning_details: items }))
  parts({ index: 1, text: 'a', inner: [{ index: 0, text: 'x' }] }, { text: 'alone' })
  parts({ index: 0, text: 'c' }, { index: 1, text: 'b', inner: [{ index: 0, text: 'y' }] }, { text: 'alone' })
  expect(whole.answer(head, usage).choices[0]!.message['reasoning_details']).toEqual([
    { index: 1, text: 'ab', inner: [{ index: 0, text: 'xy' }] },
    { text: 'alone' },
    { index: 0, text: 'c' },
    { text: 'alone' },
  ])
})

it('threat 89: an answer of many entries takes linear time', () => {
  const begun = performance.now()
  const whole = assembly()
  for (let index = 0; index < 60_000; index++)
    whole.add(delta({ reasoning_details: [{ index, text: 'x' }], tool_calls: [{ index, id: 'c', type: 'function' }] }))
  expect(whole.answer(head, usage).choices[0]!.message.tool_calls).toHaveLength(60_000)
  expect(performance.now() - begun).toBeLessThan(5_000)
})
