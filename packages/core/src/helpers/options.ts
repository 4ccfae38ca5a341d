import { isObject } from './is-object.js'

/** By the name of each option, whether it must be set. A record, so that the compiler tells which name is missing. */
export type OptionNames<Options> = { [Name in keyof Options]-?: object extends Pick<Options, Name> ? false : true }

/**
 * Refuses wrong options where they are given, and not in the first request: those that do not exist, which plain JavaScript passes on, and
 * required ones that are not set, as a variable of the environment may be.
 * @param of what is made with them, for the error
 * @throws TypeError that names the option
 */
export function checkOptions<Options>(of: string, options: Options, names: OptionNames<Options>): void {
  if (!isObject(options)) throw new TypeError(`${of}: expected an object of options`)
  const required: Record<string, boolean> = names
  for (const name of Object.keys(options))
    if (!Object.hasOwn(required, name))
      throw new TypeError(`${of}: there is no option "${name}"; there are ${Object.keys(required).join(', ')}`)
  for (const name in required) if (required[name] && options[name] === undefined) throw unset(of, name)
}

/** The error for an option that must be set. */
export const unset = (of: string, name: string): TypeError => new TypeError(`${of}: the option "${name}" is not set`)
