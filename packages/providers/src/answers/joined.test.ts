import type { ChunkChoice } from '@turnpike/core'
import { expect, it } from 'vitest'
import { joined } from './joined.js'

it('threat 162: has lists of its own, however often a decoder gives the same', () => {
  const logprobs = { content: [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }] }
  const choice = { index: 0, delta: { content: 'Hi' }, finish_reason: null, logprobs } as ChunkChoice
  const whole = joined()
  whole.add([choice])
  whole.add([choice, choice])
  const { choices } = whole.end({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }, undefined)
  expect(choices[0]).toMatchObject({
    message: { content: 'HiHiHi' },
    logprobs: { content: Array(3).fill(logprobs.content[0]) },
  })
  expect(logprobs.content).toHaveLength(1)
})
