import { JSON_FIELDS, JSON_VALUES } from './conventions.js'

/**
 * What is too much in a text of JSON: arrays and objects nested deeper than `depth`, or values and fields, which cost far more than
 * their bytes.
 * A scan, because recursive code would overflow the stack first. Undefined where nothing is.
 */
export function excess(
  text: string,
  depth: number,
  mostValues = JSON_VALUES,
  mostFields = JSON_FIELDS,
): string | undefined {
  let level = 0
  let values = 1
  let fields = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === 0x22) {
      // Skip to the closing quote: one that is preceded by an even number of backslashes.
      for (;;) {
        i = text.indexOf('"', i + 1)
        if (i === -1) return undefined
        let slashes = 0
        while (text.charCodeAt(i - 1 - slashes) === 0x5c) slashes++
        if (slashes % 2 === 0) break
      }
    } else if (c === 0x7b || c === 0x5b) {
      values++
      if (++level > depth) return `nests deeper than ${depth} levels`
    } else if (c === 0x7d || c === 0x5d) level--
    else if (c === 0x2c) values++
    else if (c === 0x3a) fields++
    if (values > mostValues) return `has more than ${mostValues} values`
    if (fields > mostFields) return `has more than ${mostFields} fields`
  }
  return undefined
}
