import { bytes } from '@turnpike/http'
import { expect, it, vi } from 'vitest'
import type { RequestCount } from './caller.js'
import type { PlatformRoute } from './operation.js'
import { inTurns, turns } from './turns.js'

it('work of a user waits for its turn, and that of others does not', async () => {
  const turn = turns(2)
  const log: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => async () => {
    log.push(name)
    await new Promise<void>((resolve) => ends.set(name, resolve))
    if (name === 'a1') throw new Error('It failed')
    return name
  }
  const first = turn('ada', work('a1'))
  const others = ['a2', 'a3', 'a4'].map((name) => turn('ada', work(name)))
  const bob = turn('bob', work('b1'))
  await Promise.resolve()
  expect(log).toEqual(['a1', 'a2', 'b1'])
  ends.get('a1')!()
  await expect(first).rejects.toThrow('It failed')
  await expect.poll(() => log).toEqual(['a1', 'a2', 'b1', 'a3'])
  for (const name of ['a2', 'a3', 'b1']) ends.get(name)!()
  await expect.poll(() => log).toEqual(['a1', 'a2', 'b1', 'a3', 'a4'])
  ends.get('a4')!()
  expect(await Promise.all([...others, bob])).toEqual(['a2', 'a3', 'a4', 'b1'])
})

const ada = { user: { id: 'ada', role: 'admin' } }
const demoted = { user: { id: 'ada', role: 'user' } }

/** Sends pages of these sizes through {@link inTurns}. @returns what was counted, and what waited for room */
async function counted(pages: number[], again: () => object = () => ada): Promise<(number | 'room')[]> {
  const log: (number | 'room')[] = []
  const count: Partial<RequestCount> = {
    more: (_, requests) => void log.push(requests),
    page: (_, work) => work(false),
    room: async () => void log.push('room'),
    turn: (_, work) => work(false),
  }
  async function* body() {
    for (const size of pages) yield new Uint8Array(size)
  }
  const given = { operation: { run: async () => bytes(body(), 'application/json') } } as unknown as PlatformRoute
  const { run } = inTurns(given, count as RequestCount).operation
  const answer = (await run(ada as never, {} as never, { again } as never)) as {
    body: AsyncIterable<Uint8Array>
  }
  const sizes: number[] = []
  for await (const piece of answer.body) sizes.push(piece.length)
  expect(sizes).toEqual(pages)
  return log
}

it('threat 176: a page of a list after the first waits for room, and counts by its entries or its bytes', async () => {
  expect(await counted([1_000])).toEqual([1_000 / 2 ** 18])
  expect(await counted([2 ** 18, 1_000, 2 ** 21])).toEqual([1, 'room', 4, 'room', 8])
})

it('threat 137: a list ends before a further page where its user is gone or has another role', async () => {
  await expect(counted([1, 2])).resolves.toHaveLength(3)
  const fail = (): never => {
    throw new Error('The user is gone')
  }
  await expect(counted([1, 2], fail)).rejects.toThrow('The user is gone')
  await expect(counted([1, 2], () => demoted)).rejects.toMatchObject({ status: 401 })
})

it('threat 179: an operation that has waited for its turn has the caller as of then', async () => {
  const run = vi.fn(async () => 'done')
  for (const [hasWaited, caller] of [
    [false, ada],
    [true, demoted],
  ] as const) {
    const count: Partial<RequestCount> = { more: () => undefined, turn: (_, work) => work(hasWaited) }
    const { operation } = inTurns({ operation: { run } } as unknown as PlatformRoute, count as RequestCount)
    await operation.run(ada as never, {} as never, { again: async () => demoted } as never)
    expect(run).toHaveBeenLastCalledWith(caller, {}, expect.anything())
  }
})
