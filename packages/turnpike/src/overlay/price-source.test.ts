import type { Price } from '@turnpike/core'
import { fixedPrices, priceTable } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { pricesOver } from './price-source.js'

const updated_at = '2026-01-02T00:00:00.000Z'
const priceOf = (name: string, row: Price) => ({
  entry: { kind: 'prices' as const, name, value: null, updated_at },
  row,
})

describe('prices', () => {
  const prices = [priceOf('p/m', { input: 1 }), priceOf('*/l', { input: 2 })]
  const source = fixedPrices(
    priceTable({ 'p/m': { input: 5, output: 6, service_tiers: { flex: { input: 4 } } }, 'p/n': { input: 7 } }),
  )
  it('of the store go before those of the source, with all of their row', () => {
    const table = pricesOver(prices, source).table()
    expect(table.price('p', 'm')).toEqual({ input: 1 })
    expect(table.price('p', 'm', 'flex')).toBeUndefined()
    expect([table.price('p', 'n'), table.price('q', 'l'), table.price('q', 'x')]).toEqual([
      { input: 7 },
      { input: 2 },
      undefined,
    ])
    expect(table.originOf('p', 'm')).toEqual({ source: 'store', since: updated_at })
    expect(table.originOf('p', 'n')).toEqual(source.table().origin)
    expect(table.version).not.toBe(source.table().version)
    const joined = pricesOver(prices, source)
    expect(joined.table()).toBe(joined.table())
  })

  it('leave a dated model its own row, and take those that have none', () => {
    const dated = fixedPrices(priceTable({ 'p/m': { input: 5 }, 'p/m-2024-05-13': { input: 9 }, 'q/l': { input: 3 } }))
    const { price, originOf } = pricesOver(prices, dated).table()
    const priced = (...ids: string[]) => ids.map((id) => price('p', id)?.input)
    expect(priced('m', 'm-2024-05-13', 'm-2025-01-01')).toEqual([1, 9, 1])
    expect(originOf('p', 'm-2024-05-13')).toEqual(dated.table().origin)
    expect([price('q', 'l')?.input, price('r', 'l')?.input, price('r', 'l-latest')?.input]).toEqual([3, 2, 2])
  })

  it('are those of the source where there are none', () => {
    expect(pricesOver([], source)).toBe(source)
  })
})
