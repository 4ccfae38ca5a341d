import { fnv1a } from './fnv1a.js'
import { priceTable } from './price-table.js'
import type { Price, PriceSource, PriceTable } from './price.js'

const SIX_HOURS = 6 * 60 * 60 * 1000

/** Prices that stay as they are. */
export const fixedPrices = (table: PriceTable): PriceSource => ({ table: () => table })

/** Options of {@link livePrices}. */
export interface LivePricesOptions {
  /** Brings the JSON of a table, such as from a URL. */
  load(): Promise<unknown>
  /** Rows by `provider/model` out of that, such as `(json) => fromModelsDev(json).rows`. */
  parse(json: unknown): Record<string, Price>
  /** Where they are from, for people; default `loaded`. */
  source?: string
  /** What holds until something was loaded, and for models that are not in what was. */
  first: PriceTable
  /** Milliseconds from one load to the next; default 6 hours. */
  everyMs?: number
  /** Told why a table was not taken. */
  onError(error: unknown): void
}

/** Prices that are loaded again from time to time. */
export interface LivePrices extends PriceSource {
  /** Loads now, or joins the load that is under way; resolves when the table is there or `onError` was told why it is not. */
  refresh(): Promise<void>
  /** Ends the reloading; the prices stay. */
  close(): void
}

/** A table over another. */
const over = (upper: PriceTable, lower: PriceTable): PriceTable => ({
  version: fnv1a(`${upper.version} over ${lower.version}`),
  origin: upper.origin,
  price: (provider, model) => upper.price(provider, model) ?? lower.price(provider, model),
  originOf: (provider, model) => upper.originOf(provider, model) ?? lower.originOf(provider, model),
})

/**
 * Prices that are loaded again and again, the first time after `everyMs` or by `refresh()`. The last good table stays where one cannot be
 * loaded, has no rows, or is without more than half of the models that the last one had.
 */
export function livePrices(options: LivePricesOptions): LivePrices {
  const { first, everyMs = SIX_HOURS, source = 'loaded' } = options
  let table = first
  let models: string[] = []
  let loading: Promise<void> | undefined

  const load = async (): Promise<void> => {
    try {
      const rows = options.parse(await options.load())
      const found = Object.keys(rows)
      if (found.length === 0) throw new Error('The loaded prices have no rows')
      const lost = models.filter((model) => !Object.hasOwn(rows, model)).length
      if (lost > models.length / 2) throw new Error(`The loaded prices are without ${lost} of ${models.length} models`)
      const loaded = over(priceTable(rows, { source, since: new Date().toISOString() }), first)
      // The same prices hold since they were first loaded.
      if (loaded.version !== table.version) table = loaded
      models = found
    } catch (error) {
      try {
        options.onError(error)
      } catch {
        // The host's own hook failed; the prices stay.
      }
    }
  }
  const refresh = (): Promise<void> => (loading ??= load().finally(() => (loading = undefined)))

  const timer = setInterval(() => void refresh(), everyMs)
  // A process is not to live for its prices.
  ;(timer as { unref?(): void }).unref?.()

  return { table: () => table, refresh, close: () => clearInterval(timer) }
}
