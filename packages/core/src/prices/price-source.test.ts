import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { parsePrices } from './parse-prices.js'
import { fixedPrices, livePrices } from './price-source.js'
import { priceTable } from './price-table.js'

const first = priceTable({ 'a/x': { input: 1 }, 'a/y': { input: 2 } })
const HOUR = 3_600_000

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

/** Live prices whose loads answer one by one with what is given: JSON, or an error. */
function setUp(answers: unknown[], everyMs?: number) {
  const errors: string[] = []
  const load = vi.fn(async () => {
    const answer = answers.shift()
    if (answer instanceof Error) throw answer
    return answer
  })
  const prices = livePrices({
    load,
    parse: parsePrices,
    first,
    onError: (error) => errors.push((error as Error).message),
    ...(everyMs !== undefined && { everyMs }),
  })
  const inputs = (...models: string[]) => models.map((model) => prices.table().price('a', model)?.input)
  return { prices, load, errors, inputs }
}

it('keeps fixed prices unchanged', () => {
  expect(fixedPrices(first).table()).toBe(first)
})

describe('live prices', () => {
  it('start with the first table and load only when it is due', async () => {
    const { prices, load } = setUp([])
    await vi.advanceTimersByTimeAsync(6 * HOUR - 1)
    expect(prices.table()).toBe(first)
    expect(load).not.toHaveBeenCalled()
  })

  it('load every six hours, until they are closed', async () => {
    const { prices, load, inputs } = setUp([{ 'a/x': { input: 10 } }, { 'a/x': { input: 20 } }])
    await vi.advanceTimersByTimeAsync(6 * HOUR)
    expect(inputs('x')).toEqual([10])
    await vi.advanceTimersByTimeAsync(6 * HOUR)
    expect(inputs('x')).toEqual([20])
    prices.close()
    await vi.advanceTimersByTimeAsync(24 * HOUR)
    expect(load).toHaveBeenCalledTimes(2)
    expect(inputs('x')).toEqual([20])
  })

  it('load at the configured interval', async () => {
    const { load, prices } = setUp([{ 'a/x': { input: 1 } }], HOUR)
    await vi.advanceTimersByTimeAsync(HOUR)
    expect(load).toHaveBeenCalledTimes(1)
    prices.close()
  })

  it('do not keep a process alive', () => {
    const intervals = vi.spyOn(globalThis, 'setInterval')
    const { prices } = setUp([])
    expect(intervals.mock.results.map(({ value }) => (value as NodeJS.Timeout).hasRef())).toEqual([false])
    prices.close()
  })

  it('override the first table, with a version of their own', async () => {
    const { prices, inputs } = setUp([
      { 'a/x': { input: 10 }, 'a/z': { input: 30 } },
      { 'a/x': { input: 11 }, 'a/z': { input: 30 } },
      { 'a/z': { input: 30 }, 'a/x': { input: 10 } },
    ])
    await prices.refresh()
    expect(inputs('x', 'y', 'z', 'w')).toEqual([10, 2, 30, undefined])
    const { version } = prices.table()
    expect(version).toMatch(/^[0-9a-f]{16}$/)
    await prices.refresh()
    expect(inputs('x')).toEqual([11])
    expect(prices.table().version).not.toBe(version)
    await prices.refresh()
    expect(prices.table().version).toBe(version)
    prices.close()
  })

  it('leave service tiers that the loaded table lacks as they are', async () => {
    const flex = { input: 0.5 }
    const prices = livePrices({
      load: async () => null,
      parse: () => ({ 'a/x': { input: 2 }, 'a/y': { input: 2, service_tiers: { flex: { input: 1 } } } }),
      first: priceTable({
        'a/x': { input: 1, service_tiers: { flex } },
        'a/y': { input: 1, service_tiers: { flex, priority: { input: 4 } } },
      }),
      onError: () => undefined,
    })
    await prices.refresh()
    const table = prices.table()
    expect([table.price('a', 'x'), table.price('a', 'x', 'flex')]).toEqual([{ input: 2 }, flex])
    expect([table.price('a', 'y', 'flex'), table.price('a', 'y', 'priority')]).toEqual([{ input: 1 }, { input: 4 }])
    prices.close()
  })

  it('report the origin and date of each price', async () => {
    const { prices } = setUp([{ 'a/x': { input: 10 } }, { 'a/x': { input: 10 } }, { 'a/x': { input: 11 } }])
    const since = (minutes: number) => ({ source: 'loaded', since: `2026-01-02T00:0${minutes}:00.000Z` })
    for (const [minute, changed] of [
      [1, 1],
      [2, 1],
      [3, 3],
    ] as const) {
      vi.setSystemTime(Date.UTC(2026, 0, 2, 0, minute))
      await prices.refresh()
      const table = prices.table()
      expect([table.origin, table.originOf('a', 'x')]).toEqual([since(changed), since(changed)])
      expect([table.originOf('a', 'y'), table.originOf('a', 'z')]).toEqual([first.origin, undefined])
    }
    prices.close()
  })

  it('return an immutable table', async () => {
    const { prices } = setUp([{ 'a/x': { input: 10 } }])
    const before = prices.table()
    await prices.refresh()
    expect(before.price('a', 'x')).toEqual({ input: 1 })
    prices.close()
  })

  it.each<[string, unknown, string]>([
    ['cannot be loaded', new Error('offline'), 'offline'],
    ['cannot be read', { 'a/x': { input: 'much' } }, 'Price of a/x: input is much; expected'],
    ['is empty', {}, 'The loaded prices have no rows'],
    [
      'has lost more than half of its models',
      { 'a/p': { input: 9 }, 'a/x': { input: 9 }, 'a/r': { input: 9 }, 'a/s': { input: 9 } },
      'The loaded prices are without 2 of 3 models',
    ],
  ])('keep the last good table where the next one %s, and continue', async (_, answer, message) => {
    const good = { 'a/x': { input: 10 }, 'a/y': { input: 20 }, 'a/z': { input: 30 } }
    const { prices, errors, inputs } = setUp([good, answer, { 'a/x': { input: 11 }, 'a/y': { input: 21 } }])
    await prices.refresh()
    const { version } = prices.table()
    await prices.refresh()
    expect(errors).toEqual([expect.stringContaining(message)])
    expect(inputs('x', 'y', 'z')).toEqual([10, 20, 30])
    expect(prices.table().version).toBe(version)
    await prices.refresh()
    expect(errors).toHaveLength(1)
    expect(inputs('x', 'y', 'z')).toEqual([11, 21, undefined])
    prices.close()
  })

  it('keep the first table where loading never succeeds', async () => {
    const { prices, errors } = setUp([new Error('offline')])
    await prices.refresh()
    expect(prices.table()).toBe(first)
    expect(errors).toEqual(['offline'])
    prices.close()
  })

  it('are loaded by one request at a time', async () => {
    let answer: (json: object) => void = () => undefined
    const { prices, load, inputs } = setUp([new Promise((resolve) => (answer = resolve)), { 'a/x': { input: 20 } }])
    const both = Promise.all([prices.refresh(), prices.refresh()])
    await vi.advanceTimersByTimeAsync(12 * HOUR)
    expect(load).toHaveBeenCalledTimes(1)
    answer({ 'a/x': { input: 10 } })
    await both
    expect(inputs('x')).toEqual([10])
    await prices.refresh()
    expect(inputs('x')).toEqual([20])
    prices.close()
  })

  it('tell of models, also where the prices stay as they are', async () => {
    const rows = { 'a/x': { input: 10 } }
    const told = (context: number) => ({ context, maxOutput: undefined, capabilities: [], created: 0 })
    let models = { 'a/x': told(1) }
    const prices = livePrices({
      load: async () => rows,
      parse: parsePrices,
      models: () => models,
      first,
      onError: (error) => expect.unreachable(String(error)),
    })
    expect(prices.table().models).toBeUndefined()
    await prices.refresh()
    const { version, origin } = prices.table()
    expect(prices.table().models).toEqual({ 'a/x': told(1) })
    models = { 'a/x': told(2) }
    await vi.advanceTimersByTimeAsync(6 * HOUR)
    expect(prices.table()).toMatchObject({ version, origin, models })
    prices.close()
  })

  it('tolerate hooks that throw', async () => {
    const fail = (): never => {
      throw new Error('The hook failed')
    }
    const load = vi.fn(fail)
    const prices = livePrices({ load, parse: parsePrices, first, onError: fail })
    await prices.refresh()
    await prices.refresh()
    expect(load).toHaveBeenCalledTimes(2)
    expect(prices.table()).toBe(first)
    prices.close()
  })
})
