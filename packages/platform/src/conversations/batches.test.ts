import { expect, it } from 'vitest'
import { batches } from './batches.js'

const done = <T>(value: T) => ({ status: 'fulfilled' as const, value })

/** A queue whose batches end one at a time, by `end`, and the batches that have begun. */
function setUp(most = Infinity) {
  const begun: string[][] = []
  const ends: ((error?: Error) => void)[] = []
  const add = batches<string, string>()
  const run = (items: string[]) =>
    new Promise<PromiseSettledResult<string>[]>((resolve, reject) => {
      begun.push(items)
      ends.push((error) => (error ? reject(error) : resolve(items.slice(0, most).map((item) => done(`${item}!`)))))
    })
  const end = async (error?: Error) => {
    ends.shift()!(error)
    await new Promise(setImmediate)
  }
  return { begun, end, add: (item: string, key = 'k') => add(key, item, run) }
}

it('does what comes meanwhile in one go, in its order', async () => {
  const { begun, end, add } = setUp()
  const all = ['a', 'b', 'c'].map((item) => add(item))
  expect(begun).toEqual([['a']])
  await end()
  expect(begun).toEqual([['a'], ['b', 'c']])
  all.push(add('d'))
  await end()
  await end()
  expect(await Promise.all(all)).toEqual(['a!', 'b!', 'c!', 'd!'])
  // Nothing of the queue is left.
  void add('e')
  expect(begun.slice(2)).toEqual([['d'], ['e']])
})

it('keeps nobody waiting for another key', () => {
  const { begun, add } = setUp()
  void add('a')
  void add('b', 'other')
  expect(begun).toEqual([['a'], ['b']])
})

it('goes on after a batch that fails, for its items alone', async () => {
  const { begun, end, add } = setUp()
  const all = Promise.allSettled(['a', 'b', 'c'].map((item) => add(item)))
  await end(new Error('No'))
  const next = add('d')
  await end(new Error('No again'))
  await end()
  expect(begun).toEqual([['a'], ['b', 'c'], ['d']])
  expect((await all).map((outcome) => (outcome as PromiseRejectedResult).reason.message)).toEqual([
    'No',
    'No again',
    'No again',
  ])
  expect(await next).toBe('d!')
})

it('does first what a batch left out', async () => {
  const { begun, end, add } = setUp(2)
  const all = ['a', 'b', 'c', 'd'].map((item) => add(item))
  await end()
  all.push(add('e'))
  await end()
  await end()
  expect(await Promise.all(all)).toEqual(['a!', 'b!', 'c!', 'd!', 'e!'])
  expect(begun).toEqual([['a'], ['b', 'c', 'd'], ['d', 'e']])
})

it('does at most 64 in one go', async () => {
  const { begun, end, add } = setUp()
  const all = Array.from({ length: 100 }, (_, i) => add(`${i}`))
  for (let i = 0; i < 3; i++) await end()
  await Promise.all(all)
  expect(begun.map((items) => items.length)).toEqual([1, 64, 35])
})

it('tells each item its own outcome', async () => {
  const add = batches<number, number>()
  const run = async (items: number[]) =>
    items.map((item) => (item === 2 ? { status: 'rejected' as const, reason: new Error('2') } : done(item)))
  const outcomes = await Promise.allSettled([1, 2, 3].map((item) => add('k', item, run)))
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})
