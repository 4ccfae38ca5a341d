import { fnv1a } from './fnv1a.js'
import { priceTable } from './price-table.js'
import type { Origin, PriceRow, PriceTable } from './price.js'

/**
 * Puts prices before those of tables, each whole, with its service tiers, and for its very id: a dated id is another model.
 * @param rows by `provider/model`
 * @returns what makes the table of another one
 * @throws RangeError that names the invalid row and field
 */
export function pricesBefore(rows: Record<string, PriceRow>, origin: Origin): (table: PriceTable) => PriceTable {
  const own = priceTable(rows, origin)
  let made: { of: PriceTable; table: PriceTable } | undefined
  return (table) => {
    if (made?.of === table) return made.table
    const of = (provider: string, model: string): PriceTable =>
      Object.hasOwn(rows, `${provider}/${model}`) ? own : table
    const combined: PriceTable = {
      ...table,
      version: fnv1a(`${own.version} before ${table.version}`),
      price: (provider, model, serviceTier) => of(provider, model).price(provider, model, serviceTier),
      originOf: (provider, model) => of(provider, model).originOf(provider, model),
    }
    made = { of: table, table: combined }
    return combined
  }
}
