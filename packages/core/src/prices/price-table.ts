import { isObject } from '../helpers/is-object.js'
import { fnv1a } from './fnv1a.js'
import { parsePrices } from './parse-prices.js'
import type { Origin, Price, PriceRow, PriceTable } from './price.js'

/**
 * Removes the date or number of a version from a model id: `gpt-4o-2024-08-06` becomes `gpt-4o`, `gemini-x-001` becomes `gemini-x`,
 * `claude-x-20250929`, Vertex AI's `claude-x@20250929` and `claude-x-latest` become `claude-x`,
 * and `llama3.2:latest` becomes `llama3.2`.
 */
export const undated = (model: string): string =>
  model.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{3}|latest)$|@default$|:latest$/, '')

const sortKeys = (_: string, value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))) : value

/**
 * Creates a table from rows by `provider/model`, in US dollars per million units. A dated id without a row uses the row of the undated id, and a
 * model without either that of the provider `*`, which is for all.
 * @param origin the origin of the rows; default the host, since now
 * @param originOf the origin of a row by its id, if the rows have several; default `origin`
 * @throws RangeError that names the invalid row and field
 * @example const table = priceTable({ 'openai/my-model': { input: 0.15, output: 0.6 } })
 */
export function priceTable(
  rows: Record<string, PriceRow>,
  origin: Origin = { source: 'host', since: new Date().toISOString() },
  originOf: (id: string) => Origin = () => origin,
): PriceTable {
  // A copy, so that later changes of `rows` do not affect the table.
  const parsed = parsePrices(rows)
  const prices = new Map<string, Price>()
  /** The prices of service tiers, apart: the price of a request without one is passed on as it is. */
  const byTier = new Map<string, Map<string, Price>>()
  for (const [id, { service_tiers, ...price }] of Object.entries(parsed)) {
    prices.set(id, price)
    for (const [name, own] of Object.entries(service_tiers ?? {})) {
      if (!byTier.has(name)) byTier.set(name, new Map())
      byTier.get(name)!.set(id, own)
    }
  }
  const known = (id: string): string | undefined => (prices.has(id) ? id : undefined)
  /** The name of the row of a model: a dated id with a row of its own has the service tiers of that row only. */
  const rowOf = (provider: string, model: string): string =>
    known(`${provider}/${model}`) ??
    known(`${provider}/${undated(model)}`) ??
    known(`*/${model}`) ??
    `*/${undated(model)}`
  return {
    version: fnv1a(JSON.stringify(parsed, sortKeys)),
    origin,
    price(provider, model, serviceTier) {
      const row = rowOf(provider, model)
      return serviceTier === undefined ? prices.get(row) : byTier.get(serviceTier)?.get(row)
    },
    originOf(provider, model) {
      const row = known(rowOf(provider, model))
      return row === undefined ? undefined : originOf(row)
    },
  }
}
