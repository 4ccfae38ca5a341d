import { nextTurn } from '@turnpike/core/helpers'
import { describe, expect, it } from 'vitest'
import { channel } from './channel.js'

describe('a channel', () => {
  it('hands values over in order, then its end', async () => {
    const { push, end, reader } = channel<number>()
    const first = reader.next()
    await push(1)
    const pushing = push(2)
    end()
    await Promise.all([pushing, push(3)])
    expect([await first, await reader.next(), await reader.next(), await reader.next()]).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: true, value: undefined },
      { done: true, value: undefined },
    ])
  })

  it('tells of a failure after what came before, and keeps to the first end', async () => {
    const { push, end, reader } = channel<number>()
    void push(1)
    end({ error: new Error('broken') })
    end()
    expect(await reader.next()).toEqual({ done: false, value: 1 })
    await expect(reader.next()).rejects.toThrow('broken')
  })

  it('threat 225: waits for a reader with one value, until they take it, leave, or it ends', async () => {
    for (const go of ['next', 'return', 'end'] as const) {
      const { push, end, reader } = channel<number>()
      let isPushed = false
      const pushing = push(1).then(() => (isPushed = true))
      await nextTurn()
      expect(isPushed).toBe(false)
      if (go === 'end') end()
      else await reader[go]!()
      await pushing
    }
  })

  it('keeps nothing for a reader who has left', async () => {
    const { push, reader } = channel<number>()
    const waiting = reader.next()
    await reader.return!()
    expect(await waiting).toEqual({ done: true, value: undefined })
    for (let i = 0; i < 3; i++) await push(i)
    expect(await reader.next()).toEqual({ done: true, value: undefined })
  })
})
