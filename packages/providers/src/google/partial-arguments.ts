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

/** Adds a fragment to the arguments. */
export function addArgument(
  root: object,
  { jsonPath = '', stringValue, numberValue, boolValue }: PartialArgument,
): void {
  const keys = keysOf(jsonPath)
  const last = keys.length - 1
  let container = root as Record<string, unknown>
  for (const [position, key] of keys.entries()) {
    // An index beyond the end appends, so that a large index cannot allocate a huge array.
    const at = Array.isArray(container) ? String(Math.min(Number(key), container.length)) : key
    const present = Object.hasOwn(container, at) ? container[at] : undefined
    if (position === last) {
      const joined = typeof present === 'string' && stringValue !== undefined ? present + stringValue : stringValue
      container[at] = joined ?? numberValue ?? boolValue ?? null
    } else if (typeof present === 'object' && present !== null) container = present as Record<string, unknown>
    else
      container = container[at] = (/^\d+$/.test(keys[position + 1]!) ? [] : emptyArguments()) as Record<string, unknown>
  }
}
