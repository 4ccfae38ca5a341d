import { isObject } from '../helpers/is-object.js'
import { parsePrice } from './parse-prices.js'
import type { PriceRow } from './price.js'

/** Prices of a public table by `provider/model` in US dollars per million units, and the models whose price is invalid. */
export interface ImportedPrices {
  rows: Record<string, PriceRow>
  rejected: { model: string; reason: string }[]
}

export type Fields = Record<string, unknown>

/** The fields of an object; `{}` for other values. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {})

/** Models that choose another one, which is billed: tables have zeros for them, such as for `openrouter/auto`. */
const choosing = /\bauto(?:-beta)?$|[/_-]router$/i

/** Parses each price separately, so that an invalid row does not affect the others. */
export function importPrices(candidates: Iterable<[model: string, price: Fields]>): ImportedPrices {
  const rows: Record<string, PriceRow> = {}
  const rejected: ImportedPrices['rejected'] = []
  for (const [model, price] of candidates)
    try {
      if (choosing.test(model) && Object.values(price).every((rate) => rate === 0))
        throw new RangeError('it is billed as the model that it chooses')
      rows[model] = parsePrice(price)
    } catch (error) {
      rejected.push({ model, reason: (error as Error).message })
    }
  return { rows, rejected }
}
