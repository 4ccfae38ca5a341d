import type { Need, Target } from '../router.js'
import type { Price, Rates, UnitClass, Units } from './price.js'
import { completionClasses, measureClasses, promptClasses, unitClasses } from './price.js'

/** The class whose rate applies to a class without its own rate. */
const fallbacks: Partial<Record<UnitClass, UnitClass>> = {
  input_audio: 'input',
  input_image: 'input',
  cache_read: 'input',
  cache_write: 'input',
  cache_write_1h: 'cache_write',
  reasoning: 'output',
  output_audio: 'output',
  output_image: 'output',
}

const tokens = [...promptClasses, ...completionClasses]
const measures = new Set<UnitClass>(measureClasses)

/** All tokens among units, rounded up. */
export const tokensOf = (units: Units): number => Math.ceil(tokens.reduce((sum, name) => sum + (units[name] ?? 0), 0))

/** The tokens that a request is likely to use on a target. */
export const likelyTokens = (need: Need, target: Target): number =>
  need.likely?.(target) ?? tokensOf(need.expected(target))

/**
 * The rates of a request: those of the price, overridden by those of the highest tier that its prompt exceeds.
 * @param calls how many calls the units are of, each with the prompt; default 1. Vendors look at the prompt of each
 * @example const nanoUsd = cost(units, ratesFor(price, units))
 */
export function ratesFor(price: Price, units: Units, calls = 1): Rates {
  if (!price.tiers) return price
  const { tiers, ...rates } = price
  const size = promptClasses.reduce((sum, name) => sum + (units[name] ?? 0), 0) / calls
  const exceeded = tiers.filter(({ above }) => size > above).toSorted((a, b) => b.above - a.above)
  const { above: _, ...tier } = exceeded[0] ?? { above: 0 }
  return Object.assign(rates, tier)
}

const rateOf = (name: UnitClass | undefined, rates: Rates): number | undefined =>
  name && (rates[name] ?? rateOf(fallbacks[name], rates))

/** Converts a number to its decimal digits and the number of decimal places, so that 0.0375 is exact. */
function decimal(value: number): [digits: bigint, scale: number] {
  const [mantissa, exponent = '0'] = String(value).split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale < 0 ? [digits * 10n ** BigInt(-scale), 0] : [digits, scale]
}

/** Nano-dollars per unit at a rate of one dollar per million units. */
const NANO_PER_UNIT = 1000n

/** The cost of the charged classes in nano-dollars, exact for any number of decimals. */
function inDecimals(charged: UnitClass[], units: Units, rates: Rates): number {
  const products = charged.map((name): [digits: bigint, scale: number] => {
    const [count, countScale] = decimal(units[name]!)
    const [rate, rateScale] = decimal(rateOf(name, rates)!)
    return [count * rate * NANO_PER_UNIT, countScale + rateScale]
  })
  const scale = Math.max(...products.map(([, behind]) => behind))
  const sum = products.reduce((all, [digits, behind]) => all + digits * 10n ** BigInt(scale - behind), 0n)
  const whole = 10n ** BigInt(scale)
  return Number((2n * sum + whole) / (2n * whole))
}

/**
 * The cost of units in nano-US-dollars, computed exactly and rounded once, half up, to an integer. Tokens are charged if any class of
 * tokens has a rate, a measure (characters, seconds, images) if it has one. Null if the cost is unknown: no used class has a rate, or
 * a used class of tokens has none while others have one.
 * @example const nanoUsd = cost({ input: 1_000 }, { input: 0.15 })
 */
export function cost(units: Units, rates: Rates): number | null {
  const knowsTokens = tokens.some((name) => rates[name] !== undefined)
  const isKnown = (name: UnitClass): boolean => (measures.has(name) ? rates[name] !== undefined : knowsTokens)
  const isUsed = (name: UnitClass): boolean => (units[name] ?? 0) > 0
  // Numbers take a fraction of the time of BigInt. They are not exact for a rate with more than six decimals, a fraction of a unit, or
  // a cost of more than $9,007.
  let pico = 0
  let charged = 0
  for (const name of unitClasses) {
    if (!isUsed(name) || !isKnown(name)) continue
    charged++
    const rate = rateOf(name, rates)
    if (rate === undefined) return null
    const perUnit = Math.round(rate * 1e6)
    pico = perUnit / 1e6 === rate ? pico + units[name]! * perUnit : NaN
  }
  if (charged === 0) return unitClasses.some(isUsed) || !unitClasses.some(isKnown) ? null : 0
  if (Number.isSafeInteger(pico)) return Math.round(pico / 1000)
  return inDecimals(
    unitClasses.filter((name) => isUsed(name) && isKnown(name)),
    units,
    rates,
  )
}

/**
 * Converts nano-US-dollars to US dollars.
 * @example toUsd(1_500_000_000) // 1.5
 */
export const toUsd = (nano: number): number => nano / 1e9
