import type { GenericSchema } from 'valibot'
import { getDotPath, safeParse, strictObject } from 'valibot'
import { isObject } from './is-object.js'

/** By the name of each option, whether it must be set. A record, so that the compiler tells which name is missing. */
export type OptionNames<Options> = { [Name in keyof Options]-?: object extends Pick<Options, Name> ? false : true }

/**
 * Refuses wrong options where they are given, and not in the first request: those that do not exist, which plain JavaScript passes on, and
 * required ones that are not set, as a variable of the environment may be, and promises that were not awaited.
 * @param of what is made with them, for the error
 * @throws TypeError that names the option
 */
export function checkOptions<Options>(of: string, options: Options, names: OptionNames<Options>): void {
  if (!isObject(options)) throw new TypeError(`${of}: expected an object of options`)
  const required: Record<string, boolean> = names
  for (const name of Object.keys(options))
    if (!Object.hasOwn(required, name))
      throw new TypeError(`${of}: there is no option "${name}"; there are ${Object.keys(required).join(', ')}`)
  for (const name in required) {
    if (required[name] && options[name] === undefined) throw unset(of, name)
    if (options[name] instanceof Promise) throw new TypeError(`${of}: the option "${name}" is a promise; await it`)
  }
}

/** The error for an option that must be set. */
export const unset = (of: string, name: string): TypeError => new TypeError(`${of}: the option "${name}" is not set`)

/** By the name of each field that a function takes, what it may be. A record, so that the compiler tells which name is missing. */
export type FieldSchemas<Fields> = { [Name in keyof Fields]-?: GenericSchema }

/**
 * Refuses fields that do not exist or have a wrong value, where code gives what is then stored.
 * @param of the function, for the error
 * @throws TypeError that names the field
 */
export function checkFields<Fields extends object>(of: string, given: Fields, fields: FieldSchemas<Fields>): void {
  if (!isObject(given)) throw new TypeError(`${of}: expected an object with ${Object.keys(fields).join(', ')}`)
  for (const name of Object.keys(given))
    if (!Object.hasOwn(fields, name))
      throw new TypeError(`${of}: there is no field "${name}"; there are ${Object.keys(fields).join(', ')}`)
  const { issues } = safeParse(strictObject(fields), given)
  if (issues) throw new TypeError(`${of}: ${getDotPath(issues[0])}: ${issues[0].message}`)
}
