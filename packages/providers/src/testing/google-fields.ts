import { isObject } from '@turnpike/core/helpers'
import type { Problem } from './rules.js'

/** Checks that a value is absent or an object with only known fields. */
export function known(value: unknown, fields: string[], at = ''): Problem {
  const place = at && ` at '${at}'`
  if (value === undefined) return undefined
  if (!isObject(value)) return `Invalid value${place}: expected an object.`
  const other = Object.keys(value).find((name) => !fields.includes(name))
  return other && `Invalid JSON payload received. Unknown name "${other}"${place}: Cannot find field.`
}
