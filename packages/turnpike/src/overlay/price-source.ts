/** The prices that are in force where the store has some. @module */
import type { PriceSource, PriceTable } from '@turnpike/core'
import { priceTable } from '@turnpike/core'
import { undated } from '@turnpike/core/internal'
import type { ReadPrice } from './read.js'

/** The prices of the store as a table. */
function tableOf(prices: ReadPrice[]): PriceTable {
  const rows = prices.flatMap(({ entry: { name }, row }) => (row ? [[name, row] as const] : []))
  const origins = new Map(
    prices.map(({ entry: { name, updated_at } }) => [name, { source: 'store', since: updated_at }]),
  )
  const since = prices
    .map(({ entry }) => entry.updated_at)
    .toSorted()
    .at(-1)!
  const latest = { source: 'store', since }
  return priceTable(Object.fromEntries(rows), latest, (id) => origins.get(id) ?? latest)
}

/** One table before another one. @param has whether the first has a row of this very id, `provider/model` */
function joined(own: PriceTable, of: PriceTable, has: (id: string) => boolean): PriceTable {
  const from = (provider: string, model: string): PriceTable => {
    if (has(`${provider}/${model}`)) return own
    if (!own.price(provider, model)) return of
    // That is of the model without its date, or of all providers: a row of the very id, such as of an earlier and dearer version, prevails.
    const [listed, without] = [of.price(provider, model), undated(model)]
    return listed && (model === without || listed !== of.price(provider, without)) ? of : own
  }
  return {
    version: `${own.version}.${of.version}`,
    origin: of.origin,
    ...(of.models && { models: of.models }),
    price: (provider, model, tier) => from(provider, model).price(provider, model, tier),
    originOf: (provider, model) => from(provider, model).originOf(provider, model),
  }
}

/** Prices of the store, before those of a source. A model that has one has none of the service tiers of the source. */
export function pricesOver(prices: ReadPrice[], source: PriceSource): PriceSource {
  const used = prices.filter(({ row }) => row)
  if (used.length === 0) return source
  const own = tableOf(used)
  const ids = new Set(used.map(({ entry }) => entry.name))
  let last: { of: PriceTable; table: PriceTable } | undefined
  return {
    table() {
      const of = source.table()
      if (last?.of !== of) last = { of, table: joined(own, of, (id) => ids.has(id)) }
      return last.table
    },
  }
}
