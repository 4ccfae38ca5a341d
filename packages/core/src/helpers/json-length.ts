/** Characters of the JSON of a value; infinite where it is too deep to be written. */
export function jsonLength(value: unknown): number {
  try {
    return JSON.stringify(value).length
  } catch {
    return Infinity
  }
}
