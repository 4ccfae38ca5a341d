import { describe, expect, it } from 'vitest'
import { mapInTurns } from './microtask.js'

describe('threat 51: a list that is mapped in turns', () => {
  it('lets others have theirs, and keeps its order', async () => {
    let turns = 0
    let done = false
    const other = (): void => {
      turns++
      if (!done) setImmediate(other)
    }
    setImmediate(other)
    const busy = (item: number, index: number): number[] => {
      for (const end = performance.now() + 6; performance.now() < end;);
      return [item, index]
    }
    expect(await mapInTurns([5, 6, 7, 8], busy)).toEqual([
      [5, 0],
      [6, 1],
      [7, 2],
      [8, 3],
    ])
    done = true
    expect(turns).toBeGreaterThanOrEqual(3)
  })

  it('may be empty, and fails with its function', async () => {
    expect(await mapInTurns([], () => 1)).toEqual([])
    const fail = (): never => {
      throw new Error('No vector')
    }
    await expect(mapInTurns([1], fail)).rejects.toThrow('No vector')
  })
})
