import { isObject } from '../helpers/is-object.js'
import type { Price, PriceRow, Rates, UnitClass } from './price.js'
import { unitClasses } from './price.js'

/** Maximum plausible rates in US dollars per million. For tokens: 0.2 cents each. */
const TOKENS = 2_000
const most: Partial<Record<UnitClass, number>> = {
  /** 10 cents a second. */
  seconds: 100_000,
  /** 10 dollars a picture. */
  images: 10_000_000,
}

function parseRates(fields: Record<string, unknown>): Rates {
  const rates: Rates = {}
  for (const [field, value] of Object.entries(fields)) {
    const name = unitClasses.find((one) => one === field)
    if (!name) throw new RangeError(`${field} is no class of units; expected one of ${unitClasses.join(', ')}`)
    const limit = most[name] ?? TOKENS
    if (typeof value !== 'number' || !(value >= 0 && value <= limit))
      throw new RangeError(`${name} is ${String(value)}; expected US dollars per million, 0 to ${limit}`)
    rates[name] = value
  }
  if (Object.keys(rates).length === 0) throw new RangeError('there are no rates')
  const { input = Infinity, cache_read = 0 } = rates
  if (cache_read > input) throw new RangeError(`cache_read is ${cache_read}; expected at most input, which is ${input}`)
  return rates
}

function parseTier(json: unknown): Rates & { above: number } {
  if (!isObject(json)) throw new RangeError('expected objects')
  const { above, ...rates } = json
  if (!Number.isSafeInteger(above) || (above as number) <= 0)
    throw new RangeError(`above is ${String(above)}; expected a number of tokens`)
  return { above: above as number, ...parseRates(rates) }
}

/** The rates of a model, or of one of its service tiers. */
function parseOwn(json: unknown): Price {
  if (!isObject(json)) throw new RangeError('expected an object')
  const { tiers, ...rates } = json
  const price: Price = parseRates(rates)
  if (tiers === undefined) return price
  if (!Array.isArray(tiers)) throw new RangeError('tiers: expected an array')
  try {
    return { ...price, tiers: tiers.map(parseTier) }
  } catch (error) {
    throw new RangeError(`tiers: ${(error as Error).message}`)
  }
}

/**
 * Parses the price of a model.
 * @throws RangeError that names the invalid field
 * @example const row = parsePrice({ input: 0.15, output: 0.6 })
 */
export function parsePrice(json: unknown): PriceRow {
  if (!isObject(json)) throw new RangeError('expected an object')
  const { service_tiers, ...price } = json
  const row: PriceRow = parseOwn(price)
  if (service_tiers === undefined) return row
  if (!isObject(service_tiers)) throw new RangeError('service_tiers: expected an object')
  try {
    const tiers = Object.entries(service_tiers).map(([name, own]) => [name, parseOwn(own)])
    return { ...row, service_tiers: Object.fromEntries(tiers) as Record<string, Price> }
  } catch (error) {
    throw new RangeError(`service_tiers: ${(error as Error).message}`)
  }
}

/**
 * Parses a host's prices by `provider/model`, in US dollars per million units.
 * @throws RangeError that names the invalid row and field
 * @example const rows = parsePrices({ 'openai/gpt-4o-mini': { input: 0.15, output: 0.6 } })
 */
export function parsePrices(json: unknown): Record<string, PriceRow> {
  if (!isObject(json)) throw new RangeError('Prices: expected an object of rows by provider/model')
  const rows: Record<string, PriceRow> = {}
  for (const [key, row] of Object.entries(json))
    try {
      if (!/^[^/]+\/./.test(key)) throw new RangeError('expected a name such as provider/model')
      rows[key] = parsePrice(row)
    } catch (error) {
      throw new RangeError(`Price of ${key}: ${(error as Error).message}`)
    }
  return rows
}
