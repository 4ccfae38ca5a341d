import type { Price, Rates, UnitClass, Units } from './price.js'
import { completionClasses, measureClasses, promptClasses, unitClasses } from './price.js'

/** What a class costs that has no rate of its own. */
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

/** The rates that a request is charged with: the price's own, and over them those of the highest tier that its prompt exceeds. */
export function ratesFor(price: Price, units: Units): Rates {
  if (!price.tiers) return { ...price }
  const { tiers, ...rates } = price
  const size = promptClasses.reduce((sum, name) => sum + (units[name] ?? 0), 0)
  const exceeded = tiers.filter(({ above }) => size > above).toSorted((a, b) => b.above - a.above)
  const { above: _, ...tier } = exceeded[0] ?? { above: 0 }
  return Object.assign(rates, tier)
}

const rateOf = (name: UnitClass | undefined, rates: Rates): number | undefined =>
  name && (rates[name] ?? rateOf(fallbacks[name], rates))

/** A number as its decimal digits and how many of them are behind the point, so that 0.0375 is just that. */
function decimal(value: number): [digits: bigint, scale: number] {
  const [mantissa, exponent = '0'] = String(value).split('e') as [string, string?]
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?]
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale < 0 ? [digits * 10n ** BigInt(-scale), 0] : [digits, scale]
}

/** How much of what costs how much. */
type Amount = [count: number, rate: number]

/**
 * Nano-dollars in plain numbers, which takes a fraction of the time. Undefined where that is not exact: of a rate with more than six
 * decimals, a fraction of a unit, or more than $9,007.
 */
function inNumbers(amounts: Amount[]): number | undefined {
  let pico = 0
  for (const [count, rate] of amounts) {
    const perUnit = Math.round(rate * 1e6)
    if (perUnit / 1e6 !== rate) return undefined
    pico += count * perUnit
  }
  return Number.isSafeInteger(pico) ? Math.round(pico / 1000) : undefined
}

/** Dollars for a million units are thousands of nano-dollars for one. */
const NANO_PER_UNIT = 1000n

/** The same of any decimals. */
function inDecimals(amounts: Amount[]): number {
  const products = amounts.map(([count, rate]): [digits: bigint, scale: number] => {
    const [units, unitScale] = decimal(count)
    const [price, priceScale] = decimal(rate)
    return [units * price * NANO_PER_UNIT, unitScale + priceScale]
  })
  const scale = Math.max(...products.map(([, behind]) => behind))
  const sum = products.reduce((all, [digits, behind]) => all + digits * 10n ** BigInt(scale - behind), 0n)
  const whole = 10n ** BigInt(scale)
  return Number((2n * sum + whole) / (2n * whole))
}

/**
 * What units cost, in integer nano-US-dollars: exact, and rounded once, half up. Tokens and measures (characters, seconds, images) are
 * charged where the rates know them, both where they know both. Null where the cost is not known: nothing that was used has a rate, or
 * a class of tokens has none while others have one.
 */
export function cost(units: Units, rates: Rates): number | null {
  const used = (name: UnitClass): boolean => (units[name] ?? 0) > 0
  const rated = (name: UnitClass): boolean => rates[name] !== undefined
  const known = [...(tokens.some(rated) ? tokens : []), ...measureClasses.filter(rated)]
  const charged = known.filter(used)
  if (charged.length === 0) return known.length === 0 || unitClasses.some(used) ? null : 0

  const amounts: Amount[] = []
  for (const name of charged) {
    const rate = rateOf(name, rates)
    if (rate === undefined) return null
    amounts.push([units[name]!, rate])
  }
  return inNumbers(amounts) ?? inDecimals(amounts)
}

/** Nano-US-dollars as a number of US dollars. */
export const toUsd = (nano: number): number => nano / 1e9
