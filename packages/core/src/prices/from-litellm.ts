import type { Fields, ImportedPrices } from './imported-prices.js'
import { fieldsOf, importPrices } from './imported-prices.js'
import type { UnitClass } from './price.js'

const tokenFields = new Map<string, UnitClass>([
  ['input_cost_per_token', 'input'],
  ['input_cost_per_audio_token', 'input_audio'],
  ['input_cost_per_image_token', 'input_image'],
  ['cache_read_input_token_cost', 'cache_read'],
  ['cache_creation_input_token_cost', 'cache_write'],
  ['cache_creation_input_token_cost_above_1hr', 'cache_write_1h'],
  ['output_cost_per_token', 'output'],
  ['output_cost_per_reasoning_token', 'reasoning'],
  ['output_cost_per_audio_token', 'output_audio'],
  ['output_cost_per_image_token', 'output_image'],
])

/** Billing units other than tokens, by the mode of the model. The fields of a mode are alternatives, so only one of them is charged. */
const measureFields = new Map<unknown, { name: UnitClass; fields: string[] }>([
  ['audio_speech', { name: 'characters', fields: ['input_cost_per_character'] }],
  ['audio_transcription', { name: 'seconds', fields: ['input_cost_per_second', 'output_cost_per_second'] }],
  ['image_generation', { name: 'images', fields: ['output_cost_per_image', 'input_cost_per_image'] }],
])

/** Litellm's provider names that differ from ours. */
const providers = new Map([['gemini', 'google']])

/** Converts dollars per unit to dollars per million. The exponent is changed in the text, because 1e-7 x 1e6 is 0.09999999999999999. */
function perMillion(value: unknown): unknown {
  if (typeof value !== 'number') return value
  const [mantissa, exponent = '0'] = String(value).split('e')
  return Number(`${mantissa}e${Number(exponent) + 6}`)
}

/** Rates by token, of the service tier whose name is at the end of the fields ('' = the standard one). */
function tokenRates(row: Fields, serviceTier: string): { rates: Fields; tiers: Fields[] } {
  const rates: Fields = {}
  const tiers = new Map<number, Fields>()
  for (const [field, value] of Object.entries(row)) {
    if (!field.endsWith(serviceTier)) continue
    const standard = field.slice(0, field.length - serviceTier.length)
    const [, base = standard, thousands] = /^(.+)_above_(\d+)k_tokens$/.exec(standard) ?? []
    const name = tokenFields.get(base)
    if (!name || value === null) continue
    if (thousands === undefined) rates[name] = perMillion(value)
    else {
      const above = Number(thousands) * 1000
      tiers.set(above, { ...tiers.get(above), above, [name]: perMillion(value) })
    }
  }
  return { rates, tiers: [...tiers.values()] }
}

const withTiers = (rates: Fields, tiers: Fields[]): Fields => (tiers.length > 0 ? { ...rates, tiers } : rates)

/** The service tiers with prices in the table. */
const serviceTiers = ['flex', 'priority']

/** Models whose images cost more or less by size and quality: the table has the price of the cheapest under their names. */
const hasSizes = /^dall-e-3/

function priceOf(row: Fields, model: string): Fields {
  const { rates, tiers } = tokenRates(row, '')
  const service_tiers: Fields = {}
  for (const name of serviceTiers) {
    const own = tokenRates(row, `_${name}`)
    if (Object.keys(own.rates).length > 0) service_tiers[name] = withTiers(own.rates, own.tiers)
  }
  const measure = hasSizes.test(model) ? undefined : measureFields.get(row['mode'])
  // If tokens have a price, a price per unit only restates it and must not be charged in addition.
  if (measure && Object.values(rates).every((rate) => rate === 0)) {
    const told = measure.fields.map((field) => row[field]).filter((value) => value !== undefined && value !== null)
    if (told.length > 0) rates[measure.name] = perMillion(told.find((value) => value !== 0) ?? 0)
  }
  const price = withTiers(rates, tiers)
  return Object.keys(service_tiers).length > 0 ? { ...price, service_tiers } : price
}

/**
 * Imports prices from litellm's model_prices_and_context_window.json. Rows without a provider and the sample row are skipped; rows without
 * a known price are rejected.
 * @example const { rows } = fromLitellm(await (await fetch(url)).json())
 */
export function fromLitellm(json: unknown): ImportedPrices {
  const found: [string, Fields][] = []
  for (const [key, value] of Object.entries(fieldsOf(json))) {
    const row = fieldsOf(value)
    const theirs = row['litellm_provider']
    if (typeof theirs !== 'string' || key === 'sample_spec') continue
    const model = key.startsWith(`${theirs}/`) ? key.slice(theirs.length + 1) : key
    found.push([`${providers.get(theirs) ?? theirs}/${model}`, priceOf(row, model)])
  }
  return importPrices(found)
}
