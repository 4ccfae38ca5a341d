import type { Model, Provider } from '@turnpike/core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Listings } from './listings.js'

const model = (provider: string, id: string): Model => ({
  id,
  object: 'model',
  created: 1,
  owned_by: 'x',
  provider,
  capabilities: [],
})
const flush = () => vi.advanceTimersByTimeAsync(0)

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

/** A provider whose upstream answers when it is told to. */
function upstream(id = 'local') {
  const calls: { signal: { aborted: boolean }; answer(ids: string[]): Promise<void>; fail(): Promise<void> }[] = []
  const provider: Provider = {
    id,
    listsAll: true,
    models: ({ signal }) =>
      new Promise((resolve, reject) =>
        calls.push({
          signal,
          answer: (ids) => (resolve(ids.map((one) => model(id, one))), flush().then(() => undefined)),
          fail: () => (reject(new Error('down')), flush().then(() => undefined)),
        }),
      ),
  }
  return { provider, calls }
}
const of = (...providers: Provider[]) => new Listings(new Map(providers.map((one) => [one.id, [one]])), Date.now)
const idsOf = (lists: { models: Model[] } | undefined) => lists?.models.map(({ id }) => id)

it('waits for the first list, and asks once for all who wait', async () => {
  const { provider, calls } = upstream()
  const lists = of(provider)
  expect(lists.known()).toBeUndefined()
  const [a, b] = [lists.read(), lists.read()]
  await calls[0]!.answer(['x'])
  expect([idsOf(await a), idsOf(await b), idsOf(lists.known())]).toEqual([['x'], ['x'], ['x']])
  expect(calls).toHaveLength(1)
})

it('waits a second at most, and not again', async () => {
  const { provider, calls } = upstream()
  const lists = of(provider)
  const first = lists.read()
  await vi.advanceTimersByTimeAsync(999)
  expect(lists.known()).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(await first).toEqual({ models: [], unlisted: new Set(['local']) })
  expect(lists.known()).toBe(await first)
  await calls[0]!.answer(['x'])
  expect(lists.known()).toEqual({ models: [model('local', 'x')], unlisted: new Set() })
})

it('does not wait for an upstream that is down, and asks it again after ten seconds', async () => {
  const { provider, calls } = upstream()
  const lists = of(provider)
  const first = lists.read()
  await calls[0]!.fail()
  expect((await first).unlisted).toEqual(new Set(['local']))
  await vi.advanceTimersByTimeAsync(9_999)
  lists.known()
  expect(calls).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  lists.known()
  await calls[1]!.answer(['x'])
  expect(idsOf(lists.known())).toEqual(['x'])
})

it('answers the last list while it asks for the next, one call at a time, and while the upstream is down', async () => {
  const { provider, calls } = upstream()
  const lists = of(provider)
  const first = lists.read()
  await calls[0]!.answer(['x'])
  const known = await first
  await vi.advanceTimersByTimeAsync(59_999)
  lists.known()
  expect(calls).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(lists.known()).toBe(known)
  expect(await lists.read()).toBe(known)
  expect(calls).toHaveLength(2)
  await calls[1]!.fail()
  expect(lists.known()).toBe(known)
  await vi.advanceTimersByTimeAsync(10_000)
  lists.known()
  expect(calls).toHaveLength(3)
  await calls[2]!.answer(['y', 'z'])
  expect(idsOf(lists.known())).toEqual(['y', 'z'])
})

it('aborts a call after ten seconds', async () => {
  // Not faked by vitest.
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  const { provider, calls } = upstream()
  void of(provider).read()
  await flush()
  expect(calls).toHaveLength(1)
  expect(timeout).toHaveBeenCalledWith(10_000)
})

it('joins the lists of the instances of a provider, as far as they come', async () => {
  const [a, b] = [upstream(), upstream()]
  const lists = new Listings(new Map([['local', [a.provider, b.provider]]]), Date.now)
  const first = lists.read()
  await a.calls[0]!.fail()
  await b.calls[0]!.answer(['x', 'y'])
  expect(await first).toMatchObject({ models: [{ id: 'x' }, { id: 'y' }], unlisted: new Set() })
  await vi.advanceTimersByTimeAsync(10_000)
  lists.known()
  await a.calls[1]!.answer(['y', 'z'])
  expect(idsOf(lists.known())).toEqual(['y', 'z', 'x'])
})

it('does not fail where a provider throws', async () => {
  const provider: Provider = {
    id: 'local',
    models: () => {
      throw new Error('wrong')
    },
  }
  expect((await of(provider).read()).unlisted).toEqual(new Set(['local']))
})
