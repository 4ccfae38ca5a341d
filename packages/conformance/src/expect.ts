import { isDeepStrictEqual } from 'node:util'

const MAX_SHOWN = 300

/** A value as a failure shows it. */
export const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text
}

/** Throws unless the values are deeply equal. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) throw new Error(`${what}: expected ${show(expected)}, got ${show(actual)}`)
}

/** Throws unless `holds`; `expected` describes what should have come in place of `actual`. */
export function expectThat(what: string, holds: boolean, expected: string, actual: unknown): void {
  if (!holds) throw new Error(`${what}: expected ${expected}, got ${show(actual)}`)
}
