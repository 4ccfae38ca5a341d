import type { Fields, ImportedPrices } from './imported-prices.js'
import { fieldsOf, importPrices } from './imported-prices.js'

/** The names are ours, and so is the unit: US dollars per million tokens. */
const names = ['input', 'output', 'reasoning', 'cache_read', 'cache_write', 'input_audio', 'output_audio'] as const

function ratesOf(cost: Fields, provider: string): Fields {
  const rates: Fields = {}
  for (const name of names) if (cost[name] !== undefined) rates[name] = cost[name]
  // What is cached for an hour is not in the table, and is twice the input (docs/pricing.md).
  if (provider === 'anthropic' && typeof cost['cache_write'] === 'number' && typeof cost['input'] === 'number')
    rates['cache_write_1h'] = cost['input'] * 2
  return rates
}

/** The tiers by the size of the prompt; the older form has one, which newer tables have for readers that know no other. */
function tiersOf(cost: Fields): [above: unknown, rates: Fields][] {
  const { tiers, context_over_200k } = cost
  if (Array.isArray(tiers))
    return tiers
      .map((tier): [Fields, Fields] => [fieldsOf(fieldsOf(tier)['tier']), fieldsOf(tier)])
      .filter(([{ type }]) => type === 'context')
      .map(([{ size }, rates]) => [size, rates])
  return context_over_200k === undefined ? [] : [[200_000, fieldsOf(context_over_200k)]]
}

/** Prices out of https://models.dev/api.json. Models without a price are not rejected, but not there. */
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
