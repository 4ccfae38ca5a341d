import type { Fields, ImportedPrices } from './imported-prices.js'
import { fieldsOf, importPrices } from './imported-prices.js'

/** The names and the unit, US dollars per million tokens, are the same as ours. */
const names = ['input', 'output', 'reasoning', 'cache_read', 'cache_write', 'input_audio', 'output_audio'] as const

function ratesOf(cost: Fields, provider: string): Fields {
  const rates: Fields = {}
  for (const name of names) if (cost[name] !== undefined) rates[name] = cost[name]
  // The table has no rate for the one-hour cache, which is twice the input rate (docs/pricing.md).
  if (provider === 'anthropic' && typeof cost['cache_write'] === 'number' && typeof cost['input'] === 'number')
    rates['cache_write_1h'] = cost['input'] * 2
  return rates
}

/** The tiers by prompt size. `context_over_200k` is the older form with a single tier, which newer tables keep for compatibility. */
function tiersOf(cost: Fields): [above: unknown, rates: Fields][] {
  const { tiers, context_over_200k } = cost
  if (Array.isArray(tiers))
    return tiers
      .map((tier): [Fields, Fields] => [fieldsOf(fieldsOf(tier)['tier']), fieldsOf(tier)])
      .filter(([{ type }]) => type === 'context')
      .map(([{ size }, rates]) => [size, rates])
  return context_over_200k === undefined ? [] : [[200_000, fieldsOf(context_over_200k)]]
}

/** Imports prices from https://models.dev/api.json. Models without a price are skipped, not rejected. */
export function fromModelsDev(json: unknown): ImportedPrices {
  const found: [string, Fields][] = []
  for (const [provider, entry] of Object.entries(fieldsOf(json)))
    for (const [model, facts] of Object.entries(fieldsOf(fieldsOf(entry)['models']))) {
      const cost = fieldsOf(facts)['cost']
      if (cost === undefined) continue
      const rates = ratesOf(fieldsOf(cost), provider)
      const tiers = tiersOf(fieldsOf(cost)).map(([above, tier]) => ({ above, ...ratesOf(tier, provider) }))
      found.push([`${provider}/${model}`, tiers.length > 0 ? { ...rates, tiers } : rates])
    }
  return importPrices(found)
}
