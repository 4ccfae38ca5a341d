import { JSON_DEPTH } from '@turnpike/core/internal'

/** A fragment of the arguments of a tool call, as Vertex AI streams them. */
export interface PartialArgument {
  /** The path of the value, such as `$.rooms[0].name`. */
  jsonPath?: string
  /** Fragments of the same string are concatenated. */
  stringValue?: string
  numberValue?: number
  boolValue?: boolean
}

/** An object without a prototype, so that keys such as `__proto__` are plain data. */
export const emptyArguments = (): object => Object.create(null) as object

const keysOf = (path: string): string[] =>
  Array.from(
    path.matchAll(/\.([^.[\]]+)|\[(\d+)\]|\['([^']*)'\]/g),
    ([, name, index, quoted]) => name ?? index ?? quoted!,
  )

/** Most characters of a path: far more than a schema of a tool can ask for. */
const PATH_LENGTH = 2_000

/**
 * Adds a fragment to the arguments.
 * @returns how many values it has added
 * @throws TypeError for a path that is too long or too deep, and for a value of another type
 */
export function addArgument(
  root: object,
  { jsonPath = '', stringValue, numberValue, boolValue }: PartialArgument,
): number {
  const keys = jsonPath.length > PATH_LENGTH ? undefined : keysOf(jsonPath)
  if (!keys || keys.length > JSON_DEPTH) throw new TypeError('The path of an argument is too long')
  const types = `${typeof (stringValue ?? '')} ${typeof (numberValue ?? 0)} ${typeof (boolValue ?? false)}`
  if (types !== 'string number boolean') throw new TypeError('The value of an argument has another type')
  const last = keys.length - 1
  let added = 0
  let container = root as Record<string, unknown>
  for (const [position, key] of keys.entries()) {
    // An index beyond the end appends, so that a large index cannot allocate a huge array.
    const at = Array.isArray(container) ? String(Math.min(Number(key), container.length)) : key
    const present = Object.hasOwn(container, at) ? container[at] : undefined
    if (present === undefined) added++
    if (position === last) {
      const joined = typeof present === 'string' && stringValue !== undefined ? present + stringValue : stringValue
      container[at] = joined ?? numberValue ?? boolValue ?? null
    } else if (typeof present === 'object' && present !== null) container = present as Record<string, unknown>
    else
      container = container[at] = (/^\d+$/.test(keys[position + 1]!) ? [] : emptyArguments()) as Record<string, unknown>
  }
  return added
}
