import type { PriceRow, PriceTable, Provider } from '@turnpike/core'
import { pricesBefore } from '@turnpike/core/internal'

/**
 * Puts the prices in the configurations of providers before those of a table.
 * @param now in milliseconds since 1970
 * @throws TypeError where two providers with one id have two prices of a model
 * @throws RangeError for a price that is wrong
 */
export function withOwnPrices(
  of: string,
  providers: readonly Provider[],
  now: number,
): (table: PriceTable) => PriceTable {
  const rows: Record<string, PriceRow> = {}
  for (const { id, own } of providers)
    for (const [model, { price }] of own ?? []) {
      if (!price) continue
      const name = `${id}/${model}`
      if (Object.hasOwn(rows, name) && JSON.stringify(rows[name]) !== JSON.stringify(price))
        throw new TypeError(
          `${of}: two providers with the id "${id}" have two prices of "${model}": one of them needs another id`,
        )
      rows[name] = price
    }
  if (Object.keys(rows).length === 0) return (table) => table
  return pricesBefore(rows, { source: 'configuration', since: new Date(now).toISOString() })
}
