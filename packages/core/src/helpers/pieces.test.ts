import { describe, expect, it, vi } from 'vitest'
import { Pieces, readerOf } from './pieces.js'

/** Pieces that yield the given values, and fail at an error among them. */
function piecesOf(...values: (number | Error)[]) {
  const rest = values.values()
  const stop = vi.fn()
  const read = vi.fn<Pieces<number>['read']>((onResult, onError) => {
    const { done, value } = rest.next()
    if (done) onResult({ done, value: undefined })
    else if (value instanceof Error) onError(value)
    else onResult({ done: false, value })
  })
  return { pieces: new Pieces(read, stop), read, stop }
}

describe('Pieces', () => {
  it('are an async iterable', async () => {
    const { pieces, stop } = piecesOf(1, 2)
    const all: number[] = []
    for await (const piece of pieces) all.push(piece)
    expect(all).toEqual([1, 2])
    expect(stop).not.toHaveBeenCalled()
  })

  it('are requested one at a time', async () => {
    const { pieces, read } = piecesOf(1, 2)
    expect(read).not.toHaveBeenCalled()
    expect(await pieces.next()).toEqual({ done: false, value: 1 })
    expect(read).toHaveBeenCalledTimes(1)
  })

  it('fail with the error of their source', async () => {
    const { pieces } = piecesOf(1, new Error('broke'))
    await pieces.next()
    await expect(pieces.next()).rejects.toThrow('broke')
  })

  it('are stopped by a reader that returns early, which waits for the stop', async () => {
    let stopped = false
    const pieces = new Pieces<number>(
      (onResult) => onResult({ done: false, value: 1 }),
      () => Promise.resolve().then(() => void (stopped = true)),
    )
    for await (const piece of pieces) if (piece === 1) break
    expect(stopped).toBe(true)
  })
})

describe('readerOf', () => {
  const resultsOf = (iterator: AsyncIterator<number, undefined>) => {
    const results: unknown[] = []
    readerOf(iterator)(
      (result) => results.push(result),
      (error) => results.push(error),
    )
    return results
  }

  it('reads pieces synchronously', () => {
    expect(resultsOf(piecesOf(1).pieces)).toEqual([{ done: false, value: 1 }])
  })

  it('reads any other iterator through its promises', async () => {
    async function* numbers(): AsyncGenerator<number, undefined> {
      yield 1
    }
    const results = resultsOf(numbers())
    expect(results).toEqual([])
    await new Promise(setImmediate)
    expect(results).toEqual([{ done: false, value: 1 }])
  })

  const error = new Error('broke')
  const thrown = (): never => {
    throw error
  }
  it.each([
    ['rejects', () => Promise.reject(error)],
    ['throws', thrown],
  ])('passes on the error of an iterator that %s', async (_, next) => {
    const results = resultsOf({ next })
    await new Promise(setImmediate)
    expect(results).toEqual([error])
  })
})
