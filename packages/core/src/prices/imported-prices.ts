import { parsePrice } from './parse-prices.js'
import type { Price } from './price.js'

/** Prices of a public table by `provider/model` in US dollars per million units, and the models of which none could be taken. */
export interface ImportedPrices {
  rows: Record<string, Price>
  rejected: { model: string; reason: string }[]
}

export type Fields = Record<string, unknown>

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}

/** Takes one by one what can be right, so that a row that is wrong costs nobody the others. */
export function importPrices(candidates: Iterable<[model: string, price: Fields]>): ImportedPrices {
  const rows: Record<string, Price> = {}
  const rejected: ImportedPrices['rejected'] = []
  for (const [model, price] of candidates)
    try {
      rows[model] = parsePrice(price)
    } catch (error) {
      rejected.push({ model, reason: (error as Error).message })
    }
  return { rows, rejected }
}
