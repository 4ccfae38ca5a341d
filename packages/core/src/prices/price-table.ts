import { fnv1a } from './fnv1a.js'
import { parsePrices } from './parse-prices.js'
import type { Origin, Price, PriceTable } from './price.js'

/** A model id without the date of its version: `gpt-4o` of `gpt-4o-2024-08-06`, `claude-x` of `claude-x-20250929` and `claude-x-latest`. */
export const undated = (model: string): string => model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, '')

const sortKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/**
 * The table of rows by `provider/model`, in US dollars per million units. A dated id that has no row of its own has that of the id without
 * its date. Throws a RangeError that names the row and the field where one cannot be right.
 * @param origin where the rows are from; default the host, since now
 * @param originOf where one row is from, where they are from several places; default `origin`
 */
export function priceTable(
  rows: Record<string, Price>,
  origin: Origin = { source: 'host', since: new Date().toISOString() },
  originOf: (id: string) => Origin = () => origin,
): PriceTable {
  // A copy, so that a table says the same for good.
  const parsed = parsePrices(rows)
  const prices = new Map(Object.entries(parsed))
  return {
    version: fnv1a(JSON.stringify(parsed, sortKeys)),
    origin,
    price: (provider, model) => prices.get(`${provider}/${model}`) ?? prices.get(`${provider}/${undated(model)}`),
    originOf(provider, model) {
      const id = [`${provider}/${model}`, `${provider}/${undated(model)}`].find((one) => prices.has(one))
      return id === undefined ? undefined : originOf(id)
    },
  }
}
