import type { Price, Rates, Target, Units, Usage } from '@turnpike/core'
import { ratesFor } from '@turnpike/core'

/** The standard tier in the words of OpenAI, Claude and Gemini; `auto` leaves the choice to the provider. */
const standard: unknown[] = ['auto', 'default', 'standard', 'standard_only', 'global', 'not_available', '']

/** Tiers that cost less than the standard one, whatever the model. */
const cheaper: unknown[] = ['flex', 'batch']

/** Longest name of a tier in a record. */
const LONGEST = 40

/**
 * The name of a tier, which is that of its price; undefined for the standard one. OpenAI also calls `priority` `fast`. It has no `+`, which joins
 * what an answer tells: a caller must not choose a second price.
 */
const nameOf = (tier: unknown): string | undefined => {
  if (typeof tier !== 'string' || standard.includes(tier)) return undefined
  return tier === 'fast' ? 'priority' : tier.slice(0, LONGEST).replaceAll('+', '_')
}

/** The tier that a request asks for; undefined = the standard one. */
export const askedTier = ({ service_tier: tier }: { service_tier?: string | null | undefined }): string | undefined =>
  nameOf(tier)

/** Adds what a usage tells besides of its tier. */
const withTerm = (tier: string | undefined, term: unknown): string | undefined => {
  if (typeof term !== 'string' || standard.includes(term)) return tier
  return (tier ? `${tier}+${term}` : term).slice(0, LONGEST)
}

/**
 * The tier that served a request, as its answer tells, else the one asked for: a discount only counts where it is told. `us+fast` are
 * Claude's `inference_geo` and `speed`, which it tells in its usage.
 */
export function servedTier(
  asked: string | undefined,
  answer: { [field: string]: unknown } | undefined,
  usage: Usage | undefined,
): string | undefined {
  const told = answer?.['service_tier'] ?? usage?.['service_tier']
  let tier = typeof told === 'string' && told !== 'auto' ? nameOf(told) : cheaper.includes(asked) ? undefined : asked
  if (!usage) return tier
  tier = withTerm(tier, usage['inference_geo'])
  return withTerm(tier, usage['speed'])
}

/** Whether a tier is known to cost no more than its price, or than the standard one. */
export const isPriced = ({ prices, provider, model }: Target, tier: string): boolean =>
  cheaper.includes(tier) || prices?.price(provider.id, model, tier) !== undefined

/**
 * The rates of a request; those of a tier without a price are the standard ones.
 * @param calls how many calls the units are of; default 1
 */
export function ratesOf(
  { price, prices, provider, model }: Target,
  units: Units,
  tier: string | undefined,
  calls?: number,
): Rates {
  const rates = price ? ratesFor(price, units, calls) : {}
  if (tier === undefined || !price) return rates
  const priceOf = (name: string): Price | undefined => prices?.price(provider.id, model, name)
  const both = priceOf(tier)
  const own = both ? [both] : tier.split('+').map(priceOf)
  return Object.assign({}, rates, ...own.map((price) => price && ratesFor(price, units, calls)))
}
