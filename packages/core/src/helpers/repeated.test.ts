import { expect, it } from 'vitest'
import type { KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { repeated } from './repeated.js'

/** Adds 1 to a value by compare-and-set. */
const add = (kv: KV, seen: () => void) =>
  repeated('n', async () => {
    seen()
    const entry = await kv.get<number>(['n'])
    // As a network would have it.
    await new Promise(setImmediate)
    const n = (entry?.value ?? 0) + 1
    const check = [{ key: ['n'], version: entry?.version ?? null }]
    return (await kv.commit({ check, set: [{ key: ['n'], value: n }] })) ? { n } : undefined
  })

it('makes about two attempts for each of many at once', async () => {
  const kv = await memoryKV()
  let attempts = 0
  const all = await Promise.all(Array.from({ length: 100 }, () => add(kv, () => attempts++)))
  expect(all.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i + 1))
  expect(attempts).toBe(199)
})

it('asks whether it may before each attempt but the first', async () => {
  const done: string[] = []
  const run = (name: string, tries: number, again?: () => unknown) =>
    repeated(
      'y',
      async () => {
        done.push(name)
        return --tries > 0 ? undefined : { name }
      },
      again,
    )
  let mayGoOn = true
  const slow = run('slow', 3, () => (mayGoOn = false))
  const refused = run('refused', 2, async () => {
    if (!mayGoOn) throw new Error('No longer')
  })
  await expect(refused).rejects.toThrow('No longer')
  expect(await slow).toEqual({ name: 'slow' })
  expect(done).toEqual(['slow', 'refused', 'slow', 'slow'])
})

it('goes on where one of them fails', async () => {
  let left = 3
  const failing = repeated('x', async () => {
    if (--left > 0) return undefined
    throw new Error('No')
  })
  const other = repeated('x', async () => (left > 0 ? undefined : { left }))
  await expect(failing).rejects.toThrow('No')
  expect(await other).toEqual({ left: 0 })
})
