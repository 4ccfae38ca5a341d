import { PRICES_MS } from '../conventions.js'
import { fnv1a } from './fnv1a.js'
import { priceTable } from './price-table.js'
import type { ListedModel, PriceRow, PriceSource, PriceTable } from './price.js'

/**
 * A source whose prices never change.
 * @example const prices = fixedPrices(priceTable({ 'openai/my-model': { input: 0.15, output: 0.6 } }))
 */
export const fixedPrices = (table: PriceTable): PriceSource => ({ table: () => table })

/** Options of {@link livePrices}. */
export interface LivePricesOptions {
  /** Loads the JSON of a table, for example from a URL. */
  load(): Promise<unknown>
  /** Converts that to rows by `provider/model`, for example `(json) => fromModelsDev(json).rows`. */
  parse(json: unknown): Record<string, PriceRow>
  /** What it tells of models besides, by `provider/model`, for example `modelsFromModelsDev`; default nothing. */
  models?(json: unknown): Record<string, ListedModel>
  /** Name of the source, for display; default `loaded`. */
  source?: string
  /** Used until the first load, and for models that are not in the loaded table. */
  first: PriceTable
  /** Milliseconds between loads; default 6 hours. */
  everyMs?: number
  /** Called with the reason if a table was not accepted. */
  onError(error: unknown): void
}

/** A source whose prices are reloaded periodically. */
export interface LivePrices extends PriceSource {
  /** Loads now, or joins the load in progress. Resolves when the table has been loaded or `onError` has been called; never rejects. */
  refresh(): Promise<void>
  /** Stops reloading; the current prices stay in force. */
  close(): void
}

/** Combines two tables; `upper` takes precedence. */
const over = (upper: PriceTable, lower: PriceTable): PriceTable => ({
  version: fnv1a(`${upper.version} over ${lower.version}`),
  origin: upper.origin,
  // Public tables may lack service tiers, which do not make a model cheaper than the tier is known to be.
  price: (provider, model, serviceTier) =>
    upper.price(provider, model, serviceTier) ?? lower.price(provider, model, serviceTier),
  originOf: (provider, model) => upper.originOf(provider, model) ?? lower.originOf(provider, model),
})

/**
 * Creates a source that reloads its prices, first after `everyMs` or by `refresh()`. The last good table is kept if a new one cannot be
 * loaded, has no rows, or lacks more than half of the models of the last one.
 * @example const prices = livePrices({
 *   load: async () => (await fetch('https://models.dev/api.json')).json(),
 *   parse: (json) => fromModelsDev(json).rows,
 *   first: builtInPrices().table(),
 *   onError: console.error,
 * })
 */
export function livePrices(options: LivePricesOptions): LivePrices {
  const { first, everyMs = PRICES_MS, source = 'loaded' } = options
  let table = first
  let models: string[] = []
  let loading: Promise<void> | undefined

  const load = async (): Promise<void> => {
    try {
      const json = await options.load()
      const rows = options.parse(json)
      const found = Object.keys(rows)
      if (found.length === 0) throw new Error('The loaded prices have no rows')
      const lost = models.filter((model) => !Object.hasOwn(rows, model)).length
      if (lost > models.length / 2) throw new Error(`The loaded prices are without ${lost} of ${models.length} models`)
      const loaded = over(priceTable(rows, { source, since: new Date().toISOString() }), first)
      // Unchanged prices keep the `since` of their first load.
      const next = loaded.version === table.version ? table : loaded
      table = options.models ? { ...next, models: options.models(json) } : next
      models = found
    } catch (error) {
      try {
        options.onError(error)
      } catch {
        // Errors of the host's hook must not stop the reloading.
      }
    }
  }
  const refresh = (): Promise<void> => (loading ??= load().finally(() => (loading = undefined)))

  const timer = setInterval(() => void refresh(), everyMs)
  // The timer must not keep the process alive.
  ;(timer as { unref?(): void }).unref?.()

  return { table: () => table, refresh, close: () => clearInterval(timer) }
}
