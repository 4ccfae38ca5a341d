import type { Fields, ImportedPrices } from './imported-prices.js'
import { fieldsOf, importPrices } from './imported-prices.js'

/** The names and the unit, US dollars per million tokens, are the same as ours. */
const names = ['input', 'output', 'reasoning', 'cache_read', 'cache_write', 'input_audio', 'output_audio'] as const

function ratesOf(cost: Fields, provider: string): Fields {
  const rates: Fields = {}
  // Audio by the minute has zeros beside it.
  if (typeof cost['per_minute'] === 'number') return { seconds: Number((cost['per_minute'] / 60).toFixed(9)) * 1e6 }
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

/** Whether a model makes text and images: the table has one price for both, that of images, which is a multiple of the other. */
const isMixed = (facts: Fields): boolean => {
  const { output } = fieldsOf(facts['modalities'])
  return Array.isArray(output) && output.includes('text') && output.includes('image')
}

/**
 * Imports prices from https://models.dev/api.json. Models without a price are skipped, not rejected.
 * @example const { rows } = fromModelsDev(await (await fetch('https://models.dev/api.json')).json())
 */
export function fromModelsDev(json: unknown): ImportedPrices {
  const found: [string, Fields][] = []
  const mixed: ImportedPrices['rejected'] = []
  for (const [provider, entry] of Object.entries(fieldsOf(json)))
    for (const [model, value] of Object.entries(fieldsOf(fieldsOf(entry)['models']))) {
      const facts = fieldsOf(value)
      if (facts['cost'] === undefined) continue
      const cost = fieldsOf(facts['cost'])
      const rates = ratesOf(cost, provider)
      const tiers = tiersOf(cost).map(([above, tier]) => ({ above, ...ratesOf(tier, provider) }))
      if (isMixed(facts)) mixed.push({ model: `${provider}/${model}`, reason: 'text and images have one price' })
      else found.push([`${provider}/${model}`, tiers.length > 0 ? { ...rates, tiers } : rates])
    }
  const { rows, rejected } = importPrices(found)
  return { rows, rejected: [...rejected, ...mixed] }
}
