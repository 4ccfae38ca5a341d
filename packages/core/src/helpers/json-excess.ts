import { JSON_FIELDS, JSON_VALUES } from '../conventions.js'

/** How many values and fields texts of JSON may have together, and how many they have so far. */
export interface JsonCount {
  mostValues: number
  mostFields: number
  /** Arrays, objects and texts, which names are as well: they take more memory than numbers. */
  mostParts: number
  values: number
  fields: number
  parts: number
}

/** @param mostValues default those of a body, 400,000 @param mostFields default 100,000 @param mostParts default any number */
export const jsonCount = (
  mostValues = JSON_VALUES,
  mostFields = JSON_FIELDS,
  mostParts = Number.MAX_SAFE_INTEGER,
): JsonCount => ({ mostValues, mostFields, mostParts, values: 0, fields: 0, parts: 0 })

/**
 * What is too much in a text of JSON: arrays and objects nested deeper than `depth`, or values and fields, which cost far more than
 * their bytes.
 * A scan, because recursive code would overflow the stack first. Undefined where nothing is.
 * @param count of this text and others; default of this text alone
 */
export function excess(text: string, depth: number, count = jsonCount()): string | undefined {
  const { mostValues, mostFields, mostParts } = count
  let level = 0
  let values = count.values + 1
  let { fields, parts } = count
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) {
      parts++
      // Skip to the closing quote: one that is preceded by an even number of backslashes.
      for (;;) {
        i = text.indexOf('"', i + 1)
        if (i === -1) {
          i = text.length
          break
        }
        let slashes = 0
        while (text.charCodeAt(i - 1 - slashes) === 0x5c) slashes++
        if (slashes % 2 === 0) break
      }
    } else if (c === 0x7b || c === 0x5b) {
      values++
      parts++
      if (++level > depth) return `nests deeper than ${depth} levels`
    } else if (c === 0x7d || c === 0x5d) level--
    else if (c === 0x2c) values++
    else if (c === 0x3a) fields++
    if (values > mostValues) return `has more than ${mostValues} values`
    if (fields > mostFields) return `has more than ${mostFields} fields`
    if (parts > mostParts) return `has more than ${mostParts} arrays, objects and texts`
  }
  count.values = values
  count.fields = fields
  count.parts = parts
  return undefined
}
