import { expect, it } from 'vitest'
import type { Source } from './merge.js'
import { mergeOf } from './merge.js'

/** A list of times, in pages of two. */
const listOf =
  (times: string[], asked: number[] = []): Source<string> =>
  async (after) => {
    const from = Number(after ?? 0)
    asked.push(from)
    return { rows: times.slice(from, from + 2), next: from + 2 < times.length ? String(from + 2) : undefined }
  }

it('gives rows of several lists by time, as far as no list can have a newer one', async () => {
  const asked: number[] = []
  const merge = mergeOf([listOf(['9', '7', '5', '3', '1']), listOf(['8', '2'], asked), listOf([])], (time) => time, 2)
  expect(await merge.more()).toEqual({ rows: ['9', '8', '7'], more: true })
  expect(await merge.more()).toEqual({ rows: ['9', '8', '7', '5', '3'], more: true })
  expect(await merge.more()).toEqual({ rows: ['9', '8', '7', '5', '3', '2', '1'], more: false })
  expect(asked).toEqual([0])
})

it('ends where there is nothing', async () => {
  expect(await mergeOf([listOf([])], (time: string) => time, 2).more()).toEqual({ rows: [], more: false })
  expect(await mergeOf([], (time: string) => time, 2).more()).toEqual({ rows: [], more: false })
})
